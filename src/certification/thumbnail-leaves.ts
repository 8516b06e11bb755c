// The leaves of a file's thumbnail, at the file's own address with the parameter `thumbnail`. They
// and all other leaves of such a file certify this parameter, so a request with it matches only the
// thumbnail's, and one without it only the file's. The answer to `If-None-Match` is the picture.

import { concatBytes } from '../lib/bytes.ts';
import { expressionField, expressions } from './expressions.ts';
import {
  emptyBodyDigest,
  type Field,
  fieldPair,
  messageHash,
  methodPair,
} from './representation-hash.ts';

export interface CertifiedThumbnail {
  /** All header fields of its 200, without the length; the first is the ETag. */
  readonly headers: readonly Field[];
  readonly size: number;
  /** Returns the SHA-256 of the picture. */
  digest(): Uint8Array;
}

/** The forms of the parameter with a certified answer: as people write it, and as libraries do. */
const thumbnailQueries = ['thumbnail', 'thumbnail='] as const;

/** The request whose only parameter `thumbnail`, besides any others, has this form. */
export interface ThumbnailRow {
  readonly row: 'thumbnail';
  readonly method: 'GET' | 'HEAD';
  readonly query: (typeof thumbnailQueries)[number];
}

/** Returns all certified headers of its answer. */
export function thumbnailHeaders(
  { headers, size }: CertifiedThumbnail,
  { method }: ThumbnailRow,
): Field[] {
  const expression: Field = [expressionField, expressions.picturedPlain];
  const length: Field = ['Content-Length', String(size)];
  return [...headers, expression, ...(method === 'HEAD' ? [length] : [])];
}

const labels = new Map<string, Uint8Array>();

/** Returns the label of the request. */
export function thumbnailLabel({ method, query }: Omit<ThumbnailRow, 'row'>): Uint8Array {
  const asked = [methodPair(method), fieldPair([':ic-cert-query', query])];
  return labels.get(`${method} ${query}`) ?? messageHash(asked, emptyBodyDigest());
}

/** Computes the labels once for all later messages, because queries discard computed values. */
export function rememberThumbnailLabels(): void {
  for (const method of ['GET', 'HEAD'] as const) {
    for (const query of thumbnailQueries) {
      labels.set(`${method} ${query}`, thumbnailLabel({ method, query }));
    }
  }
}

/** Returns label and hash of each leaf. `get`, `head`: the hashes of the trees below the labels. */
export function thumbnailLeaves(get: Uint8Array, head: Uint8Array): Uint8Array {
  return concatBytes(
    ...thumbnailQueries.flatMap((query) => [
      ...[thumbnailLabel({ method: 'GET', query }), get],
      ...[thumbnailLabel({ method: 'HEAD', query }), head],
    ]),
  );
}
