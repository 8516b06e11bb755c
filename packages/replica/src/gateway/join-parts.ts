// Joins the parts of a large file. The first part was requested without Range, each next one with
// `Range: bytes=N-`, and it is verified with that header. HTTP gateway specification, 206
// responses.

import type { CanisterClient } from './canister-client.ts';
import type { ContentRange } from './content-range.ts';
import { parseContentRange } from './content-range.ts';
import { GatewayError } from './gateway-error.ts';
import type { HttpRequest } from './http-messages.ts';
import { headerValue } from './http-messages.ts';
import type { VerifiedAnswer, Verify } from './verifier.ts';

/** Maximum number of parts of one download, as in the network's gateways. */
const partsMax = 1_000;

export interface JoinInput {
  readonly request: HttpRequest;
  readonly canister: CanisterClient;
  readonly verify: Verify;
  readonly first: Uint8Array;
  /** The range of the first part, which begins at 0. */
  readonly range: ContentRange;
}

/**
 * Yields the parts in order; throws at the first that is missing, misplaced or not certified.
 * Buffers two parts: the next is fetched while one is sent to the client.
 */
export async function* joinParts(input: JoinInput): AsyncGenerator<Uint8Array> {
  const { total, end } = input.range;
  let part = input.first;
  let fetched = end + 1;
  for (let count = 1; fetched < total; count += 1) {
    if (count >= partsMax)
      throw new GatewayError('ResponseInvalid', `More than ${partsMax} parts.`);
    const next = fetchPart(input, fetched);
    // A failure is thrown by the `await` below; until then it must not count as unhandled.
    next.catch(() => {});
    yield part;
    part = await next;
    fetched += part.length;
  }
  yield part;
}

async function fetchPart(input: JoinInput, fetched: number): Promise<Uint8Array> {
  const range = ['Range', `bytes=${fetched}-`] as const;
  const request = { ...input.request, headers: [...input.request.headers, range] };
  const answer = await input.canister.query(request);
  if (answer.streaming !== undefined) throw badPart(fetched, 'it streams by callback');
  const { body } = await input.verify(request, answer);
  return newBytes({ headers: answer.headers, body }, { fetched, total: input.range.total });
}

/** Returns the bytes of a part that earlier parts do not contain. */
function newBytes(
  answer: VerifiedAnswer,
  progress: { readonly fetched: number; readonly total: number },
): Uint8Array {
  const { fetched, total } = progress;
  const range = parseContentRange(headerValue(answer.headers, 'content-range') ?? '');
  if (range === undefined) throw badPart(fetched, 'it has no valid Content-Range');
  if (range.begin > fetched || range.end < fetched || range.end >= total) {
    throw badPart(fetched, `it covers bytes ${range.begin}-${range.end}`);
  }
  if (answer.body.length !== range.end - range.begin + 1) {
    throw badPart(fetched, `it has ${answer.body.length} bytes for ${range.begin}-${range.end}`);
  }
  return answer.body.subarray(fetched - range.begin);
}

function badPart(fetched: number, reason: string): GatewayError {
  return new GatewayError('ResponseInvalid', `The part from byte ${fetched} is bad: ${reason}.`);
}
