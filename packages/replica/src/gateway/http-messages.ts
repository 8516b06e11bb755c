// Requests and answers as the gateway's parts hand them to each other: header fields in order,
// bodies whole or as a stream of parts. Free of Node and of Candid.

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
  /** A stream ends with an error if a later part can't be trusted or fetched. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The first value of a header; `name` in lower case. */
export function headerValue(headers: readonly HeaderField[], name: string): string | undefined {
  return headers.find(([candidate]) => candidate.toLowerCase() === name)?.[1];
}

/** The fields without those named (lower case). */
export function withoutHeaders(
  headers: readonly HeaderField[],
  names: ReadonlySet<string>,
): HeaderField[] {
  return headers.filter(([name]) => !names.has(name.toLowerCase()));
}
