// `Content-Range: bytes BEGIN-END/TOTAL`, by which the gateway joins parts. RFC 9110 §14.4; parts
// with an unknown total (`*`) or an unsatisfied range cannot be joined.

export interface ContentRange {
  readonly begin: number;
  /** Inclusive, as in the header. */
  readonly end: number;
  readonly total: number;
}

/** Returns undefined if the value is malformed or contradictory. */
export function parseContentRange(value: string): ContentRange | undefined {
  const match = /^\s*bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})\s*$/.exec(value);
  if (match === null) return undefined;
  const [begin, end, total] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return begin <= end && end < total ? { begin, end, total } : undefined;
}
