// Publishes the certified leaves of a file again, in the version that its bucket needs, and seals
// its record again with this version. Nothing that users see changes, including the entity tag and
// the times.

import type { Bucket } from '../buckets/buckets.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { withFileKey } from '../keys/file-keys.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import {
  decodeFile,
  decodeHead,
  encodeFile,
  fileMapKey,
  isSealed,
  sealFile,
} from './file-layout.ts';
import { saveOwnHeaders, wantedLeaves } from './site-header-records.ts';
import { mayBeOfSite, publishOfSite } from './site-publication.ts';

interface StoredRecord {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly nowNs: bigint;
}

export interface Renewed {
  readonly file: FileRecord;
  /** SHA-256 of each chunk, 32 bytes each. */
  readonly digests: Uint8Array;
}

/**
 * `bytes`: the record at the path. Its seal gets `nowNs`, not the file's time: a canister that
 * continues from a snapshot can use the same number for another seal of this version. Refuses a
 * damaged file with IntegrityError before it writes.
 */
export function renewLeaves(
  stores: Stores,
  bucket: Bucket,
  { path, bytes, nowNs }: StoredRecord,
): Renewed {
  const mapKey = fileMapKey(bucket.id, path);
  return withFileKey(stores, { bucket, ...decodeHead(bytes) }, (key) => {
    if (!isSealed(bytes, mapKey, key)) throw damagedFile();
    const old = decodeFile(bucket.id, path, bytes);
    const file: FileRecord = { ...old, ...wantedLeaves(stores, bucket, path) };
    const digests = chunkDigests(stores, file);
    const record = encodeFile(file, { number: nextContentId(stores), timeNs: nowNs });
    sealFile(record, mapKey, key);
    stores.records.set(mapKey, record, file.size);
    const isOfSite = mayBeOfSite(bucket, old);
    if (isOfSite) saveOwnHeaders(stores, file, file.siteHeaders);
    stores.publication.put(file, digests);
    if (isOfSite) publishOfSite(stores, { bucket, path, digests, key });
    return { file, digests };
  });
}
