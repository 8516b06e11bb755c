// The page's notices: the same text is shown once, but every action that it offers stays.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { notices, tell } from '../../console/src/notices.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  notices.value = [];
  vi.useRealTimers();
});

test('tell() replaces a notice with the same text', () => {
  for (const text of ['The service is busy.', 'Copied.', 'The service is busy.']) tell(text);
  expect(notices.value.map(({ text }) => text)).toEqual(['Copied.', 'The service is busy.']);
});

test('tell() keeps a notice with an action beside one with the same text', () => {
  const undone: string[] = [];
  for (const file of ['a', 'b']) {
    tell('1 file deleted.', { action: { label: 'Undo', run: () => void undone.push(file) } });
  }
  for (const { action } of notices.value) action?.run();
  expect(undone).toEqual(['a', 'b']);
});

test('tell() shows a notice for 12 seconds, or for as long as it is true', () => {
  tell('Copied.');
  tell('The service is busy: trying again in 2 minutes.', { shownMs: 120_000 });
  vi.advanceTimersByTime(12_000);
  expect(notices.value).toHaveLength(1);
  vi.advanceTimersByTime(107_999);
  expect(notices.value).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(notices.value).toEqual([]);
});
