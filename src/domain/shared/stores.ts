// All stores of the domain, as interfaces; the canister implements them in stable memory.

import { encodeUtf8 } from '../../lib/text.ts';
import type { Blobs } from '../../storage/blobs.ts';
import type { ByteMap } from '../../storage/byte-map.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import type { ErasableSlots } from '../../storage/erasable-slots.ts';
import type { Records } from '../../storage/former-records.ts';
import type { OrderedIndex } from '../../storage/ordered-index.ts';
import type { HeapState } from './heap-state.ts';
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
   * Records of files with the files' sizes as their weights, of former versions, links and chunks.
   * The first byte of a key is that of a bucket's id, 0, 1 or 2.
   */
  readonly records: Records;
  readonly members: ByteMap;
  /** Buckets and keys by principal and bucket, see bucket-directory.ts. */
  readonly directory: OrderedIndex;
  /** Wrapped keys, see wrapped-keys.ts. */
  readonly keySlots: ErasableSlots;
  readonly secrets: Secrets;
  readonly heap: HeapState;
  /** Whether the principal is a controller of the canister now. */
  isController(principal: Uint8Array): boolean;
  /** Updates the certified answers when public data changes. */
  readonly publication: Publication;
}

const nextContentKey = 'nextContentId';

/** Returns a number that is never reused; a content is one stored version of a file's bytes. */
export function nextContentId(stores: Stores): number {
  const key = encodeUtf8(nextContentKey);
  const stored = stores.meta.get(key);
  const id = stored === undefined ? 1 : new RecordReader(stored, 1).integer();
  stores.meta.set(key, new RecordWriter(1).u64(id + 1).finish([]));
  return id;
}
