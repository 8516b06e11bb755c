// The body of a request: its bytes without framing as they arrive, compared with the declared ones.

import type { SignedRequest } from '../signature/signed-request.ts';
import type { Payload } from '../signature/verify.ts';
import { BodyCheck, type Digests } from './body-check.ts';
import { decodeChunks, type Trailer } from './chunked-body.ts';
import { type Expected, readExpected } from './expected-digests.ts';

export interface Body {
  readonly length: number;
  /**
   * Can be read once. If bytes are wrong, throws S3Error before the last byte; none may be stored.
   */
  readonly stream: AsyncIterable<Uint8Array>;
  /** Must be called after the last byte of the stream. */
  digests(): Digests;
}

/** Does not read the body yet. Throws S3Error for invalid headers. */
export function openBody(
  request: SignedRequest,
  incoming: AsyncIterable<Uint8Array>,
  payload: Payload,
): Body {
  const expected = readExpected(request, payload);
  const source = payload.kind === 'chunked' ? decodeChunks(incoming, payload) : plain(incoming);
  let digests: Digests | undefined;
  return {
    length: expected.length,
    stream: checked(source, expected, (found) => {
      digests = found;
    }),
    digests() {
      if (digests === undefined)
        throw new Error('The digests of a body are known only at its end.');
      return digests;
    },
  };
}

async function* plain(incoming: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, Trailer> {
  yield* incoming;
  return new Map();
}

/** Yields the last chunk only after all checks, because readers may stop at the last byte. */
async function* checked(
  source: AsyncGenerator<Uint8Array, Trailer>,
  expected: Expected,
  onDigests: (digests: Digests) => void,
): AsyncGenerator<Uint8Array> {
  const check = await BodyCheck.begin(expected);
  let held: Uint8Array = new Uint8Array();
  try {
    for (;;) {
      const next = await source.next();
      if (next.done) {
        onDigests(check.finish(next.value));
        break;
      }
      check.update(next.value);
      if (next.value.length === 0) continue;
      if (held.length > 0) yield held;
      held = next.value;
    }
    if (held.length > 0) yield held;
  } finally {
    await source.return(new Map());
  }
}
