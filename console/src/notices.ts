// Short messages of the page: shown for a while, and read aloud.

import { signal } from '@preact/signals';

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
  readonly action?: { readonly label: string; run(): void } | undefined;
}

export const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Long enough to be read and acted on. */
const shownMs = 12_000;

/** Shows the text; replaces a notice with the same text, unless that one offers an action. */
export function tell(text: string, rest: Partial<Omit<Notice, 'id' | 'text'>> = {}): void {
  const notice = { id: ++lastId, text, isFailure: false, ...rest };
  const others = notices.value.filter((one) => one.text !== text || one.action);
  notices.value = [...others.slice(-2), notice];
  // A failure stays until the user dismisses it.
  if (!notice.isFailure) setTimeout(() => dismiss(notice.id), shownMs);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
