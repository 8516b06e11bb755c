// The answer of an operation, before it is written.

export interface Answer {
  readonly status: number;
  /** Undefined fields are omitted. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** XML, or the bytes of an object, whose length is in the headers. */
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
}

export function xmlAnswer(body: string, headers: Answer['headers'] = {}): Answer {
  return { status: 200, headers: { 'Content-Type': 'application/xml', ...headers }, body };
}
