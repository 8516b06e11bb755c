// The addresses of a site bucket besides those of its files, in this order: a folder's address
// serves the index.html in it; a path serves the file with that name and `.html`; a folder's
// address without the slash redirects to the one with it; a rule of `_redirects` answers. Any other
// missing path serves 404.html. The asset canister's aliases and Netlify's "pretty URLs" have the
// same order. Only the leaves versions in the files' records decide which addresses are published.
// So each address and its proof agree at all times while the files of a bucket are updated one by
// one.

import { present } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax, sitePageBytesMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { parseFilePath } from '../shared/names.ts';
import {
  hasPresentSiteLeaves,
  hasSiteLeaves,
  type SiteRedirect,
  type SiteTarget,
} from '../shared/publication.ts';
import { Refusal, unlessRefused, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile, fileMapKey } from './file-layout.ts';
import { withOwnHeaders } from './site-header-records.ts';
import { addressesOf, cleanEnd, indexName } from './site-paths.ts';
import { allRules, findRule, type PlacedRule, rulesAbove } from './site-rule-records.ts';
import { isRedirect, targetOf } from './site-rules.ts';

export const pagePath = '404.html';

export type Target = SiteTarget<FileRecord>;

type SiteBucket = Pick<Bucket, 'id' | 'isSite' | 'isRenewing'>;

/** Whether any file of the bucket may have leaves of a site. */
export function mayHaveSite({ isSite, isRenewing }: Omit<SiteBucket, 'id'>): boolean {
  return isSite || isRenewing;
}

/** Returns the path of a folder's index.html; `folder` has no final slash, '' is the bucket. */
function indexPath(folder: string): string {
  return folder === '' ? indexName : `${folder}/${indexName}`;
}

/** Returns the record of a file that has leaves of a site, without decrypting it. */
export function findSiteFile(
  stores: Stores,
  bucketId: string,
  path: string,
): FileRecord | undefined {
  const bytes = stores.records.get(fileMapKey(bucketId, path));
  const file = bytes && unlessRefused(() => decodeFile(bucketId, path, bytes));
  return file && hasSiteLeaves(file) ? withOwnHeaders(stores, file) : undefined;
}

function findIndex(stores: Stores, bucketId: string, folder: string): FileRecord | undefined {
  return findSiteFile(stores, bucketId, indexPath(folder));
}

/** Files of release 0.2.0 have no clean URL until site-renewal.ts has renewed them. */
function findClean(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  if (!addressesOf(path + cleanEnd).includes(`/${path}`)) return undefined;
  const file = findSiteFile(stores, bucketId, path + cleanEnd);
  return file && hasPresentSiteLeaves(file) ? file : undefined;
}

/**
 * Returns the answer at the address, which has no file of that path. `address`: the part of the URL
 * after the bucket, '' or with its leading slash.
 */
export function targetAt(stores: Stores, bucket: SiteBucket, address: string): Target | undefined {
  if (!mayHaveSite(bucket) || isTooLong(address)) return undefined;
  const isFolder = address.endsWith('/');
  const path = address.slice(1, isFolder ? -1 : undefined);
  const hasAny = hasPathsFrom(stores, bucket.id, path);
  const clean = hasAny && !isFolder ? findClean(stores, bucket.id, path) : undefined;
  if (clean !== undefined) return { kind: 'file', file: clean };
  const index = hasAny ? findIndex(stores, bucket.id, path) : undefined;
  if (index === undefined) return exactTarget(stores, bucket.id, address);
  if (isFolder) return { kind: 'file', file: index };
  return { kind: 'redirect', status: 308, location: folderLocation(bucket.id, path) };
}

/** Whether any path begins with these characters: cheaper than two look-ups that find nothing. */
function hasPathsFrom({ records }: Stores, bucketId: string, start: string): boolean {
  const key = fileMapKey(bucketId, start);
  return records.rank(concatBytes(key, afterUtf8)) > records.rank(key);
}

const afterUtf8 = Uint8Array.of(0xff);

function isTooLong(address: string): boolean {
  if (address.length > filePathBytesMax) return true;
  return 3 * address.length > filePathBytesMax && encodeUtf8(address).length > filePathBytesMax;
}

/** The location is relative, to work at every origin; `./` allows colons in the name. */
function folderLocation(bucketId: string, folder: string): string {
  const name = present((folder === '' ? bucketId : folder).split('/').at(-1), 'name of a folder');
  return `./${encodeURIComponent(name)}/`;
}

/** Returns the answer at the address by a rule of exactly this path. */
function exactTarget(stores: Stores, bucketId: string, address: string): Target | undefined {
  const path = pathOfRule(address);
  const rule = findRule(stores, bucketId, { path, isWildcard: false });
  return rule && ruleTarget(stores, bucketId, rule);
}

/** Returns the form of an address that rules have: without a final slash, but '/' for the site. */
function pathOfRule(address: string): string {
  const path = address.endsWith('/') ? address.slice(0, -1) : address;
  return path === '' ? '/' : path;
}

/** Returns the answer of the rule; `undefined` if its file does not exist or is too large. */
function ruleTarget(stores: Stores, bucketId: string, rule: PlacedRule): Target | undefined {
  const { status, to, isComputed } = rule;
  if (isComputed) return { kind: 'update' };
  if (isRedirect(rule)) return redirectOf(bucketId, rule);
  const file = findSiteFile(stores, bucketId, to);
  if (file === undefined) return undefined;
  if (status === 200) return file.chunkCount <= 1 ? { kind: 'file', file } : undefined;
  return isPage(file) ? { kind: 'page', file, status } : undefined;
}

export function redirectOf(bucketId: string, { status, to, proof }: PlacedRule): SiteRedirect {
  // Sites are below this path at every origin
  const location = to.startsWith('/') ? `/cloud/${bucketId}${to}` : to;
  return { kind: 'redirect', status, location, proof: proof.length > 0 ? proof : undefined };
}

/** Returns the answer at the wildcard with this prefix; '' is the whole bucket. */
export function wildcardTarget(
  stores: Stores,
  bucket: SiteBucket,
  prefix: string,
): Target | undefined {
  if (!mayHaveSite(bucket)) return undefined;
  const rule = findRule(stores, bucket.id, { path: prefix, isWildcard: true });
  const target = rule && ruleTarget(stores, bucket.id, rule);
  return target ?? (prefix === '' ? pageTarget(stores, bucket) : undefined);
}

/** Returns the answer for a missing path of the bucket; `undefined`: the usual 404. */
export function missingTarget(
  stores: Stores,
  bucket: SiteBucket,
  address: string,
): Target | undefined {
  if (!mayHaveSite(bucket)) return undefined;
  for (const rule of rulesAbove(stores, bucket.id, address)) {
    const target = ruleTarget(stores, bucket.id, rule);
    if (target !== undefined) return target;
  }
  return pageTarget(stores, bucket);
}

function pageTarget(stores: Stores, bucket: SiteBucket): Target | undefined {
  const file = findSiteFile(stores, bucket.id, pagePath);
  return file && isPage(file) ? { kind: 'page', file, status: 404 } : undefined;
}

function isPage({ chunkCount, size }: FileRecord): boolean {
  return chunkCount <= 1 && size <= sitePageBytesMax;
}

/** Returns the answer, where it is computed from the path, by the first rule that matches. */
export function computedTarget(
  stores: Stores,
  bucket: SiteBucket,
  address: string,
): Exclude<Target, { kind: 'update' }> | undefined {
  const path = pathOfRule(address);
  // A target must not get "." segments, which browsers resolve
  const isPath = path === '/' || !(valueOrRefusal(() => parseFilePath(path)) instanceof Refusal);
  for (const rule of isPath ? allRules(stores, bucket.id) : []) {
    const to = targetOf(rule, path);
    const placed = to !== undefined && { ...rule, to, isComputed: false, proof: emptyBytes };
    const target = placed ? ruleTarget(stores, bucket.id, placed) : undefined;
    if (target !== undefined && target.kind !== 'update') return target;
  }
  const page = pageTarget(stores, bucket);
  return page?.kind === 'page' ? page : undefined;
}

/** Whether a file has the address as its path. */
export function isFile(stores: Stores, bucketId: string, address: string): boolean {
  if (address === '' || address.endsWith('/') || isTooLong(address)) return false;
  return stores.records.has(fileMapKey(bucketId, address.slice(1)));
}
