// Range requests of RFC 9110 §14, as pure functions over header text and sizes.

export type RangeRequest =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

const whole: RangeRequest = { kind: 'whole' };

/**
 * Parses a `Range` header for a representation of `size` bytes into a half-open interval. Treats
 * other units than bytes, malformed values and several ranges as absent (RFC 9110 §14.2: a server
 * may ignore the field), and ignores empty elements of the list (§5.6.1.2).
 */
export function parseRange(header: string | undefined, size: number): RangeRequest {
  const spec = soleRange(header ?? '');
  const dash = spec.indexOf('-');
  const first = spec.slice(0, Math.max(dash, 0));
  const last = spec.slice(dash + 1);
  if (dash < 0 || !isPosition(first) || !isPosition(last) || (first === '' && last === '')) {
    return whole;
  }
  return first === '' ? suffixRange(Number(last), size) : fromFirst(Number(first), last, size);
}

/** Returns the only element of a list of byte ranges; '' for anything else. */
function soleRange(header: string): string {
  const equals = header.indexOf('=');
  if (header.slice(0, equals).toLowerCase() !== 'bytes') {
    return '';
  }
  const list = header.slice(equals + 1);
  // An element may only have spaces and tabs around it (RFC 9110 §5.6.3).
  if (/[^\t -~]/.test(list)) {
    return '';
  }
  const elements = list.includes(',') ? list.split(',') : [list];
  const ranges = elements.map((element) => element.trim()).filter((element) => element !== '');
  return ranges.length === 1 ? (ranges[0] ?? '') : '';
}

/** Accepts decimal digits and the empty text. */
function isPosition(text: string): boolean {
  return /^[0-9]*$/.test(text);
}

/** `-N`: the last N bytes, or all if the size is smaller (RFC 9110 §14.1.2). */
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

/** `end` is exclusive, as everywhere in the code; the header's is inclusive. */
export function contentRange(start: number, end: number, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`;
}
