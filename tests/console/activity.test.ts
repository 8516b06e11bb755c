// The selection of journal entries that the page's Activity shows.

import { expect, test } from 'vitest';
import { wantedEntries } from '../../console/src/activity.ts';
import type { JournalEntry } from '../../packages/client/src/types/journal.ts';

function entry(seq: number, kind: string, path?: string, formerPath?: string): JournalEntry {
  const by = { kind: 'principal', id: 'aaaaa-aa' } as const;
  const proof = { details: '', detailsSalt: '', subjectSalt: '' };
  return { seq, at: '2026-05-03T12:00:00.000Z', kind, by, subject: '', path, formerPath, proof };
}

/** Newest first: two files change their names, and each name belongs to several files. */
const entries = [
  entry(9, 'file.stored', 'a'),
  entry(8, 'key.created'),
  entry(7, 'file.moved', 'c', 'b'),
  entry(6, 'hold.changed', 'b'),
  entry(5, 'file.moved', 'b', 'a'),
  entry(4, 'link.created', 'a'),
  entry(3, 'file.deleted', 'b'),
  entry(2, 'file.stored', 'a'),
  entry(1, 'bucket.created'),
];
const numbers = (found: readonly JournalEntry[]) => found.map(({ seq }) => seq);

test('wantedEntries returns all entries without a choice, also of unknown kinds', () => {
  const later = [entry(10, 'later.kind'), ...entries];
  expect(wantedEntries(later, {})).toEqual(later);
});

test.each([
  ['files', [9, 7, 6, 5, 3, 2]],
  ['links', [4]],
  ['keys', [8]],
  ['members', []],
  ['settings', [1]],
] as const)('wantedEntries returns the entries of the group %s', (group, expected) => {
  expect(numbers(wantedEntries(entries, { group }))).toEqual(expected);
});

test('wantedEntries finds a part of the path and of the former path in any case', () => {
  expect(numbers(wantedEntries(entries, { text: 'B' }))).toEqual([7, 6, 5, 3]);
});

test.each([
  ['c', [7, 6, 5, 4, 2]],
  ['b', [7, 6, 5, 4, 2]],
  ['a', [9, 5, 4, 2]],
  ['d', []],
])('wantedEntries follows the file that is or was at %s to its former paths', (path, expected) => {
  expect(numbers(wantedEntries(entries, { path }))).toEqual(expected);
});
