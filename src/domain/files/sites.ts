// The addresses of a site bucket besides those of its files, in this order: a folder's address
// serves the index.html in it; a path serves the file with that name and `.html`; a folder's
// address without the slash redirects to the one with it. Any other missing path serves 404.html.
// The asset canister's aliases and Netlify's "pretty URLs" have the same order. Only the leaves
// versions in the files' records decide which addresses are published. So each address and its
// proof agree at all times while the files of a bucket are updated one by one.

import { present } from '../../lib/assert.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax, sitePageBytesMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import {
  hasSiteLeaves,
  presentLeavesVersion,
  type SiteAddress,
  type SiteTarget,
  siteLeavesVersion,
} from '../shared/publication.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile, fileMapKey } from './file-layout.ts';

const indexName = 'index.html';
const pagePath = '404.html';
const cleanEnd = '.html';

/** Whether any file of the bucket may have leaves of a site. */
export function mayHaveSite({ isSite, isRenewing }: Bucket): boolean {
  return isSite || isRenewing;
}

/** Whether the file may have leaves at addresses of a site. `file`: before the change. */
export function mayBeOfSite(bucket: Bucket, file: FileRecord | undefined): boolean {
  const isPlain = file === undefined || file.leavesVersion === presentLeavesVersion;
  return !isPlain || mayHaveSite(bucket);
}

/** Returns the path of a folder's index.html; `folder` has no final slash, '' is the bucket. */
function indexPath(folder: string): string {
  return folder === '' ? indexName : `${folder}/${indexName}`;
}

/** Returns the record of a file that has leaves of a site, without decrypting it. */
function findSiteFile(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  const bytes = stores.records.get(fileMapKey(bucketId, path));
  const file = bytes && unlessRefused(() => decodeFile(bucketId, path, bytes));
  return file && hasSiteLeaves(file) ? file : undefined;
}

function findIndex(stores: Stores, bucketId: string, folder: string): FileRecord | undefined {
  return findSiteFile(stores, bucketId, indexPath(folder));
}

/** Files of release 0.2.0 have no clean URL until site-renewal.ts has renewed them. */
function findClean(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  if (path === '' || `/${path}${cleanEnd}`.endsWith(`/${indexName}`)) return undefined;
  const file = findSiteFile(stores, bucketId, path + cleanEnd);
  return file?.leavesVersion === siteLeavesVersion ? file : undefined;
}

/**
 * Returns the answer at the address, which has no file of that path. `address`: the part of the URL
 * after the bucket, '' or with its leading slash.
 */
export function targetAt(
  stores: Stores,
  bucket: Bucket,
  address: string,
): SiteTarget<FileRecord> | undefined {
  if (!mayHaveSite(bucket) || isTooLong(address)) return undefined;
  const path = address.slice(1);
  if (address.endsWith('/')) {
    const index = findIndex(stores, bucket.id, path.slice(0, -1));
    return index && { kind: 'file', file: index };
  }
  const clean = findClean(stores, bucket.id, path);
  if (clean !== undefined) return { kind: 'file', file: clean };
  const index = findIndex(stores, bucket.id, path);
  return index && { kind: 'redirect', status: 308, location: folderLocation(bucket.id, path) };
}

function isTooLong(address: string): boolean {
  if (address.length > filePathBytesMax) return true;
  return 3 * address.length > filePathBytesMax && encodeUtf8(address).length > filePathBytesMax;
}

/** The location is relative, to work at every origin; `./` allows colons in the name. */
function folderLocation(bucketId: string, folder: string): string {
  const name = present((folder === '' ? bucketId : folder).split('/').at(-1), 'name of a folder');
  return `./${encodeURIComponent(name)}/`;
}

/** Returns the answer for missing paths of the bucket; `undefined`: the usual 404. */
export function missingTarget(stores: Stores, bucket: Bucket): SiteTarget<FileRecord> | undefined {
  const file = mayHaveSite(bucket) ? findSiteFile(stores, bucket.id, pagePath) : undefined;
  return file && isPage(file) ? { kind: 'page', file, status: 404 } : undefined;
}

function isPage({ chunkCount, size }: FileRecord): boolean {
  return chunkCount <= 1 && size <= sitePageBytesMax;
}

/** Publishes the answer for missing paths: the bucket became public, or its files are renewed. */
export function publishMissing(stores: Stores, bucket: Bucket): void {
  const at = { bucketId: bucket.id, address: '', isWildcard: true };
  publishTarget(stores, at, missingTarget(stores, bucket));
}

/** A file in a bucket that may be a site. */
export interface SiteFile {
  readonly bucket: Bucket;
  readonly path: string;
  /** SHA-256 of each chunk, 32 bytes each; absent for a removed file. */
  readonly digests?: Uint8Array;
}

/** Publishes a file that was stored or renewed at the addresses of the site that serve it. */
export function publishOfSite(stores: Stores, file: SiteFile): void {
  for (const address of addressesOf(file.path)) refresh(stores, file, address);
  if (file.path === pagePath) publishMissing(stores, file.bucket);
}

/** Publishes what the addresses of a file that has left its path serve without it. */
export function unpublishOfSite(stores: Stores, file: SiteFile): void {
  publishOfSite(stores, file);
  refresh(stores, file, `/${file.path}`);
}

/** Returns the addresses, besides its own, at which a file with that path can be served. */
function addressesOf(path: string): string[] {
  const own = `/${path}`;
  if (own.endsWith(`/${indexName}`)) {
    const folder = own.slice(0, -indexName.length);
    return [folder, folder.slice(0, -1)];
  }
  const clean = own.slice(0, -cleanEnd.length);
  return own.endsWith(cleanEnd) && !clean.endsWith('/') ? [clean] : [];
}

/** Publishes the present answer at the address, unless a file has this path. */
function refresh(stores: Stores, changed: SiteFile, address: string): void {
  const { bucket } = changed;
  if (isFile(stores, bucket.id, address)) return;
  const at = { bucketId: bucket.id, address, isWildcard: false };
  publishTarget(stores, at, targetAt(stores, bucket, address), changed);
}

function publishTarget(
  stores: Stores,
  at: SiteAddress,
  target: SiteTarget<FileRecord> | undefined,
  changed?: SiteFile,
): void {
  const { publication } = stores;
  if (target === undefined) publication.removeSite(at);
  else if (target.kind !== 'file') publication.putSiteReply(at, target);
  else {
    const { file } = target;
    // The table of digests of a new file may not be stored yet
    const known = changed?.path === file.path ? changed.digests : undefined;
    publication.putSiteFile(at, file, known ?? chunkDigests(stores, file));
  }
}

/** Whether a file has the address as its path. */
export function isFile(stores: Stores, bucketId: string, address: string): boolean {
  if (address === '' || address.endsWith('/') || isTooLong(address)) return false;
  return stores.records.has(fileMapKey(bucketId, address.slice(1)));
}
