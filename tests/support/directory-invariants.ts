// Compares the directory's entries with their expected contents: numbers of records that share a
// content, tables of digests, expiry of former versions, reservations of open uploads. Reads the
// keys' bytes by the diagrams in src.

import { expect } from 'vitest';
import { readTotals } from '../../src/domain/buckets/bucket-totals.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { findChunk } from '../../src/domain/contents/chunk-records.ts';
import type { FileRecord } from '../../src/domain/files/file-records.ts';
import { neverNs } from '../../src/domain/files/version-entries.ts';
import { findVersion } from '../../src/domain/files/version-records.ts';
import { findSubscription } from '../../src/domain/journal/subscription-records.ts';
import { findKeyByHash } from '../../src/domain/rights/api-keys.ts';
import type { UploadSession } from '../../src/domain/uploads/upload-session.ts';
import { reservedBytes } from '../../src/domain/uploads/uploads.ts';
import type { IndexEntry } from '../../src/storage/ordered-index.ts';
import { expectSame, expectSameBytes } from './expect-same.ts';
import type { MemoryStores } from './memory-stores.ts';

// Kinds 10 to 13 belong to links, see link-invariants.ts
const kinds = {
  openUpload: 4,
  share: 6,
  digests: 7,
  version: 8,
  due: 9,
  renewal: 14,
  token: 15,
  publicBucket: 16,
  end: 17,
  ruleCheck: 30,
  checkOfBucket: 31,
  versionWalk: 32,
  delivery: 42,
  subscription: 43,
  uploadLink: 44,
  uploadLinkByHash: 45,
};
const digestBytes = 32;

function entriesOf({ directory }: MemoryStores, kind: number): IndexEntry[] {
  const start = directory.rank(Uint8Array.of(kind));
  const count = directory.rank(Uint8Array.of(kind + 1)) - start;
  return count === 0 ? [] : directory.read(start, count);
}

function longAt(key: Uint8Array, at: number): bigint {
  return Buffer.from(key).readBigUInt64BE(at);
}

function numberAt(key: Uint8Array, at: number): number {
  return Number(longAt(key, at));
}

/** A content that several records share. */
export interface SharedContent {
  readonly chunkCount: number;
  readonly records: number;
}

export function checkDirectory(
  stores: MemoryStores,
  owners: {
    readonly contents: ReadonlyMap<number, SharedContent>;
    /** Numbers of records by content, space, index of the thumbnail. */
    readonly thumbnails: ReadonlyMap<string, number>;
    readonly versions: readonly FileRecord[];
    readonly sessions: readonly UploadSession[];
  },
): void {
  const { contents, thumbnails, versions, sessions } = owners;
  const counts = [...contents].map(([id, { records }]) => [`${id}`, records] as const);
  const shared = [...counts, ...thumbnails].filter(([, records]) => records > 1);
  const shares = entriesOf(stores, kinds.share);
  const nameOf = (key: Uint8Array) => {
    const index = key.length > 9 ? ` ${Buffer.from(key).readUInt32BE(9)}` : '';
    return `${numberAt(key, 1)}${index}`;
  };
  expect(shares.map(({ key, value }) => `${nameOf(key)} ${value}`).sort()).toEqual(
    shared.map(([name, records]) => `${name} ${records}`).sort(),
  );
  checkDigestTables(stores, contents);
  checkDueVersions(stores, versions);
  const open = sessions.filter(({ status, isNoted }) => status === 'active' && isNoted);
  const noted = entriesOf(stores, kinds.openUpload);
  const names = noted.map(({ key, value }) => {
    return `${Buffer.from(key.subarray(-16)).toString('hex')} ${value}`;
  });
  expect(names.sort()).toEqual(
    open.map((session) => `${session.uploadId} ${reservedBytes(session)}`).sort(),
  );
  checkTokens(stores, sessions);
  const renewals = entriesOf(stores, kinds.renewal).map(({ key }) => {
    return Buffer.from(key.subarray(1)).toString().split('\0')[0] ?? '';
  });
  expect(renewals.length).toBe(new Set(renewals).size);
  for (const id of renewals) expect(findBucket(stores, id)?.isRenewing, id).toBe(true);
  const shown = entriesOf(stores, kinds.publicBucket).map(({ key }) => {
    return Buffer.from(key.subarray(1)).toString();
  });
  const ids = stores.buckets.entries().map(([key]) => Buffer.from(key).toString());
  expect(shown).toEqual(ids.filter((id) => findBucket(stores, id)?.isPublic));
  const { directory } = stores;
  const known =
    checkRules(stores, ids) + checkSubscriptions(stores, ids) + checkUploadLinks(stores, ids);
  const all = directory.rank(Uint8Array.of(0xff)) - known;
  expectSame(directory.rank(Uint8Array.of(kinds.end)), all, 'entries of an unknown kind');
  checkTotals(stores);
}

/** Each check of rules has one time, and a bucket. Returns the number of entries. */
function checkRules(stores: MemoryStores, bucketIds: readonly string[]): number {
  const checks = entriesOf(stores, kinds.ruleCheck).map(({ key }) => {
    return `${numberAt(key, 1)} ${Buffer.from(key.subarray(9))}`;
  });
  const ofBuckets = entriesOf(stores, kinds.checkOfBucket).map(({ key, value }) => {
    return `${Number(value)} ${Buffer.from(key.subarray(1))}`;
  });
  expect(checks.sort()).toEqual(ofBuckets.sort());
  const walks = entriesOf(stores, kinds.versionWalk).map(({ key }) => {
    return Buffer.from(key.subarray(1)).toString().split('\0')[0] ?? '';
  });
  expect(walks.length).toBe(new Set(walks).size);
  const named = [...walks, ...ofBuckets.map((text) => text.split(' ')[1] ?? '')];
  expect(named.filter((id) => !bucketIds.includes(id))).toEqual([]);
  for (const id of walks) {
    expectSame(
      ofBuckets.some((text) => text.endsWith(` ${id}`)),
      true,
      `a check of ${id}`,
    );
  }
  return checks.length + ofBuckets.length + walks.length;
}

/** Each upload link has a record, a bucket, and two entries. Returns the number of entries. */
function checkUploadLinks(stores: MemoryStores, bucketIds: readonly string[]): number {
  const byExpiry = entriesOf(stores, kinds.uploadLink).map(({ key }) => {
    const bucket = Buffer.from(key.subarray(1)).toString().split('\0')[0] ?? '';
    return `${bucket} ${Buffer.from(key.subarray(-64))}`;
  });
  const byHash = entriesOf(stores, kinds.uploadLinkByHash).map(({ key }) => {
    return Buffer.from(key.subarray(1)).toString().replace('\0', ' ');
  });
  expect(byExpiry.sort()).toEqual(byHash.sort());
  for (const entry of byHash) {
    const [bucket = '', hash = ''] = entry.split(' ');
    const link = findKeyByHash(stores, Buffer.from(hash, 'hex'));
    expect([bucketIds.includes(bucket), link?.buckets, link?.bounds?.isLink]).toEqual([
      true,
      [bucket],
      true,
    ]);
  }
  return byExpiry.length + byHash.length;
}

/**
 * Each subscription has a record, a bucket, and an entry by time unless it is idle or paused.
 * Returns the number of entries.
 */
export function checkSubscriptions(stores: MemoryStores, bucketIds: readonly string[]): number {
  const due = entriesOf(stores, kinds.delivery);
  const all = entriesOf(stores, kinds.subscription);
  const nameOf = (name: Uint8Array) => {
    const bucketId = Buffer.from(name.subarray(0, -9)).toString();
    return { bucketId, id: numberAt(name, name.length - 8) };
  };
  const timed = all.filter(({ value }) => value > 1n);
  expect(
    due.map(({ key }) => `${longAt(key, 1)} ${JSON.stringify(nameOf(key.subarray(9)))}`).sort(),
  ).toEqual(
    timed.map(({ key, value }) => `${value} ${JSON.stringify(nameOf(key.subarray(1)))}`).sort(),
  );
  for (const { key, value } of all) {
    const name = nameOf(key.subarray(1));
    const found = findSubscription(stores, name) ?? expect.fail(`no subscription ${name.id}`);
    expectSame(found.pausedAtNs > 0n, value === 1n, 'paused');
    expect(bucketIds).toContain(name.bucketId);
  }
  return due.length + all.length;
}

/** The last session of each token has an entry. */
function checkTokens(stores: MemoryStores, sessions: readonly UploadSession[]): void {
  const whose = ({ bucketId, token, owner, keyHash, isOverHttp }: UploadSession) => {
    const [who, key] = [owner, keyHash].map((bytes) => Buffer.from(bytes).toString('hex'));
    return JSON.stringify([bucketId, token, who, key, isOverHttp]);
  };
  const named = entriesOf(stores, kinds.token).map(({ key }) => {
    const id = Buffer.from(key.subarray(-16)).toString('hex');
    return sessions.find(({ uploadId }) => uploadId === id) ?? expect.fail(`no session ${id}`);
  });
  const withToken = sessions.filter(({ token }) => token !== '');
  expect(named.map(whose).sort()).toEqual([...new Set(withToken.map(whose))].sort());
  for (const one of named) {
    const later = withToken.filter(
      (other) => whose(other) === whose(one) && other.createdAtNs > one.createdAtNs,
    );
    expect(later).toEqual([]);
  }
}

/** A table must belong to an existing content, cover all its chunks, and have their digests. */
function checkDigestTables(
  stores: MemoryStores,
  contents: ReadonlyMap<number, SharedContent>,
): void {
  const ends = new Map<number, number>();
  for (const { key, value } of entriesOf(stores, kinds.digests)) {
    const contentId = numberAt(key, 1);
    const view = Buffer.from(key);
    const [first, count] = [view.readUInt32BE(9), view.readUInt32BE(13)];
    expectSame(first, ends.get(contentId) ?? 0, `the digests of content ${contentId} before`);
    ends.set(contentId, first + count);
    const stored = new Uint8Array(count * digestBytes);
    stores.blobs.read(Number(value), stored);
    for (let index = 0; index < count; index++) {
      const chunk = findChunk(stores, { contentId, index: first + index });
      const digest = chunk?.digest ?? expect.fail(`content ${contentId} has no such chunk`);
      expectSameBytes(stored.subarray(index * digestBytes, (index + 1) * digestBytes), digest);
    }
  }
  for (const [contentId, end] of ends) {
    const { chunkCount } = contents.get(contentId) ?? { chunkCount: 0 };
    expectSame(end, chunkCount, `digests of content ${contentId}`);
    expectSame(chunkCount > 1, true, `content ${contentId} has several chunks`);
  }
}

function checkDueVersions(stores: MemoryStores, versions: readonly FileRecord[]): void {
  const expected = versions.map(({ bucketId, path, version }) => {
    const { expiresAtNs } = findVersion(stores, { bucketId, path, version }) ?? expect.fail();
    return `${expiresAtNs} ${bucketId} ${path} ${version}`;
  });
  const nameOf = (bytes: Uint8Array) => {
    const view = Buffer.from(bytes);
    const version = view.readUInt32BE(view.length - 4);
    return [...view.subarray(0, -5).toString('utf8').split('\0'), version].join(' ');
  };
  const ofPaths = entriesOf(stores, kinds.version);
  const byPath = ofPaths.map(({ key, value }) => `${value} ${nameOf(key.subarray(1))}`);
  const due = entriesOf(stores, kinds.due);
  const byTime = due.map(({ key }) => {
    return `${Buffer.from(key).readBigUInt64BE(1)} ${nameOf(key.subarray(9))}`;
  });
  for (const { key, value } of due) {
    const isLater = value === 0n || value > Buffer.from(key).readBigUInt64BE(1);
    expectSame(isLater, true, 'rules only make versions expire earlier');
  }
  expect(byPath.sort()).toEqual(expected.sort());
  // Versions with a hold are not due
  const timed = expected.filter((entry) => !entry.startsWith(`${neverNs} `));
  expect(byTime.sort()).toEqual(timed);
}

/** Compares the totals of the status, which are counted without a scan. */
function checkTotals(stores: MemoryStores): void {
  const names = stores.buckets.entries().map(([key]) => Buffer.from(key).toString('utf8'));
  const buckets = names.map((name) => findBucket(stores, name) ?? expect.fail('no bucket'));
  expect(readTotals(stores)).toEqual({
    buckets: buckets.length,
    files: buckets.reduce((sum, { fileCount }) => sum + fileCount, 0),
    bytes: buckets.reduce((sum, { byteCount }) => sum + byteCount, 0),
  });
}
