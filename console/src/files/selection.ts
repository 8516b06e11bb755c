// The selected entries of a list, and the active entry, which has the keyboard focus.

import { signal } from '@preact/signals';
import type { Entry } from './folder.ts';

export type Selection = ReturnType<typeof createSelection>;

export function createSelection() {
  const paths = signal<ReadonlySet<string>>(new Set());
  /** Index of the active entry in the shown list. */
  const active = signal(0);

  function toggle(path: string): void {
    const next = new Set(paths.value);
    if (!next.delete(path)) next.add(path);
    paths.value = next;
  }

  return {
    paths,
    active,
    toggle,
    clear(): void {
      paths.value = new Set();
    },
    setAll(entries: readonly Entry[]): void {
      paths.value = new Set(entries.map(({ path }) => path));
    },
    /** Selects from the active entry to this one, both included. */
    extendTo(entries: readonly Entry[], index: number): void {
      const [start, end] = [Math.min(active.value, index), Math.max(active.value, index)];
      const range = entries.slice(start, end + 1).map(({ path }) => path);
      paths.value = new Set([...paths.value, ...range]);
      active.value = index;
    },
  };
}

export function selectedOf(entries: readonly Entry[], paths: ReadonlySet<string>): Entry[] {
  return entries.filter(({ path }) => paths.has(path));
}
