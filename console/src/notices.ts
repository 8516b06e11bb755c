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
const shownMsMin = 12_000;

interface NoticeOptions extends Partial<Omit<Notice, 'id' | 'text'>> {
  /** Time for which the text is true; shown for at least 12 seconds. */
  readonly shownMs?: number | undefined;
}

/**
 * Shows the text; replaces a notice with the same text, unless that one offers an action. Returns
 * the notice's id.
 */
export function tell(text: string, { shownMs = 0, ...rest }: NoticeOptions = {}): number {
  const notice = { id: ++lastId, text, isFailure: false, ...rest };
  const others = notices.value.filter((one) => one.text !== text || one.action);
  notices.value = [...others.slice(-2), notice];
  // A failure stays until the user dismisses it.
  if (!notice.isFailure) setTimeout(() => dismiss(notice.id), Math.max(shownMs, shownMsMin));
  return notice.id;
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
