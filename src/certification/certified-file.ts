// The answers to everybody that are certified ahead for one file. Their leaves,
// `expression hash / request hash / response hash / ""`, are made of the file's record when it is
// committed and again when it is read (file-leaves.ts). No leaf fits a plain GET but the one for
// the whole answer: a node that lies may choose among leaves.

import { type ExpressionName, expressionField, expressions } from './expressions.ts';
import type { Field } from './representation-hash.ts';

export interface CertifiedFile {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Fields of a 200 that a 304 repeats; the first is the ETag. */
  readonly validators: readonly Field[];
  /** Further fields of a 200 and a 206, without lengths and ranges. */
  readonly headers: readonly Field[];
  readonly size: number;
  /** Length of every part but the last; a part is what one answer holds. */
  readonly partSize: number;
  /** 0 for an empty file. */
  readonly partCount: number;
  /** Whether a gateway can join its parts: without it no plain GET has a certified answer. */
  readonly isJoined: boolean;
  /** SHA-256 of the bytes of that part; of part 0 also when the file is empty. */
  partDigest(index: number): Uint8Array;
}

export type FileMethod = 'GET' | 'HEAD';

/** A certified answer, by what is asked. */
export type FileRow =
  /** GET: the only part, or the first of several. HEAD: no body. */
  | { readonly row: 'plain'; readonly method: FileMethod }
  /** To `If-None-Match` of just this tag, the file's own or that with `W/`. */
  | { readonly row: 'not-modified'; readonly method: FileMethod; readonly tag: string }
  /** GET with `Range: bytes=N-`, N being where that part starts. */
  | { readonly row: 'part'; readonly index: number }
  /** OPTIONS, answered at each file as everywhere. */
  | { readonly row: 'preflight' };

/** Those with an answer of the file's own. */
export type OwnRow = Exclude<FileRow, { readonly row: 'preflight' }>;

const expressionOfRow = {
  plain: 'plain',
  'not-modified': 'ifNoneMatch',
  part: 'range',
  preflight: 'plain',
} as const satisfies Record<FileRow['row'], ExpressionName>;

export function rowExpression(row: FileRow): ExpressionName {
  return expressionOfRow[row.row];
}

export function rowStatus(file: CertifiedFile, row: OwnRow): number {
  if (row.row === 'not-modified') return 304;
  const isPart = row.row === 'part' || (file.partCount > 1 && isWhole(row));
  return isPart ? 206 : 200;
}

function isWhole(row: OwnRow): boolean {
  return row.row === 'plain' && row.method === 'GET';
}

/** All certified headers of the row's answer. */
export function rowHeaders(file: CertifiedFile, row: OwnRow): Field[] {
  const others = row.row === 'not-modified' ? [] : file.headers;
  const expression: Field = [expressionField, expressions[rowExpression(row)]];
  return [...file.validators, ...others, expression, ...ownFields(file, row)];
}

/** Returns the fields of the row's answer that others of its kind lack. */
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
