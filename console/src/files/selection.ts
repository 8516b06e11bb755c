// The selected entries of a list, and the active entry, which has the keyboard focus.

import { signal } from '@preact/signals';
import type { Entry } from './folder.ts';

export type Selection = ReturnType<typeof createSelection>;

export function createSelection() {
  const paths = signal<ReadonlySet<string>>(new Set());
  /** Index of the active entry in the shown list. */
  const active = signal(0);
  /** Path of the entry whose name the user edits. */
  const renamed = signal<string | undefined>(undefined);
  /** The entry from which the mouse selects a range. */
  let anchor: string | undefined;

  function toggle(path: string): void {
    anchor = path;
    const next = new Set(paths.value);
    if (!next.delete(path)) next.add(path);
    paths.value = next;
  }

  function add(entries: readonly Entry[], from: number, to: number): void {
    const range = entries.slice(Math.min(from, to), Math.max(from, to) + 1);
    paths.value = new Set([...paths.value, ...range.map(({ path }) => path)]);
    active.value = to;
  }

  return {
    paths,
    active,
    renamed,
    toggle,
    clear(): void {
      paths.value = new Set();
    },
    setAll(entries: readonly Entry[]): void {
      paths.value = new Set(entries.map(({ path }) => path));
    },
    only(path: string): void {
      anchor = path;
      paths.value = new Set([path]);
    },
    /** Opens the field for the entry's name, and makes it the active entry. */
    startRename(entries: readonly Entry[], path: string): void {
      active.value = entries.findIndex((entry) => entry.path === path);
      renamed.value = path;
    },
    /** Selects from the active entry to this one, both included. */
    extendTo(entries: readonly Entry[], index: number): void {
      add(entries, active.value, index);
    },
    /** Selects from the entry that was toggled last to this one, both included. */
    extendFromAnchor(entries: readonly Entry[], index: number): void {
      const start = entries.findIndex(({ path }) => path === anchor);
      add(entries, start === -1 ? index : start, index);
    },
  };
}

export function selectedOf(entries: readonly Entry[], paths: ReadonlySet<string>): Entry[] {
  return entries.filter(({ path }) => paths.has(path));
}
