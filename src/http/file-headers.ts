// The header fields of a file's representation, from its record alone: what a GET answers and what
// is certified ahead are the same.

import { entityTag, type ShownFile } from '../domain/file-view.ts';
import type { PublishedFile } from '../domain/publication.ts';
import type { Header } from './message.ts';
import { formatHttpDate } from './preconditions.ts';

const defaultCacheControl = 'public, max-age=3600';

type Validated = Pick<ShownFile, 'chunkCount' | 'digest' | 'updatedAtNs'> &
  Pick<PublishedFile, 'cacheControl'>;

/** What a 304 repeats of a 200 (RFC 9110 §15.4.5). */
export function validatorHeaders(file: Validated): Header[] {
  return [
    ['ETag', entityTag(file)],
    ['Last-Modified', formatHttpDate(file.updatedAtNs)],
    ['Cache-Control', file.cacheControl || defaultCacheControl],
  ];
}

/** What a 200 and a 206 have beside the validators. */
export function representationHeaders(file: PublishedFile): Header[] {
  const headers: Header[] = [
    ['Content-Type', file.contentType],
    ['Accept-Ranges', 'bytes'],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  for (const [name, value] of [
    ['Content-Disposition', file.contentDisposition],
    ['Content-Encoding', file.contentEncoding],
    ['Content-Language', file.contentLanguage],
  ] as const) {
    if (value !== '') headers.push([name, value]);
  }
  if (isActiveType(file.contentType)) {
    headers.push(['Content-Security-Policy', 'sandbox']);
  }
  return headers;
}

/** Types that run scripts in the origin that all buckets share. */
function isActiveType(contentType: string): boolean {
  return /^(?:text\/html|[^;]*(?:xml|xsl|svg|javascript|ecmascript))[ \t]*(?:;|$)/i.test(
    contentType,
  );
}
