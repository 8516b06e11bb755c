// Fallbacks in a site bucket: a folder's address serves the index.html in it, the address without
// the slash redirects there, and any other missing path serves 404.html. Only the leaves version in
// a file's record decides whether its site addresses are published. So each address and its proof
// agree at all times while the files of a bucket that becomes a site, or ceases to be one, are
// updated one by one.

import { sitePageBytesMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { presentLeavesVersion, siteLeavesVersion } from '../shared/publication.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile, fileMapKey } from './file-layout.ts';

const indexName = 'index.html';
const pagePath = '404.html';

/** Whether any file of the bucket may have leaves of a site. */
export function mayHaveSite({ isSite, isRenewing }: Bucket): boolean {
  return isSite || isRenewing;
}

/**
 * Returns the path of the index.html that the folder's address serves; `folder` has no final slash,
 * '' is the whole bucket.
 */
export function indexPath(folder: string): string {
  return folder === '' ? indexName : `${folder}/${indexName}`;
}

/** Returns the folder of an index.html; undefined for other paths. */
function folderOf(path: string): string | undefined {
  if (!path.endsWith(indexName)) return undefined;
  if (path === indexName) return '';
  const end = path.length - indexName.length - 1;
  return path[end] === '/' ? path.slice(0, end) : undefined;
}

/** Returns the record of a file that has leaves of a site, without decrypting it. */
function findSiteFile(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  const bytes = stores.records.get(fileMapKey(bucketId, path));
  const file = bytes && unlessRefused(() => decodeFile(bucketId, path, bytes));
  return file?.leavesVersion === siteLeavesVersion ? file : undefined;
}

export function findIndex(stores: Stores, bucket: Bucket, folder: string): FileRecord | undefined {
  return mayHaveSite(bucket) ? findSiteFile(stores, bucket.id, indexPath(folder)) : undefined;
}

/** Returns the bucket's own 404 page; `undefined` if it has none. */
export function findPage(stores: Stores, bucket: Bucket): FileRecord | undefined {
  const file = mayHaveSite(bucket) ? findSiteFile(stores, bucket.id, pagePath) : undefined;
  return file && isPage(file) ? file : undefined;
}

function isPage({ leavesVersion, chunkCount, size }: FileRecord): boolean {
  return leavesVersion === siteLeavesVersion && chunkCount <= 1 && size <= sitePageBytesMax;
}

/** Publishes the 404 page of a bucket that became public, or whose files are all renewed. */
export function publishPage(stores: Stores, bucket: Bucket): void {
  stores.publication.setMissing(bucket.id, findPage(stores, bucket));
}

/** Whether the file may have leaves at addresses of a site. `file`: before the change. */
export function mayBeOfSite(bucket: Bucket, file: FileRecord | undefined): boolean {
  const isPlain = file === undefined || file.leavesVersion === presentLeavesVersion;
  return !isPlain || mayHaveSite(bucket);
}

/**
 * Publishes an index.html at its folder's address and 404.html for missing paths, or hides them.
 */
export function publishOfSite(stores: Stores, file: FileRecord, chunkDigests: Uint8Array): void {
  const { bucketId, path } = file;
  if (path === pagePath) stores.publication.setMissing(bucketId, isPage(file) ? file : undefined);
  const folder = folderOf(path);
  if (folder === undefined) return;
  if (file.leavesVersion !== siteLeavesVersion) {
    hideFolder(stores, bucketId, folder);
    return;
  }
  stores.publication.putFolder({ bucketId, folder }, file, chunkDigests);
  if (!isFile(stores, bucketId, folder)) stores.publication.putRedirect({ bucketId, folder });
}

/** Removes the site addresses of a file that has left its path. */
export function unpublishOfSite(stores: Stores, bucket: Bucket, file: FileRecord): void {
  const { bucketId, path } = file;
  if (path === pagePath) stores.publication.setMissing(bucketId, undefined);
  const folder = folderOf(path);
  if (folder !== undefined) hideFolder(stores, bucketId, folder);
  // The removed file prevented the redirect to the folder with its name
  if (findIndex(stores, bucket, path) !== undefined) {
    stores.publication.putRedirect({ bucketId, folder: path });
  }
}

function hideFolder(stores: Stores, bucketId: string, folder: string): void {
  stores.publication.removeFolder({ bucketId, folder });
  if (!isFile(stores, bucketId, folder)) stores.publication.removeRedirect({ bucketId, folder });
}

function isFile(stores: Stores, bucketId: string, path: string): boolean {
  return path !== '' && stores.records.has(fileMapKey(bucketId, path));
}
