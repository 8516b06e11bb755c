// Brings the stores of earlier versions up: the directory and the totals are made from the records,
// once, where they are not there yet.

import { decodeUtf8 } from '../lib/text.ts';
import { noteBucket, noteKey } from './bucket-directory.ts';
import { changeTotals } from './bucket-totals.ts';
import { getBucket } from './buckets.ts';
import { findKeyByHash } from './keys.ts';
import type { Stores } from './stores.ts';

const keysPerStep = 500;

/** For installation and upgrade; does nothing on stores that have a directory, or no bucket. */
export function migrateBuckets(stores: Stores): void {
  if (stores.directory.count() > 0) {
    return;
  }
  eachKey(stores.buckets, (key) => {
    const bucket = getBucket(stores, decodeUtf8(key) ?? '');
    noteBucket(stores.directory, bucket.id);
    noteBucket(stores.directory, bucket.id, bucket.owner);
    // None before the directory was: then no change of the bucket has been counted either.
    changeTotals(stores, { buckets: 1, files: bucket.fileCount, bytes: bucket.byteCount });
  });
  eachKey(stores.keys, (hash) => {
    const key = findKeyByHash(stores, hash);
    if (key !== undefined && key.revokedAtNs === 0n) {
      noteKey(stores.directory, key);
    }
  });
}

function eachKey(map: Stores['keys'], visit: (key: Uint8Array) => void): void {
  for (let start = 0; ; start += keysPerStep) {
    const keys = map.keys(start, keysPerStep);
    keys.forEach(visit);
    if (keys.length < keysPerStep) {
      return;
    }
  }
}
