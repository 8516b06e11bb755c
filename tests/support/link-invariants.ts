// Invariants of links in the stores: records, directory entries, counts of buckets.

import { expect } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import type { FileRecord } from '../../src/domain/files/file-records.ts';
import { findLink } from '../../src/domain/files/link-layout.ts';
import { linkBytesOf, linkIds } from '../../src/domain/files/link-records.ts';
import { expectSame } from './expect-same.ts';
import type { MemoryStores } from './memory-stores.ts';

/** Returns the bytes that a bucket's links count toward its quota. */
export function linkBytesIn(stores: MemoryStores, bucketId: string): number {
  const ids = linkIds(stores, { bucketId, prefix: '' }, 20_000);
  const links = ids.flatMap(({ id }) => findLink(stores, id) ?? []);
  return links.reduce((sum, link) => sum + linkBytesOf(link), 0);
}

/**
 * Each link must belong to an existing file and be listed by its path, and its bucket must count
 * it.
 */
export function checkLinks(stores: MemoryStores, files: readonly FileRecord[]): void {
  const stored = stores.files.entries().filter(([key]) => key[0] === 1);
  const links = stored.map(([key]) => {
    const id = Buffer.from(key).toString('utf8').slice(1);
    return findLink(stores, id) ?? expect.fail(`no link ${id}`);
  });
  const places = new Set(files.map(({ bucketId, path }) => `${bucketId} ${path}`));
  for (const { bucketId, path, id } of links) {
    expectSame(places.has(`${bucketId} ${path}`), true, `the file of link ${id}`);
  }
  for (const [key] of stores.buckets.entries()) {
    const { id: bucketId, linkCount } =
      findBucket(stores, Buffer.from(key).toString('utf8')) ?? expect.fail();
    const own = links.filter((link) => link.bucketId === bucketId);
    expect(linkCount).toBe(own.length);
    const noted = linkIds(stores, { bucketId, prefix: '' }, 20_000);
    const names = noted.map(({ path, id }) => `${path} ${id}`);
    expect(names.sort()).toEqual(own.map(({ path, id }) => `${path} ${id}`).sort());
  }
  const { directory } = stores;
  const ofMakers = directory.rank(Uint8Array.of(12)) - directory.rank(Uint8Array.of(11));
  expect(ofMakers, 'links by makers').toBe(links.length);
  const expiring = links.filter(({ expiresAtNs }) => expiresAtNs > 0n);
  const count = directory.rank(Uint8Array.of(13)) - directory.rank(Uint8Array.of(12));
  expect(count, 'links that expire some day').toBe(expiring.length);
}
