// The range of a read (RFC 9110 §14): one, of bytes.

import { S3Error } from './s3-error.ts';

/** Half-open. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Undefined where there is none, or what is no range of bytes or several of them, for which S3
 * gives the whole. Throws InvalidRange for one that has no byte of the object.
 */
export function rangeOf(text: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return satisfiable({ start: Math.max(0, size - Number(last)), end: size });
  if (last !== '' && Number(last) < Number(first)) return undefined;
  const end = last === '' ? size : Math.min(size, Number(last) + 1);
  return satisfiable({ start: Number(first), end });
}

function satisfiable(range: ByteRange): ByteRange {
  if (range.start < range.end) return range;
  throw new S3Error('InvalidRange', 'The range has no byte of the object.');
}
