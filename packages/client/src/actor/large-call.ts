// Sends an update call with an argument of megabytes without the agent's own encoder. Checks the
// signature of the reply's certificate only if the caller asks for it, because that takes more time
// than all the rest. Otherwise the caller must verify the result later, as an upload does by its
// entity tag.

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
import type { BufferPool } from '../bytes/buffer-pool.ts';
import { networkFault, rejectedError, unknownAnswer } from '../connection/network-errors.ts';
import { retryAfterSeconds } from '../connection/retry.ts';
import type { WatchedInit } from '../connection/watched-fetch.ts';
import type { StorageError } from '../storage-error.ts';
import { agentIdentity, type StorageIdentity } from '../types/storage-identity.ts';
import { type Envelope, type SplitEnvelope, sealCall, sealCallBy } from './call-envelope.ts';
import type { Result } from './candid-types.ts';
import { type Callee, placeOf } from './failures.ts';
import { isTransientReject } from './transient-reject.ts';
import type { Verify } from './valid-signatures.ts';

export interface LargeCaller {
  readonly agent: HttpAgent;
  readonly canisterId: string;
  fetch(url: URL, init: WatchedInit): Promise<Response>;
  readonly buffers: BufferPool;
  /** Undefined for the anonymous identity. */
  readonly identity: StorageIdentity | undefined;
  readonly blsVerify: Verify;
}

/** Returns false for identities that sign only whole requests. */
function signsBytes(identity: StorageIdentity): boolean {
  return 'sign' in identity && 'getPublicKey' in identity;
}

export interface LargeCallRequest<T> {
  readonly method: string;
  readonly argumentStart: Uint8Array;
  readonly blob: Uint8Array;
  /** The same bytes as `blob`, in a file that a browser sends without loading it into memory. */
  readonly file?: Blob | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of the envelope's bytes that have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  readonly resultType: IDL.Type;
  /** Returns whether the caller relies on the result, so that the network must have signed it. */
  reliesOn?(result: Result<T>): boolean;
}

const expiryMs = 4 * 60_000;
const anySignature = async () => true;

export async function callWithBlob<T>(
  caller: LargeCaller,
  request: LargeCallRequest<T>,
): Promise<Result<T>> {
  const { agent, identity } = caller;
  const canisterId = Principal.fromText(caller.canisterId);
  const now = Date.now() + agent.getTimeDiffMsecs();
  const expiryNs = BigInt(now + expiryMs) * 1_000_000n;
  const { method, argumentStart, blob, onSent } = request;
  const call = { canisterId, method, argumentStart, blob, expiryNs };
  const signer = identity as unknown as SignIdentity | undefined;
  let buffer: Uint8Array | undefined;
  const giveBack = () => {
    if (buffer !== undefined) caller.buffers.giveBack(buffer);
    buffer = undefined;
  };
  const envelope =
    identity === undefined || signsBytes(identity)
      ? await sealCall({ ...call, identity: signer }, (length) => {
          buffer = caller.buffers.take(length);
          return buffer;
        })
      : await sealCallBy(agentIdentity(identity), call);
  const { requestId } = envelope;
  const body = bodyOf(envelope, request);
  if (body !== envelope.body) giveBack();
  const address = new URL(`/api/v3/canister/${canisterId.toText()}/call`, agent.host);
  const response = await caller.fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/cbor' },
    body: body as BodyInit,
    onSent,
    ...(request.signal && { signal: request.signal }),
  });
  giveBack();
  const answer = new Uint8Array(await response.arrayBuffer());
  const answered = { caller, canisterId, requestId, response, answer };
  const reply = await replyOf(answered, anySignature);
  const result = IDL.decode([request.resultType], reply)[0] as unknown as Result<T>;
  if (request.reliesOn?.(result)) await replyOf(answered, caller.blsVerify);
  return result;
}

/** Refers to the file for its bytes, so that the browser holds none of them in memory. */
function bodyOf(
  envelope: Envelope | SplitEnvelope,
  { blob, file }: Pick<LargeCallRequest<unknown>, 'blob' | 'file'>,
): Uint8Array | Blob {
  const { body } = envelope;
  if (file === undefined || !('blobStart' in envelope)) return body;
  const { blobStart } = envelope;
  // Copies, because the buffer is given back
  const [before, after] = [body.slice(0, blobStart), body.slice(blobStart + blob.length)];
  return new Blob([before, file, after] as BlobPart[]);
}

interface Answer {
  readonly caller: LargeCaller;
  readonly canisterId: Principal;
  readonly requestId: Uint8Array;
  readonly response: Response;
  readonly answer: Uint8Array;
}

async function replyOf(answered: Answer, verify: Verify): Promise<Uint8Array> {
  const { caller, canisterId, response, answer } = answered;
  const requestId = answered.requestId as RequestId;
  if (response.status === 202) {
    const options = { blsVerify: verify };
    return (await pollForResponse(caller.agent, { canisterId }, requestId, options)).reply;
  }
  const callee = { agent: caller.agent, canisterId: caller.canisterId };
  if (response.status !== 200) throw responseError(callee, response, answer);
  const page = Cbor.decode<CallAnswer>(answer);
  if (page.certificate === undefined) throw rejected(callee, page);
  return certifiedReply(answered, page.certificate, verify);
}

/** IC spec, "Synchronous call": a certificate, or a reject without a signature of the subnet. */
interface CallAnswer {
  readonly certificate?: Uint8Array;
  readonly reject_code?: number | undefined;
  readonly reject_message?: string;
  readonly error_code?: string;
}

function responseError(callee: Callee, response: Response, answer: Uint8Array): StorageError {
  const { status, headers } = response;
  const text = new TextDecoder().decode(answer);
  const cause = headers.get('x-ic-error-cause');
  const fault = networkFault({ ...placeOf(callee), text, cause }, { status });
  return fault ?? unknownAnswer(response, { retryAfterSeconds: retryAfterSeconds(headers) });
}

async function certifiedReply(
  answered: Answer,
  bytes: Uint8Array,
  verify: Verify,
): Promise<Uint8Array> {
  const { caller, canisterId, requestId } = answered;
  const { agent } = caller;
  const rootKey = agent.rootKey ?? new Uint8Array(0);
  const certificate = await Certificate.create({
    certificate: bytes,
    rootKey,
    principal: { canisterId },
    blsVerify: verify,
    agent,
  });
  const read = (name: string) =>
    lookupResultToBuffer(certificate.lookup_path(['request_status', requestId, name]));
  const reply = read('reply');
  if (reply !== undefined) return reply;
  const text = (name: string) => new TextDecoder().decode(read(name));
  throw rejected(caller, {
    reject_code: read('reject_code')?.[0],
    reject_message: text('reject_message'),
    error_code: text('error_code'),
  });
}

function rejected(callee: Callee, answer: CallAnswer): StorageError {
  const { reject_code: code, reject_message: message = 'no reason was given' } = answer;
  const reject = { ...placeOf(callee), message, errorCode: answer.error_code };
  return rejectedError(reject, { isRetryable: isTransientReject(code, message) });
}
