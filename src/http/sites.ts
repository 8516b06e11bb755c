// Fallbacks in a site bucket: redirects to folders, and 404.html for any other missing path.

import { type Bucket, findSiteBucket } from '../domain/buckets/buckets.ts';
import { type FileRecord, readFile, withOpenFile } from '../domain/files/file-records.ts';
import { findIndex, findPage, mayHaveSite } from '../domain/files/sites.ts';
import type { PublishedFile } from '../domain/shared/publication.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { present } from '../lib/assert.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { singleSlashes } from '../lib/url-paths.ts';
import { filePathBytesMax } from '../limits.ts';
import { servedHeaders } from './file-headers.ts';
import type { SiteAnswer } from './message.ts';
import { uncached } from './respond.ts';

type Head = Pick<SiteAnswer, 'status' | 'headers'>;

export interface SitePlace {
  readonly bucket: Bucket;
  /** The folder that the address may redirect to, without a final slash; '' for the root. */
  readonly folder: string | undefined;
}

/** Finds the place below a site; ignores empty segments as verifiers do. `urlPath`: decoded. */
export function siteAt(stores: Stores, urlPath: string): SitePlace | undefined {
  placePattern.lastIndex = 0;
  const [, id, rest = ''] = placePattern.exec(urlPath) ?? [];
  const bucket = id === undefined ? undefined : findSiteBucket(stores, id);
  if (bucket === undefined || !bucket.isPublic || !mayHaveSite(bucket)) return undefined;
  return { bucket, folder: urlPath.endsWith('/') ? undefined : folderOf(rest) };
}

/** Captures the bucket, and the rest, which is read only if it may be a path. */
const placePattern = /\/*cloud\/+([^/]+)(\/.*)?$/sy;

function folderOf(rest: string): string | undefined {
  if (rest.length > 2 * filePathBytesMax) return undefined;
  return singleSlashes(rest).slice(1);
}

/** Returns the 404 page of a site. Refuses with IntegrityError if 404.html is damaged. */
export function pageOf(stores: Stores, { bucket }: SitePlace): SiteAnswer | undefined {
  const page = findPage(stores, bucket);
  if (page === undefined) return undefined;
  return withOpenFile(stores, { bucket, path: page.path }, (opened) => {
    const body = readFile(stores, opened, { start: 0, end: opened.file.size });
    return { ...faceOf(opened.file), body };
  });
}

/** Returns the site's 404 page without its body, by reading only its record. */
export function pageFace(stores: Stores, { bucket }: SitePlace): SiteAnswer | undefined {
  const page = findPage(stores, bucket);
  return page && faceOf(page);
}

function faceOf(file: FileRecord): SiteAnswer {
  return { ...pageHead(file), body: emptyBytes, bodyDigest: file.digest };
}

/** Returns 404 and the headers of the file, except those for caching and revalidation. */
export function pageHead(file: PublishedFile | FileRecord): Head {
  const { validators, representation } = servedHeaders(file);
  const shown = [...validators, ...representation].filter(([name]) => !unshown.has(name));
  return { status: 404, headers: [...shown, uncached] };
}

const unshown: ReadonlySet<string> = new Set([
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Accept-Ranges',
]);

/** Returns the redirect to a site's folder that has an index.html, if no file has the address. */
export function redirectOf(stores: Stores, place: SitePlace): SiteAnswer | undefined {
  const { bucket, folder } = place;
  if (folder === undefined || findIndex(stores, bucket, folder) === undefined) return undefined;
  return redirectTo({ bucketId: bucket.id, folder });
}

/** The location is relative, to work at every origin; `./` allows colons in the name. */
export function redirectTo(to: { readonly bucketId: string; readonly folder: string }): SiteAnswer {
  const { bucketId, folder } = to;
  const name = present((folder === '' ? bucketId : folder).split('/').at(-1), 'name of a folder');
  return {
    status: 308,
    headers: [
      ['Location', `./${encodeURIComponent(name)}/`],
      ['Cache-Control', 'public, max-age=300'],
    ],
    body: emptyBytes,
  };
}
