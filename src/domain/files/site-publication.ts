// Publishes the answers of a site whenever one of its files is stored, moved, removed or renewed.

import { emptyBytes } from '../../lib/bytes.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { readContent } from '../contents/contents.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import {
  hasPresentSiteLeaves,
  presentLeavesVersion,
  type SiteAddress,
} from '../shared/publication.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { startRenewal } from './renewal-progress.ts';
import { saveHeaderRules, saveOwnHeaders } from './site-header-records.ts';
import { headersBytesMax, headersPath, readHeaders } from './site-headers.ts';
import { addressesOf } from './site-paths.ts';
import { type PlacedRule, placesOfTarget, type RulePlace, saveRules } from './site-rule-records.ts';
import { isRedirect, readRules, rulesBytesMax, rulesPath } from './site-rules.ts';
import {
  findSiteFile,
  isFile,
  mayHaveSite,
  pagePath,
  redirectOf,
  type Target,
  targetAt,
  wildcardTarget,
} from './sites.ts';

/** Whether the file may have leaves at addresses of a site. `file`: before the change. */
export function mayBeOfSite(bucket: Bucket, file: FileRecord | undefined): boolean {
  const isPlain = file === undefined || file.leavesVersion === presentLeavesVersion;
  return !isPlain || mayHaveSite(bucket);
}

/** Publishes the answer for missing paths: the bucket became public, or its files are renewed. */
export function publishMissing(stores: Stores, bucket: Bucket): void {
  refreshWildcard(stores, { bucket }, '');
}

/** A file in a bucket that may be a site. */
export interface SiteFile {
  readonly bucket: Bucket;
  readonly path: string;
  /** SHA-256 of each chunk, 32 bytes each; absent for a removed file. */
  readonly digests?: Uint8Array;
  /** Key of its content; absent for a removed file. */
  readonly key?: Uint8Array;
}

/** The bucket, and the file that has changed. */
type Changed = Pick<SiteFile, 'bucket' | 'digests'> & { readonly path?: string };

/** Publishes a file that was stored or renewed at the addresses of the site that serve it. */
export function publishOfSite(stores: Stores, file: SiteFile): void {
  const { bucket, path } = file;
  for (const address of addressesOf(path)) refresh(stores, file, address);
  if (path === pagePath) refreshWildcard(stores, file, '');
  for (const place of placesOfTarget(stores, bucket.id, path)) refreshPlace(stores, file, place);
  if (path === rulesPath) publishRules(stores, file);
  if (path === headersPath) takeHeaders(stores, file);
}

/** Publishes what the addresses of a file that has left its path serve without it. */
export function unpublishOfSite(stores: Stores, file: SiteFile): void {
  saveOwnHeaders(stores, { bucketId: file.bucket.id, path: file.path }, undefined);
  publishOfSite(stores, file);
  refresh(stores, file, `/${file.path}`);
}

/** Replaces the rules by those of the stored `_redirects`; lines with faults have no effect. */
function publishRules(stores: Stores, file: SiteFile): void {
  const bytes = storedSiteFile(stores, file, rulesBytesMax);
  const rules = bytes === undefined ? [] : readRules(bytes).rules;
  const bucketId = file.bucket.id;
  const proofOf = (rule: PlacedRule) => {
    if (rule.isComputed || !isRedirect(rule)) return emptyBytes;
    return stores.publication.siteProof(redirectOf(bucketId, rule));
  };
  for (const place of saveRules(stores, bucketId, rules, proofOf))
    refreshPlace(stores, file, place);
}

/** Takes the rules of the stored `_headers`; changed ones renew all files step by step. */
function takeHeaders(stores: Stores, file: SiteFile): void {
  const bytes = storedSiteFile(stores, file, headersBytesMax);
  const rules = bytes === undefined ? [] : readHeaders(bytes).rules;
  const { id } = file.bucket;
  if (saveHeaderRules(stores, id, rules)) startRenewal(stores, id);
}

/** Returns the bytes of the file if it exists, serves the site and is not too large. */
function storedSiteFile(
  stores: Stores,
  { bucket, path, key }: SiteFile,
  bytesMax: number,
): Uint8Array | undefined {
  const file = mayHaveSite(bucket) ? findSiteFile(stores, bucket.id, path) : undefined;
  if (file === undefined || key === undefined) return undefined;
  if (!hasPresentSiteLeaves(file) || file.size > bytesMax) return undefined;
  // The records are written already, so a damaged file counts as one without rules
  return unlessRefused(() => readContent(stores, file, { start: 0, end: file.size, key }));
}

function refreshPlace(stores: Stores, changed: Changed, place: RulePlace): void {
  const { path, isWildcard } = place;
  const address = path === '/' ? '' : path;
  if (isWildcard) refreshWildcard(stores, changed, path);
  else for (const each of [address, `${address}/`]) refresh(stores, changed, each);
}

function refreshWildcard(stores: Stores, changed: Changed, prefix: string): void {
  const { bucket } = changed;
  const at = { bucketId: bucket.id, address: prefix, isWildcard: true };
  publishTarget(stores, at, wildcardTarget(stores, bucket, prefix), changed);
}

/** Publishes the present answer at the address, unless a file has this path. */
function refresh(stores: Stores, changed: Changed, address: string): void {
  const { bucket } = changed;
  if (isFile(stores, bucket.id, address)) return;
  const at = { bucketId: bucket.id, address, isWildcard: false };
  publishTarget(stores, at, targetAt(stores, bucket, address), changed);
}

function publishTarget(
  stores: Stores,
  at: SiteAddress,
  target: Target | undefined,
  changed: Changed,
): void {
  const { publication } = stores;
  if (target === undefined) publication.removeSite(at);
  else if (target.kind !== 'file') publication.putSiteReply(at, target);
  else {
    const { file } = target;
    // The table of digests of a new file may not be stored yet
    const known = changed.path === file.path ? changed.digests : undefined;
    publication.putSiteFile(at, file, known ?? chunkDigests(stores, file));
  }
}
