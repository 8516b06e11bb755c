// Redaction of entries: an owner replaces their subjects by hashes, for paths that say too much.
// The blocks commit to these hashes, so the chain stays valid.

import { ownedBucket } from '../rights/ownership.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { findJournal } from './bucket-journal.ts';

const redactedMax = 100;

export interface Redaction {
  readonly bucket: string;
  /** Numbers of entries of the bucket. */
  readonly entries: readonly number[];
}

/** Redacts entries, for owners; returns how many were not redacted before. */
export function redactEntries(stores: Stores, call: Call, request: Redaction): number {
  const { id } = ownedBucket(stores, call, request.bucket);
  const numbers = [...new Set(request.entries)];
  if (numbers.length === 0 || numbers.length > redactedMax) {
    throw new Refusal(
      'InvalidArgument',
      `Send the numbers of 1 to ${redactedMax} entries; got ${numbers.length}.`,
    );
  }
  const journal = findJournal(stores, id);
  const redacted = numbers.filter(
    (number) => journal !== undefined && stores.journalLog.redact(number, journal),
  );
  if (redacted.length > 0) {
    stores.journal.note(id, { kind: 'journal.redacted', subject: redacted.join('\0') });
  }
  return redacted.length;
}
