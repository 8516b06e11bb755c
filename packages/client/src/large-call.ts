// An update call with an argument of megabytes, past the agent's own encoder. Its answer is taken
// from the certificate without checking the signature of the network, which takes more time than
// all the rest: who relies on it must check the whole in the end, as an upload does by its entity
// tag after a completion that is verified.

import {
  Cbor,
  Certificate,
  type HttpAgent,
  lookupResultToBuffer,
  pollForResponse,
  type RequestId,
  type SignIdentity,
} from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import type { BufferPool } from './buffer-pool.ts';
import { sealCall } from './call-envelope.ts';
import type { Result } from './candid-types.ts';
import type { Fetch } from './http-exchange.ts';
import { rejectedError, StorageError } from './storage-error.ts';
import type { StorageIdentity } from './storage-identity.ts';
import { isTransientReject } from './transient-reject.ts';

export interface LargeCaller {
  readonly agent: HttpAgent;
  readonly canisterId: string;
  readonly fetch: Fetch;
  readonly buffers: BufferPool;
  /** Undefined for the anonymous one. */
  readonly identity: SignIdentity | undefined;
}

/** Delegations, and whatever else puts more into an envelope, go by the agent. */
export function canSignLargeCalls(identity: StorageIdentity | undefined): boolean {
  if (identity === undefined) return true;
  return 'sign' in identity && 'getPublicKey' in identity && !('getDelegation' in identity);
}

export interface LargeCallRequest {
  readonly method: string;
  readonly argumentStart: Uint8Array;
  readonly blob: Uint8Array;
  /** Of the Candid answer. */
  readonly resultType: IDL.Type;
}

const expiryMs = 4 * 60_000;
const anySignature = async () => true;

export async function callWithBlob<T>(
  caller: LargeCaller,
  request: LargeCallRequest,
): Promise<Result<T>> {
  const { agent, identity } = caller;
  const canisterId = Principal.fromText(caller.canisterId);
  const now = Date.now() + agent.getTimeDiffMsecs();
  const expiryNs = BigInt(now + expiryMs) * 1_000_000n;
  const { method, argumentStart, blob } = request;
  const call = { canisterId, method, argumentStart, blob, expiryNs, identity };
  let buffer: Uint8Array = new Uint8Array(0);
  const { body, requestId } = await sealCall(call, (length) => {
    buffer = caller.buffers.take(length);
    return buffer;
  });
  const address = new URL(`/api/v3/canister/${canisterId.toText()}/call`, agent.host);
  const response = await caller.fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/cbor' },
    body: body as BodyInit,
  });
  caller.buffers.giveBack(buffer);
  const answer = new Uint8Array(await response.arrayBuffer());
  const reply = await replyOf({ caller, canisterId, requestId, response, answer });
  const [result] = IDL.decode([request.resultType], reply);
  return result as unknown as Result<T>;
}

interface Answer {
  readonly caller: LargeCaller;
  readonly canisterId: Principal;
  readonly requestId: Uint8Array;
  readonly response: Response;
  readonly answer: Uint8Array;
}

async function replyOf(answered: Answer): Promise<Uint8Array> {
  const { caller, canisterId, response, answer } = answered;
  const requestId = answered.requestId as RequestId;
  if (response.status === 202) {
    const options = { blsVerify: anySignature };
    return (await pollForResponse(caller.agent, { canisterId }, requestId, options)).reply;
  }
  if (response.status !== 200) {
    const reason = new TextDecoder().decode(answer.subarray(0, 500));
    throw new StorageError('HttpError', `The host answered ${response.status}: ${reason}`, {
      status: response.status,
    });
  }
  const page = Cbor.decode<CallAnswer>(answer);
  if (page.certificate === undefined) throw rejected(page.reject_code, page.reject_message);
  return certifiedReply(answered, page.certificate);
}

/** IC spec, "Synchronous call": a certificate, or a reject that no subnet has signed. */
interface CallAnswer {
  readonly certificate?: Uint8Array;
  readonly reject_code?: number;
  readonly reject_message?: string;
}

async function certifiedReply(answered: Answer, bytes: Uint8Array): Promise<Uint8Array> {
  const { caller, canisterId, requestId } = answered;
  const { agent } = caller;
  const rootKey = agent.rootKey ?? new Uint8Array(0);
  const certificate = await Certificate.create({
    certificate: bytes,
    rootKey,
    principal: { canisterId },
    blsVerify: anySignature,
    agent,
  });
  const read = (name: string) =>
    lookupResultToBuffer(certificate.lookup_path(['request_status', requestId, name]));
  const reply = read('reply');
  if (reply !== undefined) return reply;
  const message = new TextDecoder().decode(read('reject_message') ?? new Uint8Array(0));
  throw rejected(read('reject_code')?.[0], message);
}

function rejected(code: number | undefined, message = 'no reason was given'): StorageError {
  const sentence = `The call was rejected (${code}): ${message}`;
  return rejectedError(sentence, { isRetryable: isTransientReject(code, message) });
}
