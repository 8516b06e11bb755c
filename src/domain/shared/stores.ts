// All stores of the domain, as interfaces; the canister implements them in stable memory.

import { asciiBytes } from '../../lib/text.ts';
import type { Blobs } from '../../storage/blobs.ts';
import type { ByteMap } from '../../storage/byte-map.ts';
import { requireVersion } from '../../storage/codec.ts';
import type { ErasableSlots } from '../../storage/erasable-slots.ts';
import type { Records } from '../../storage/former-records.ts';
import type { JournalLog } from '../../storage/journal-log.ts';
import type { OrderedIndex } from '../../storage/ordered-index.ts';
import type { HeapState } from './heap-state.ts';
import type { Journal } from './journal.ts';
import type { Publication } from './publication.ts';
import type { Secrets } from './secrets.ts';

export interface Stores {
  readonly meta: ByteMap;
  readonly buckets: ByteMap;
  readonly apiKeys: ByteMap;
  readonly uploads: ByteMap;
  readonly uploadExpirations: ByteMap;
  readonly reclaims: ByteMap;
  readonly blobs: Blobs;
  /** Files by name and by date, see file-index.ts. */
  readonly index: OrderedIndex;
  /**
   * Records of files with the files' sizes as their weights, of former versions, links, chunks,
   * journals, subscriptions, and rules and headers of sites. The first byte of a key is that of a
   * bucket's id, or 0 to 6.
   */
  readonly records: Records;
  readonly members: ByteMap;
  /** Buckets and keys by principal and bucket, see bucket-directory.ts. */
  readonly directory: OrderedIndex;
  /** Wrapped keys, see wrapped-keys.ts. */
  readonly keySlots: ErasableSlots;
  readonly secrets: Secrets;
  /** Sealed entries and the chain of their blocks, see journal/bucket-journal.ts. */
  readonly journalLog: JournalLog;
  readonly heap: HeapState;
  /** Whether the principal is a controller of the canister now. */
  isController(principal: Uint8Array): boolean;
  /** Takes entries for the changes that the domain makes. */
  readonly journal: Journal;
  /** Updates the certified answers when public data changes. */
  readonly publication: Publication;
}

// 0: version 1 | next id u64; in the meta map
const version = 1;
const idStart = 1;
const nextContentKey = asciiBytes('nextContentId');
const twoTo32 = 0x1_0000_0000;

/** Returns a number that is never reused; a content is one stored version of a file's bytes. */
export function nextContentId(stores: Stores): number {
  const { id, take } = seekContentId(stores);
  take();
  return id;
}

/** Returns the next such number without a write; `take` makes it the caller's. */
export function seekContentId(stores: Stores): { readonly id: number; readonly take: () => void } {
  const stored = stores.meta.get(nextContentKey);
  const record = stored ?? Uint8Array.of(version, 1, 0, 0, 0, 0, 0, 0, 0);
  requireVersion(record, version);
  const view = new DataView(record.buffer, record.byteOffset + idStart);
  const id = view.getUint32(0, true) + view.getUint32(4, true) * twoTo32;
  const take = () => {
    view.setUint32(0, id + 1, true);
    view.setUint32(4, (id + 1) / twoTo32, true);
    stores.meta.set(nextContentKey, record);
  };
  return { id, take };
}
