// The gateway protocol for one request to one canister: query, upgrade to an update, streaming,
// verification, joining of parts. HTTP gateway specification; no sockets here.

import type { CanisterAnswer } from './candid-messages.ts';
import type { CanisterClient } from './canister-client.ts';
import type { StreamedAnswer } from './collect-streaming.ts';
import { collectStreaming } from './collect-streaming.ts';
import { parseContentRange } from './content-range.ts';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpAnswer, HttpRequest } from './http-messages.ts';
import { headerValue, withoutHeaders } from './http-messages.ts';
import { joinParts } from './join-parts.ts';
import type { Verify } from './verify-answer.ts';
import { verifyAnswer } from './verify-answer.ts';

export interface AnswerContext {
  readonly canister: CanisterClient;
  /** Answers pass unverified (a `raw` host). */
  readonly isRaw: boolean;
  /** DER. */
  readonly rootKey: Uint8Array;
  nowNs(): bigint;
}

/** Throws a GatewayError if the canister can't be reached or its answer can't be passed on. */
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
  const headers = passableHeaders({
    request,
    answer,
    streamed,
    verify,
    isUpgraded: first.isUpgrade,
  });
  if (answer.status === 206 && !asksForRange(request)) {
    return joined({ request, headers, streamed, answer, context, verify });
  }
  return { status: passableStatus(answer.status), headers, body: streamed.body };
}

/** What the canister gets to see: no internal header, and `identity` always acceptable. */
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
  if (context.isRaw) return (_, answer) => answer.headers;
  const { canister, rootKey } = context;
  return (request, answer) =>
    verifyAnswer({
      request,
      answer,
      canisterId: canister.canisterId,
      rootKey,
      nowNs: context.nowNs(),
    });
}

/** An upgraded answer is trusted by consensus; one streamed beyond what can be collected passes
 * unverified, as on the network. */
function passableHeaders(input: {
  readonly request: HttpRequest;
  readonly answer: CanisterAnswer;
  readonly streamed: StreamedAnswer;
  readonly verify: Verify;
  readonly isUpgraded: boolean;
}): readonly HeaderField[] {
  const { answer, streamed } = input;
  if (input.isUpgraded || !streamed.isWhole) return answer.headers;
  return input.verify(input.request, { ...answer, body: streamed.body });
}

function asksForRange(request: HttpRequest): boolean {
  return request.headers.some(([name]) => name === 'range' || name === 'if-range');
}

/** The first of several parts: the client gets one 200 of the whole. */
function joined(input: {
  readonly request: HttpRequest;
  readonly headers: readonly HeaderField[];
  readonly streamed: StreamedAnswer;
  readonly answer: CanisterAnswer;
  readonly context: AnswerContext;
  readonly verify: Verify;
}): HttpAnswer {
  const { request, streamed, answer } = input;
  const range = parseContentRange(headerValue(answer.headers, 'content-range') ?? '');
  if (!streamed.isWhole || range === undefined || range.begin !== 0) {
    throw new GatewayError(
      'ResponseInvalid',
      "The canister's 206 answer to a request without Range is no first part of a whole.",
    );
  }
  const headers = withoutHeaders(input.headers, new Set(['content-range', 'content-length']));
  headers.push(['content-length', String(range.total)]);
  if (request.method === 'HEAD') return { status: 200, headers, body: new Uint8Array(0) };
  if (streamed.body.length !== range.end + 1) {
    throw new GatewayError('ResponseInvalid', 'The first part is not as long as it says.');
  }
  const { canister } = input.context;
  const body = joinParts({ request, canister, verify: input.verify, first: streamed.body, range });
  return { status: 200, headers, body };
}

/** 1xx is no final answer, and what HTTP has no number for can't be sent. */
function passableStatus(status: number): number {
  if (status >= 200 && status <= 599) return status;
  throw new GatewayError('ResponseInvalid', `The canister answered with status ${status}.`);
}
