// The gateway protocol for one request to one canister: query, upgrade to an update, streaming,
// verification, joining of parts. HTTP gateway specification; no sockets here.

import type { CanisterClient } from './canister-client.ts';
import { collectStreaming } from './collect-streaming.ts';
import { type ContentRange, parseContentRange } from './content-range.ts';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpAnswer, HttpRequest } from './http-messages.ts';
import { headerValue, withoutHeaders } from './http-messages.ts';
import { joinParts } from './join-parts.ts';
import type { Verify } from './verifier.ts';
import { verifyBeside } from './verifier.ts';

export interface AnswerContext {
  readonly canister: CanisterClient;
  /** Whether responses pass unverified (a `raw` host). */
  readonly isRaw: boolean;
  /** DER. */
  readonly rootKey: Uint8Array;
  nowNs(): bigint;
}

/** Throws a GatewayError if the canister cannot be reached or its answer cannot be forwarded. */
export async function answerRequest(
  request: HttpRequest,
  context: AnswerContext,
): Promise<HttpAnswer> {
  const { canister } = context;
  const forwarded = forwardedRequest(request);
  const first = await canister.query(forwarded);
  const answer = first.isUpgrade ? await canister.update(forwarded) : first;
  const streamed = await collectStreaming(answer, canister);
  const verify = verifierOf(context);
  // Consensus vouches for updates. A stream that is too long to collect passes unverified.
  const passed =
    first.isUpgrade || !streamed.isWhole
      ? { headers: answer.headers, body: streamed.body }
      : await verify(request, { ...answer, body: streamed.body });
  if (answer.status === 206 && !asksForRange(request)) {
    const range = parseContentRange(headerValue(answer.headers, 'content-range') ?? '');
    return joined({ request, passed, range, canister, verify });
  }
  const status = passableStatus(answer.status);
  const isDeclared = headerValue(passed.headers, 'content-length') !== undefined;
  const { body } = passed;
  // The gateway keeps the declared Content-Length of a body that arrives in several messages.
  const isHeld = answer.streaming !== undefined && isDeclared && body instanceof Uint8Array;
  return { status, headers: passed.headers, body: isHeld ? onePiece(body) : body };
}

async function* onePiece(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** Returns the request for the canister: without internal headers, and accepting `identity`. */
function forwardedRequest(request: HttpRequest): HttpRequest {
  const headers = withoutHeaders(request.headers, new Set(['x-request-id']));
  return { ...request, headers: headers.map(withIdentityEncoding) };
}

function withIdentityEncoding([name, value]: HeaderField): HeaderField {
  if (name !== 'accept-encoding') return [name, value];
  const encodings = value.split(',').map((encoding) => encoding.trim());
  if (!encodings.some((encoding) => encoding.toLowerCase() === 'identity')) {
    encodings.push('identity');
  }
  return [name, encodings.join(', ')];
}

function verifierOf(context: AnswerContext): Verify {
  if (context.isRaw) return async (_, { headers, body }) => ({ headers, body });
  const { canister, rootKey } = context;
  return (request, answer) =>
    verifyBeside({
      request,
      answer,
      canisterId: canister.canisterId,
      rootKey,
      nowNs: context.nowNs(),
    });
}

function asksForRange(request: HttpRequest): boolean {
  return request.headers.some(([name]) => name === 'range' || name === 'if-range');
}

function joined(input: {
  readonly request: HttpRequest;
  readonly passed: Pick<HttpAnswer, 'headers' | 'body'>;
  readonly range: ContentRange | undefined;
  readonly canister: CanisterClient;
  readonly verify: Verify;
}): HttpAnswer {
  const { request, range, canister, verify } = input;
  const { body: first } = input.passed;
  if (!(first instanceof Uint8Array) || range === undefined || range.begin !== 0) {
    throw new GatewayError(
      'ResponseInvalid',
      "The canister's 206 answer to a request without Range is not the first part of a file.",
    );
  }
  const headers = withoutHeaders(
    input.passed.headers,
    new Set(['content-range', 'content-length']),
  );
  headers.push(['content-length', String(range.total)]);
  if (request.method === 'HEAD') return { status: 200, headers, body: new Uint8Array(0) };
  if (first.length !== range.end + 1) {
    throw new GatewayError(
      'ResponseInvalid',
      'The length of the first part does not match its Content-Range.',
    );
  }
  return { status: 200, headers, body: joinParts({ request, canister, verify, first, range }) };
}

/** A status of 1xx is not final, and HTTP cannot represent other numbers. */
function passableStatus(status: number): number {
  if (status >= 200 && status <= 599) return status;
  throw new GatewayError('ResponseInvalid', `The canister answered with status ${status}.`);
}
