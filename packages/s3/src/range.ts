// The range of a read (RFC 9110 §14): a single range of bytes.

import { S3Error } from './s3-error.ts';

/** Includes `start`, excludes `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the requested range of bytes, or undefined if the header is absent, malformed or names
 * several ranges: S3 then sends the whole object. Throws InvalidRange for a range beyond the
 * object's end.
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
