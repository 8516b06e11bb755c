// Thumbnails at the addresses of their files: `/cloud/{bucket}/{path}?thumbnail`.

import type { OpenFile } from '../domain/files/file-records.ts';
import { pictureOf } from '../domain/files/thumbnails.ts';
import { matchesTag } from '../domain/shared/preconditions.ts';
import { present } from '../lib/assert.ts';
import { emptyBytes } from '../lib/bytes.ts';
import type { Exchange } from './exchange.ts';
import {
  type HttpRequest,
  type HttpResponse,
  header,
  type ServedHeaders,
  type ThumbnailQuery,
} from './message.ts';

/**
 * Returns the form of the parameter `thumbnail`, read as by verifiers: not decoded, and its name in
 * upper or lower case. 'other': one with a value, or several. `undefined`: the query has none.
 */
export function thumbnailQuery({ url }: HttpRequest): ThumbnailQuery | 'other' | undefined {
  const start = url.indexOf('?');
  if (start === -1) return undefined;
  const [withoutFragment = ''] = url.split('#', 1);
  const query = withoutFragment.slice(start + 1);
  const named = query.split('&').filter((part) => namePattern.test(part));
  const [first] = named;
  if (first === undefined) return undefined;
  const isProved = first === 'thumbnail' || first === 'thumbnail=';
  return isProved && named.length === 1 ? first : 'other';
}

/** Fields that a 304 lacks. */
const typePattern = /content-type/i;
const namePattern = /^thumbnail(?:=|$)/i;

/**
 * Answers with the thumbnail, or refuses with NoSuchFile. `isCertified`: whether a leaf proves the
 * answer, which is then the same for every `If-None-Match`.
 */
export function thumbnailResponse(
  { stores, request }: Exchange,
  opened: OpenFile & { readonly served: ServedHeaders },
  isCertified: boolean,
): HttpResponse {
  const { bytes } = pictureOf(stores, opened);
  const { headers } = present(opened.served.thumbnail, 'thumbnail');
  const [, etag = ''] = headers[0] ?? [];
  const ifNoneMatch = isCertified ? undefined : header(request, 'if-none-match');
  if (ifNoneMatch !== undefined && matchesTag(ifNoneMatch, etag, 'weak')) {
    const kept = headers.filter(([name]) => !typePattern.test(name));
    return { status: 304, headers: kept, body: emptyBytes };
  }
  if (request.method !== 'HEAD') return { status: 200, headers, body: bytes };
  const length = ['Content-Length', String(bytes.length)] as const;
  return { status: 200, headers: [...headers, length], body: emptyBytes };
}
