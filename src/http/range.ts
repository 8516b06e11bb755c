// Range requests of RFC 9110 §14, as pure functions over header text and sizes.

export type RangeRequest =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

const whole: RangeRequest = { kind: 'whole' };

/**
 * What `Range: header` asks of a representation of `size` bytes, as a half-open interval. A unit
 * other than bytes, a malformed value and several ranges count as absent (RFC 9110 §14.2: a server
 * may ignore the field).
 */
export function parseRange(header: string | undefined, size: number): RangeRequest {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) {
    return whole;
  }
  return first === '' ? suffixRange(Number(last), size) : fromFirst(Number(first), last, size);
}

/** `-N`: the last N bytes; longer than the representation means all of it (RFC 9110 §14.1.2). */
function suffixRange(length: number, size: number): RangeRequest {
  if (length === 0 || size === 0) {
    return { kind: 'unsatisfiable' };
  }
  return { kind: 'part', start: Math.max(0, size - length), end: size };
}

function fromFirst(start: number, lastText: string, size: number): RangeRequest {
  const last = lastText === '' ? Number.POSITIVE_INFINITY : Number(lastText);
  if (last < start) {
    return whole; // RFC 9110 §14.1.1: such an int-range is invalid, so the field is ignored
  }
  if (start >= size) {
    return { kind: 'unsatisfiable' };
  }
  return { kind: 'part', start, end: Math.min(last + 1, size) };
}

/** `end` is exclusive, as everywhere inside; the header's is inclusive. */
export function contentRange(start: number, end: number, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`;
}
