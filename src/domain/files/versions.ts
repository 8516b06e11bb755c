// Operations on former versions: list, read and restore. version-erasure.ts erases them.

import { decodeUtf8 } from '../../lib/text.ts';
import { listedVersionBytesMax } from '../../limits.ts';
import { type Bucket, saveBucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import { damagedFile } from '../contents/chunk-records.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { withFileKey } from '../keys/file-keys.ts';
import { firstPage, parseCursor, parseLimit } from '../listing/cursors.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, authorizeList, type Grant, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parsePrefix, quote } from '../shared/names.ts';
import { checkWritePreconditions, type WritePreconditions } from '../shared/preconditions.ts';
import { Refusal, unlessRefused } from '../shared/refusal.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { leavesOfRenewal } from './bulk-work.ts';
import { fileMapKey, isSealed } from './file-layout.ts';
import {
  commitFile,
  entityTag,
  type FileRecord,
  findFile,
  type OpenFile,
  readFile,
  withOpenFile,
} from './file-records.ts';
import { type FilePart, partAsked, refuseMissing } from './files.ts';
import { requireNotHeld } from './retention.ts';
import { type VersionName, versionNames } from './version-entries.ts';
import {
  type FormerVersion,
  findVersion,
  freedBytes,
  requireRetirable,
  takeVersion,
} from './version-records.ts';
import { shownToWriter, type WrittenFile } from './written-files.ts';

export interface VersionList {
  readonly bucket: string;
  /** Restricts the list to this path. */
  readonly path?: string | undefined;
  /** Compared exactly; '' matches every path. */
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default: 100. */
  readonly limit?: number | undefined;
  readonly apiKey: SentKey;
}

export interface VersionPage {
  readonly items: readonly FormerVersion[];
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Lists former versions by path, the oldest first, for callers who may read the bucket. Omits
 * damaged ones. A page with long texts can be shorter than its limit.
 */
export function listVersions(stores: Stores, call: Call, request: VersionList): VersionPage {
  const { bucket, prefix } = authorizeVersions(stores, call, request);
  const range = rangeOf(bucket, { ...request, prefix });
  const limit = parseLimit(request.limit);
  const names = versionNames(stores, range, limit + 1);
  const items: FormerVersion[] = [];
  let room = listedVersionBytesMax;
  let gone = 0;
  for (const name of names.slice(0, limit)) {
    const former = readableVersion(stores, name);
    if (former !== undefined) {
      room -= shownBytesOf(former.file);
      if (room < 0 && items.length > 0) break;
      items.push(former);
    }
    gone += 1;
  }
  return { items, nextCursor: firstPage(names, gone, nameOfVersion).nextCursor };
}

/**
 * Estimates the size of the texts and the cost of a version and of each pair of metadata. 1,000
 * versions without metadata take 2.9 G instructions and a pair 0.4 M; a query may use 5 G.
 */
function shownBytesOf({ path, contentType, metadata }: FileRecord): number {
  const ofPairs = metadata.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return path.length + contentType.length + ofPairs + 128 * (1 + metadata.length);
}

/** Returns the bucket and the prefix to list; for a list of one path, the prefix as sent. */
function authorizeVersions(
  stores: Stores,
  call: Call,
  { bucket: name, path, prefix, apiKey }: VersionList,
): { readonly bucket: Bucket; readonly prefix: string | undefined } {
  if (path === undefined) {
    return authorizeList(stores, call, { bucket: name, apiKey, prefix: prefix ?? '' });
  }
  const claim = { bucket: name, permission: 'read', apiKey, path } as const;
  return { bucket: authorize(stores, call, claim).bucket, prefix };
}

export function rangeOf(bucket: Bucket, { path, prefix, cursor }: VersionList) {
  if (path !== undefined && prefix !== undefined) {
    throw new Refusal('InvalidArgument', 'Name a path or a prefix, not both.');
  }
  const after = cursor === undefined ? undefined : parseVersionCursor(bucket, cursor);
  return {
    bucketId: bucket.id,
    path: path === undefined ? undefined : parseFilePath(path),
    prefix: prefix === undefined ? undefined : parsePrefix(prefix),
    after,
  };
}

export function readableVersion(stores: Stores, name: VersionName): FormerVersion | undefined {
  return unlessRefused(() => findVersion(stores, name));
}

export function nameOfVersion({ path, version }: VersionName): string {
  return `${path}\0${version}`;
}

function parseVersionCursor(bucket: Bucket, cursor: string): VersionName {
  const [path = '', version = ''] = (decodeUtf8(parseCursor(cursor)) ?? '').split('\0');
  return { bucketId: bucket.id, path, version: Number(version) || 0 };
}

export interface VersionRequest {
  readonly bucket: string;
  readonly path: string;
  readonly version: number;
  readonly apiKey: SentKey;
}

/** A version by its number, present or former; without a number, the present one. */
type ReadVersion = Omit<VersionRequest, 'version'> & {
  readonly version: number | undefined;
};

/**
 * Calls `use` with the version, for members of the bucket and keys that may read it, even if the
 * bucket is public. Wipes the key afterwards.
 */
export function withVersion<T extends object>(
  stores: Stores,
  { call, version, ...name }: ReadVersion & { readonly call: Call },
  use: (opened: OpenFile) => T,
): T {
  const { bucket } = authorize(stores, call, { ...name, permission: 'read' });
  const path = parseFilePath(name.path);
  if (version === undefined) {
    return withOpenFile(stores, { bucket, path }, use) ?? refuseMissing(bucket, path);
  }
  const former = findVersion(stores, { bucketId: bucket.id, path, version });
  if (former !== undefined) return withFormer(stores, { bucket, former }, use);
  const present = withOpenFile(stores, { bucket, path }, (opened) => ({
    used: opened.file.version === version ? use(opened) : undefined,
  }));
  if (present?.used === undefined) throw noSuchVersion({ path: name.path, version });
  return present.used;
}

/**
 * Calls `use` with a former version that the caller may read, and wipes its key afterwards. Refuses
 * altered data with IntegrityError.
 */
export function withFormer<T>(
  stores: Stores,
  { bucket, former }: { readonly bucket: Bucket; readonly former: FormerVersion },
  use: (opened: OpenFile) => T,
): T {
  const { file, record } = former;
  return withFileKey(stores, { bucket, ...file }, (key) => {
    if (!isSealed(record, fileMapKey(bucket.id, file.path), key)) throw damagedFile();
    return use({ file, key });
  });
}

export function getVersion(stores: Stores, call: Call, request: ReadVersion): FileRecord {
  return withVersion(stores, { call, ...request }, ({ file }) => file);
}

/** Reads a version as readFilePart() reads a file. */
export function readVersionPart(
  stores: Stores,
  call: Call,
  { offset, length, ...request }: VersionRequest & FilePart,
): Uint8Array {
  return withVersion(stores, { call, ...request }, (opened) =>
    readFile(stores, opened, partAsked(opened.file, { offset, length })),
  );
}

interface Prepared {
  readonly grant: Grant;
  readonly bucket: Bucket;
  readonly former: FormerVersion;
  readonly old: FileRecord | undefined;
}

export type Restoration = VersionRequest & { readonly conditions: WritePreconditions };

/** Refuses what restoreVersion() would refuse, except for damaged data; changes nothing. */
export function checkRestoration(stores: Stores, call: Call, request: Restoration): Prepared {
  const { apiKey, conditions } = request;
  const name = { bucket: request.bucket, path: request.path, apiKey };
  const { key } = authorize(stores, call, { ...name, permission: 'read' });
  const grant = authorize(stores, call, { ...name, apiKey: key, permission: 'write' });
  const { bucket } = grant;
  const path = parseFilePath(request.path);
  const former = findVersion(stores, { bucketId: bucket.id, path, version: request.version });
  if (former === undefined) throw noSuchVersion(request);
  const old = findFile(stores, bucket.id, path);
  checkWritePreconditions(old && entityTag(old), conditions);
  const { nowNs } = call;
  requireNotHeld(former.file, { nowNs, remedy: 'Copy it to the path instead of restoring it.' });
  const retired = old && requireRetirable(bucket, old, { nowNs });
  // The version is counted already, except for the overhead of one that 0.1.0 stored
  checkQuota(bucket, { files: old === undefined ? 1 : 0, bytes: -freedBytes(bucket, old) });
  return { grant, bucket, former, old: retired };
}

export function noSuchVersion({
  path,
  version,
}: Pick<VersionRequest, 'path' | 'version'>): Refusal {
  return new Refusal(
    'NoSuchFile',
    `Version ${version} of ${quote(path)} does not exist: list its versions to see which do.`,
  );
}

/** Makes the former version the file again, with a new number, and retires the present file. */
export function restoreVersion(stores: Stores, call: Call, request: Restoration): WrittenFile {
  const { grant, bucket, former, old } = checkRestoration(stores, call, request);
  const restored = withFormer(stores, { bucket, former }, ({ file, key }) => {
    const digests = chunkDigests(stores, file);
    const taken = takeVersion(stores, bucket, { ...file, bucketId: bucket.id });
    const without = taken?.bucket ?? bucket;
    saveBucket(stores, without, bucket);
    // A restored file keeps its id and creation time, and gets a number above the present one
    const known = { ...file, chunkDigests: digests, key, origin: file };
    const newFile = { ...known, sealNumber: nextContentId(stores) };
    return commitFile(stores, newFile, { nowNs: call.nowNs, bucket: without, old });
  });
  chargeWork(stores, call, { key: grant.key, leaves: leavesOfRenewal(bucket, former.file.path) });
  return shownToWriter(grant, restored, []);
}
