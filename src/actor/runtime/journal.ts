// The journal of this canister: adds to each change who made it and when, and certifies the end of
// the chain beside the answers over HTTP.

import { sha256 } from '../../crypto/hash.ts';
import { type Actor, appendEntry } from '../../domain/journal/bucket-journal.ts';
import { entryKinds, type Journal } from '../../domain/shared/journal.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { openJournalLog } from '../../storage/journal-log.ts';
import { spaceIds } from '../../storage/memory.ts';
import { msgCaller, time } from './system.ts';

/** The names of a block in the order of their hashes: kernel/journal.ts. */
const blockNames = ['btype', 'ts', 'phash', 'entry'];

function onDemandHashes(types: readonly string[]): () => Uint8Array {
  let hashes: Uint8Array | undefined;
  return () => {
    hashes ??= concatBytes(...[...blockNames, ...types].map((text) => sha256(encodeUtf8(text))));
    return hashes;
  };
}

export const blockTypes = entryKinds.map((kind) => `efs.${kind}`);
export const journalLog = openJournalLog(spaceIds.journal, onDemandHashes(blockTypes));

const canister: Actor = { kind: 'canister', id: emptyBytes };
/** Whether a timer runs, whose caller is the canister. */
let isTimer = false;
let isChanged = false;

/** Runs a timer's work, whose changes have no caller. */
export function asTimer(run: () => void): void {
  isTimer = true;
  try {
    run();
  } finally {
    isTimer = false;
  }
}

/**
 * `stores`: returns the stores, which contain the journal itself; `onEvent`: called after an entry
 * that a subscription waits for.
 */
export function createJournal(stores: () => Stores, onEvent: () => void): Journal {
  return {
    note(bucketId, change) {
      const { usedKeyId, wokenBuckets } = stores().heap;
      const wokenCount = wokenBuckets.size;
      const actor: Actor = isTimer
        ? canister
        : usedKeyId === undefined
          ? { kind: 'principal', id: msgCaller() }
          : { kind: 'key', id: encodeUtf8(usedKeyId) };
      appendEntry(stores(), bucketId, change, { actor, nowNs: time() });
      isChanged = true;
      if (wokenBuckets.size > wokenCount) onEvent();
    },
  };
}

/** Whether entries were appended since the last call. */
export function takeJournalChange(): boolean {
  const was = isChanged;
  isChanged = false;
  return was;
}
