// Calls one canister's HTTP interface for the gateway: anonymous queries and updates within the
// network's size limits. Converts rejects to the gateway's errors.

import { Principal } from '@dfinity/principal';
import type { CallMessage, Engine, Outcome, Reject } from '../core.ts';
import type { CanisterAnswer, StreamedPart, StreamingCallback } from './candid-messages.ts';
import {
  decodeAnswer,
  decodeStreamedPart,
  encodeQueryRequest,
  encodeUpdateRequest,
} from './candid-messages.ts';
import type { EnvelopeShape } from './envelope-size.ts';
import {
  envelopeBytes,
  ingressEnvelopeBytesMax,
  queryEnvelopeBytesMax,
  queryResponseBytes,
  queryResponseBytesMax,
} from './envelope-size.ts';
import { GatewayError, replicaFailed } from './gateway-error.ts';
import type { HttpRequest } from './http-messages.ts';

export type GatewayEngine = Pick<
  Engine,
  'now' | 'canister' | 'canisters' | 'checkIngress' | 'update' | 'query'
>;

export interface CanisterClient {
  readonly canisterId: Principal;
  query(request: HttpRequest): Promise<CanisterAnswer>;
  update(request: HttpRequest): Promise<CanisterAnswer>;
  nextPart(callback: StreamingCallback): Promise<StreamedPart>;
}

/** IC spec, "Reject codes". */
const systemTransient = 2;
const destinationInvalid = 3;
const canisterReject = 4;
const canisterError = 5;

export function createCanisterClient(engine: GatewayEngine, canisterId: Principal): CanisterClient {
  const query = async (target: Principal, method: string, arg: Uint8Array) => {
    const message = messageTo(target, method, arg);
    checkEnvelope('query', message);
    const reply = replyOf(await engine.query(message), message);
    checkQueryReply(reply, message);
    return reply;
  };
  return {
    canisterId,
    query: async (request) =>
      decoded(decodeAnswer, await query(canisterId, 'http_request', encodeQueryRequest(request))),
    update: async (request) => {
      const message = messageTo(canisterId, 'http_request_update', encodeUpdateRequest(request));
      checkEnvelope('call', message);
      const refusal = await engine.checkIngress(message);
      if (refusal !== undefined) throw rejection(refusal, message);
      return decoded(decodeAnswer, replyOf(await engine.update(message), message));
    },
    nextPart: async ({ canisterId: target, method, token }) =>
      decoded(decodeStreamedPart, await query(target, method, token)),
  };
}

function messageTo(canisterId: Principal, method: string, arg: Uint8Array): CallMessage {
  return { sender: Principal.anonymous(), canisterId, method, arg };
}

/** A replica refuses envelopes that are too large by 413, which the gateway does not pass on. */
function checkEnvelope(kind: EnvelopeShape['kind'], message: CallMessage): void {
  const { canisterId, method, arg } = message;
  const canisterIdBytes = canisterId.toUint8Array().length;
  const size = envelopeBytes({ kind, method, canisterIdBytes, argBytes: arg.length });
  const limit = kind === 'call' ? ingressEnvelopeBytesMax : queryEnvelopeBytesMax;
  if (size <= limit) return;
  const text =
    kind === 'call'
      ? `Request to ${method} is too large. Message byte size ${size} is larger than the max ` +
        `allowed ${limit}.`
      : `The request body of ${size} bytes is larger than the max allowed ${limit}.`;
  throw replicaFailed(413, text);
}

function checkQueryReply(reply: Uint8Array, message: CallMessage): void {
  const size = queryResponseBytes(reply.length);
  if (size <= queryResponseBytesMax) return;
  throw new GatewayError(
    'ResponseTooLarge',
    `The canister's answer to ${message.method} takes ${size} bytes with its signature ` +
      `and a gateway accepts ${queryResponseBytesMax}.`,
  );
}

function replyOf(outcome: Outcome, message: CallMessage): Uint8Array {
  if (outcome.status === 'rejected') throw rejection(outcome, message);
  return outcome.arg;
}

function rejection(reject: Reject, message: CallMessage): GatewayError {
  const target = message.canisterId.toText();
  const cause = causeOf(reject);
  // ic-gateway: the details of a canister's error are the reject message alone.
  if (cause === 'canister_error') {
    return new GatewayError('CanisterRejected', reject.message, cause);
  }
  const reason = `${reject.message} (${reject.errorCode}, reject code ${reject.code})`;
  if (reject.code === destinationInvalid) {
    return new GatewayError('CanisterNotFound', `Canister ${target} can't be reached: ${reason}`);
  }
  const what = `Canister ${target} rejected ${message.method}`;
  return new GatewayError('CanisterRejected', `${what}: ${reason}`, cause);
}

/** Returns ic-gateway's name of a reject, by its code, or for a frozen canister by its text. */
function causeOf({ code, message }: Reject): string {
  if (code === canisterReject) return 'canister_reject';
  if (code === canisterError) return 'canister_error';
  return code === systemTransient && message.includes('frozen')
    ? 'canister_frozen'
    : 'backend_other';
}

function decoded<T>(decode: (reply: Uint8Array) => T, reply: Uint8Array): T {
  try {
    return decode(reply);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError(
      'ResponseInvalid',
      `The canister's answer is not an HttpResponse: ${reason}`,
    );
  }
}
