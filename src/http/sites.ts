// Answers of a site at addresses that name no file: clean URLs, folders, redirects, and 404.html
// for any other missing path.

import { findSiteBucket, type ServedBucket } from '../domain/buckets/buckets.ts';
import { type FileRecord, readFile, withOpenFile } from '../domain/files/file-records.ts';
import { isFile, mayHaveSite, missingTarget, targetAt } from '../domain/files/sites.ts';
import type { PublishedFile, SiteReply, SiteTarget } from '../domain/shared/publication.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { present } from '../lib/assert.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { firstSegments, singleSlashes } from '../lib/url-paths.ts';
import { servedHeaders } from './file-headers.ts';
import type { SiteAnswer } from './message.ts';
import { uncached } from './respond.ts';

export interface SitePlace {
  readonly bucket: ServedBucket;
  /** The URL after the bucket: '', or with its leading slash; without empty segments. */
  readonly address: string;
}

/** Finds the place below a site; ignores empty segments as verifiers do. `urlPath`: decoded. */
export function siteAt(stores: Stores, urlPath: string): SitePlace | undefined {
  placePattern.lastIndex = 0;
  const [, id, rest = ''] = placePattern.exec(urlPath) ?? [];
  const bucket = id === undefined ? undefined : findSiteBucket(stores, id);
  if (bucket === undefined || !bucket.isPublic || !mayHaveSite(bucket)) return undefined;
  return { bucket, address: singleSlashes(firstSegments(rest)) };
}

const placePattern = /\/*cloud\/+([^/]+)(\/.*)?$/sy;

export interface SiteFound {
  readonly target: SiteTarget<FileRecord>;
  /** Whether it is the answer for all missing paths. */
  readonly isWildcard: boolean;
}

/** Returns the site's answer; `undefined` for a file's own path, and for the usual 404. */
export function foundAt(stores: Stores, place: SitePlace): SiteFound | undefined {
  return isFile(stores, place.bucket.id, place.address) ? undefined : foundBeside(stores, place);
}

/** Returns the site's answer at an address that is the path of no file. */
export function foundBeside(stores: Stores, { bucket, address }: SitePlace): SiteFound | undefined {
  const exact = targetAt(stores, bucket, address);
  if (exact !== undefined) return { target: exact, isWildcard: false };
  const target = missingTarget(stores, bucket, address);
  return target && { target, isWildcard: true };
}

/** Returns the answer without its body. */
export function replyFace(reply: SiteReply): SiteAnswer {
  return reply.kind === 'page' ? pageFace(reply.file, reply.status) : redirectFace(reply);
}

/** Returns the answer. Refuses with IntegrityError if its file is damaged. */
export function replyOf(
  stores: Stores,
  { bucket }: SitePlace,
  reply: SiteReply<FileRecord>,
): SiteAnswer {
  const face = replyFace(reply);
  if (reply.kind !== 'page') return face;
  const { path } = reply.file;
  const body = withOpenFile(stores, { bucket, path }, (opened) =>
    readFile(stores, opened, { start: 0, end: opened.file.size }),
  );
  return { ...face, body: present(body, 'page of a site') };
}

/** The file's headers, except those for caching and revalidation. */
function pageFace(file: PublishedFile, status: number): SiteAnswer {
  const { validators, representation } = servedHeaders(file);
  const shown = [...validators, ...representation].filter(([name]) => !unshown.has(name));
  return { status, headers: [...shown, uncached], body: emptyBytes, bodyDigest: file.digest };
}

const unshown: ReadonlySet<string> = new Set([
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Accept-Ranges',
]);

function redirectFace({ status, location }: Extract<SiteReply, { kind: 'redirect' }>): SiteAnswer {
  const isPermanent = status === 301 || status === 308;
  const caching = isPermanent ? 'public, max-age=300' : 'no-cache';
  const headers = [['Location', location] as const, ['Cache-Control', caching] as const];
  return { status, headers, body: emptyBytes };
}
