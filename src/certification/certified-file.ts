// The answers of one file that are certified in advance, for anybody. Their leaves, `expression
// hash / request hash / response hash / ""`, are computed from the file's record at commit and
// again when it is read (file-leaves.ts). A plain GET matches only the leaf of the whole answer,
// because a malicious node may choose among matching leaves.

import { present } from '../lib/assert.ts';
import { type ExpressionName, expressionField, expressions } from './expressions.ts';
import type { Field } from './representation-hash.ts';
import {
  type CertifiedThumbnail,
  type ThumbnailRow,
  thumbnailHeaders,
} from './thumbnail-leaves.ts';

export interface CertifiedFile {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Fields of a 200 that a 304 repeats; the first is the ETag. */
  readonly validators: readonly Field[];
  /** Further fields of a 200 and a 206, without lengths and ranges. */
  readonly headers: readonly Field[];
  readonly size: number;
  /** Length of every part except the last; a part is a chunk, the body of one answer. */
  readonly partSize: number;
  /** 0 for an empty file. */
  readonly partCount: number;
  /** Whether a gateway can join its parts; if not, no plain GET has a certified answer. */
  readonly isJoined: boolean;
  /** Absent: the file has none, or its thumbnail is not served at this address. */
  readonly thumbnail?: CertifiedThumbnail | undefined;
  /** Returns the SHA-256 of a part; part 0 exists also for an empty file. */
  partDigest(index: number): Uint8Array;
}

export type FileMethod = 'GET' | 'HEAD';

/** A certified answer, by its request. */
export type FileRow =
  /** GET: the only part, or the first of several. HEAD: no body. */
  | { readonly row: 'plain'; readonly method: FileMethod }
  /** `If-None-Match` is exactly this tag: the file's ETag or its weak form with `W/`. */
  | { readonly row: 'not-modified'; readonly method: FileMethod; readonly tag: string }
  /** GET with `Range: bytes=N-`, where N is the start of that part. */
  | { readonly row: 'part'; readonly index: number }
  | ThumbnailRow
  /** OPTIONS, whose answer is the same for every path. */
  | { readonly row: 'preflight' };

/** Rows whose answers are specific to the file. */
export type OwnRow = Exclude<FileRow, { readonly row: 'preflight' }>;

const expressionOfRow = {
  plain: 'plain',
  'not-modified': 'ifNoneMatch',
  part: 'range',
  thumbnail: 'picturedPlain',
  preflight: 'plain',
} as const satisfies Record<FileRow['row'], ExpressionName>;

const picturedExpressionOfRow = {
  ...expressionOfRow,
  plain: 'picturedPlain',
  'not-modified': 'picturedIfNoneMatch',
  part: 'picturedRange',
} as const satisfies Record<FileRow['row'], ExpressionName>;

export function rowExpression(
  { thumbnail }: Pick<CertifiedFile, 'thumbnail'>,
  { row }: FileRow,
): ExpressionName {
  return (thumbnail === undefined ? expressionOfRow : picturedExpressionOfRow)[row];
}

export function rowStatus(file: CertifiedFile, row: OwnRow): number {
  if (row.row === 'not-modified') return 304;
  if (row.row === 'thumbnail') return 200;
  const isPart = row.row === 'part' || (file.partCount > 1 && isWhole(row));
  return isPart ? 206 : 200;
}

function isWhole(row: OwnRow): boolean {
  return row.row === 'plain' && row.method === 'GET';
}

export function thumbnailOf({ thumbnail }: CertifiedFile): CertifiedThumbnail {
  return present(thumbnail, 'thumbnail of a file');
}

/** Returns all certified headers of the row's answer. */
export function rowHeaders(file: CertifiedFile, row: OwnRow): Field[] {
  if (row.row === 'thumbnail') return thumbnailHeaders(thumbnailOf(file), row);
  const others = row.row === 'not-modified' ? [] : file.headers;
  const expression: Field = [expressionField, expressions[rowExpression(file, row)]];
  return [...file.validators, ...others, expression, ...ownFields(file, row)];
}

/** Returns the length or range field of the row's answer. */
function ownFields(file: CertifiedFile, row: OwnRow): Field[] {
  if (row.row === 'part') return [contentRange(file, row.index)];
  if (row.row !== 'plain') return [];
  if (row.method === 'HEAD') return [['Content-Length', String(file.size)]];
  return file.partCount > 1 ? [contentRange(file, 0)] : [];
}

function contentRange(file: CertifiedFile, index: number): Field {
  const start = index * file.partSize;
  const end = Math.min(file.size, start + file.partSize);
  return ['Content-Range', `bytes ${start}-${end - 1}/${file.size}`];
}
