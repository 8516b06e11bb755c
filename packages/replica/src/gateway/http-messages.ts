// Requests and responses within the gateway: header fields in order, and bodies, complete or as a
// stream. Independent of Node and of Candid.

export type HeaderField = readonly [name: string, value: string];

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** Names in lower case, values visible ASCII. */
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  /** A stream ends with an error if a later part cannot be verified or fetched. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Returns the first value of a header; `name` in lower case. */
export function headerValue(headers: readonly HeaderField[], name: string): string | undefined {
  return headers.find(([candidate]) => candidate.toLowerCase() === name)?.[1];
}

/** Returns the fields except the named ones (lower case). */
export function withoutHeaders(
  headers: readonly HeaderField[],
  names: ReadonlySet<string>,
): HeaderField[] {
  return headers.filter(([name]) => !names.has(name.toLowerCase()));
}

/** ic-gateway adds it to every answer (`headers.rs`); browsers ignore it without TLS. */
export const strictTransport: HeaderField = [
  'strict-transport-security',
  'max-age=31536000; includeSubDomains',
];
