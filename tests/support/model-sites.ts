// Turns buckets of the whole model into sites and back: the reference model does not change, and in
// the end each file must have leaves of the kind that its bucket needs.

import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { renewSites } from '../../src/domain/files/site-renewal.ts';
import { callOf } from './domain-fixture.ts';
import { expectSame } from './expect-same.ts';
import { allFiles } from './invariants.ts';
import type { MemoryStores } from './memory-stores.ts';
import { type Answer, type Run, someBucket } from './model-run.ts';

/**
 * Makes a bucket a site, or a plain bucket again. It is public only for a moment, because the
 * model's buckets are private.
 */
export function turnSite(run: Run): Answer {
  const stores = run.model.current();
  const { id } = someBucket(run);
  const isSite = findBucket(stores, id)?.isSite !== true;
  const change = { bucket: id, quotaBytes: undefined, addMembers: [], removeMembers: [] };
  const alice = callOf('alice', run.reference.nowNs);
  updateBucket(stores, alice, { ...change, isPublic: true, isSite });
  updateBucket(stores, alice, { ...change, isPublic: false });
  return undefined;
}

export function renew(run: Run): Answer {
  return renewSites(run.model.current(), run.reference.nowNs) ? 'more' : undefined;
}

export function checkSites(stores: MemoryStores): void {
  for (const { bucketId, path, leavesVersion } of allFiles(stores)) {
    const bucket = findBucket(stores, bucketId);
    if (bucket?.isRenewing === false) expectSame(leavesVersion, bucket.isSite ? 4 : 2, path);
  }
}
