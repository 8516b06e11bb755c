// The answers to everybody that are certified ahead for one file, and their leaves in the tree,
// `expression hash / request hash / response hash / ""`. An answer's leaf is made from the file's
// record when the file is committed and again when it is read, by the same functions. No leaf fits
// a plain GET but the one for the whole answer: a node that lies may choose among leaves.

import {
  type ExpressionName,
  expressionField,
  expressionPair,
  expressions,
} from './expressions.ts';
import { labeledTree, leafTree, type Tree } from './hash-tree.ts';
import {
  emptyBodyDigest,
  type Field,
  fieldPair,
  headerPairs,
  methodPair,
  type Pair,
  requestHash,
  responseHash,
  statusPair,
} from './representation-hash.ts';

export interface CertifiedFile {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** What a 304 repeats of a 200. */
  readonly validators: readonly Field[];
  /** What a 200 and a 206 have beside them, but for lengths and ranges. */
  readonly headers: readonly Field[];
  readonly size: number;
  /** Length of every part but the last; a part is what one answer holds. */
  readonly partSize: number;
  /** 0 for an empty file. */
  readonly partCount: number;
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
  | { readonly row: 'part'; readonly index: number };

const expressionOfRow = {
  plain: 'plain',
  'not-modified': 'ifNoneMatch',
  part: 'range',
} as const satisfies Record<FileRow['row'], ExpressionName>;

export function rowExpression(row: FileRow): ExpressionName {
  return expressionOfRow[row.row];
}

export function rowStatus(file: CertifiedFile, row: FileRow): number {
  if (row.row === 'not-modified') return 304;
  const isPart = row.row === 'part' || (file.partCount > 1 && isWhole(row));
  return isPart ? 206 : 200;
}

function isWhole(row: FileRow): boolean {
  return row.row === 'plain' && row.method === 'GET';
}

/** All certified headers of the row's answer. */
export function rowHeaders(file: CertifiedFile, row: FileRow): Field[] {
  const others = row.row === 'not-modified' ? [] : file.headers;
  const expression: Field = [expressionField, expressions[rowExpression(row)]];
  return [...file.validators, ...others, expression, ...ownFields(file, row)];
}

/** What the row's answer has beside what answers of its kind have. */
function ownFields(file: CertifiedFile, row: FileRow): Field[] {
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

/** With the headers that several answers share hashed. */
export interface HashedFile {
  readonly file: CertifiedFile;
  readonly validators: readonly Pair[];
  /** Of validators and headers. */
  readonly all: readonly Pair[];
}

export function hashFile(file: CertifiedFile): HashedFile {
  const validators = headerPairs(file.validators);
  return { file, validators, all: [...validators, ...headerPairs(file.headers)] };
}

/** Pairs of the row's response but for its own fields. */
function commonPairs({ file, validators, all }: HashedFile, row: FileRow): Pair[] {
  const common = row.row === 'not-modified' ? validators : all;
  return [...common, expressionPair(rowExpression(row)), statusPair(rowStatus(file, row))];
}

/** Of every part's response but for Content-Range. */
export function partPairs(hashed: HashedFile): Pair[] {
  return commonPairs(hashed, { row: 'part', index: 0 });
}

/** What the row's request hash leads to: `response hash / ""`, shown. */
export function responseTree(hashed: HashedFile, row: FileRow): Tree {
  const pairs = commonPairs(hashed, row);
  for (const [name, value] of ownFields(hashed.file, row)) {
    pairs.push(fieldPair([name.toLowerCase(), value]));
  }
  const label = responseHash(pairs, rowBodyDigest(hashed.file, row));
  return labeledTree({ label, tree: leafTree(true) });
}

function rowBodyDigest(file: CertifiedFile, row: FileRow): Uint8Array {
  if (row.row === 'part') return file.partDigest(row.index);
  return isWhole(row) ? file.partDigest(0) : emptyBodyDigest();
}

/** The request hash that labels the row's leaf. */
export function rowLabel(file: CertifiedFile, row: FileRow): Uint8Array {
  switch (row.row) {
    case 'plain':
      return plainLabel(row.method);
    case 'not-modified':
      return requestHash([methodPair(row.method), fieldPair(['if-none-match', row.tag])]);
    case 'part': {
      const range = fieldPair(['range', `bytes=${row.index * file.partSize}-`]);
      return requestHash([methodPair('GET'), range]);
    }
  }
}

/** Of the four requests that are answered 304. */
export function notModifiedLabels({ etag }: CertifiedFile): Uint8Array[] {
  return [etag, `W/${etag}`].flatMap((tag) => {
    const tagPair = fieldPair(['if-none-match', tag]);
    return [requestHash([methodPair('GET'), tagPair]), requestHash([methodPair('HEAD'), tagPair])];
  });
}

const plainLabels = new Map<string, Uint8Array>();

/** The request hash of a request whose method alone counts. */
export function plainLabel(method: string): Uint8Array {
  return plainLabels.get(method) ?? requestHash([methodPair(method)]);
}

/** Keeps them for all later messages. */
export function rememberPlainLabels(): void {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    plainLabels.set(method, plainLabel(method));
  }
}
