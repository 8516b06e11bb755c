// Sends a query whose reply is megabytes, without the copies of the library's decoder.
// Signatures are verified only if the given agent does so.

import { type HttpAgent, QueryResponseStatus } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { concatBytes } from '../bytes/bytes.ts';
import { rejectedError } from '../connection/network-errors.ts';
import { leb128 } from './call-envelope.ts';
import { resultOf } from './candid-interface.ts';
import type { Result } from './candid-types.ts';
import { explained, placeOf } from './failures.ts';
import { isTransientReject } from './transient-reject.ts';

interface Query {
  readonly canisterId: string;
  readonly method: string;
  /** Encoded in Candid. */
  readonly argument: Uint8Array;
}

export interface LargeQuery extends Query {
  /** The expected length of the blob; the library decodes a blob of another length. */
  readonly expectedBytes: number;
}

/** Returns the reply as the canister has encoded it. */
export async function queryReply(agent: HttpAgent, query: Query): Promise<Uint8Array> {
  const { canisterId, method: methodName, argument: arg } = query;
  const callee = { agent, canisterId };
  const answer = await explained(callee, agent.query(canisterId, { methodName, arg }));
  if (answer.status === QueryResponseStatus.Rejected) {
    const { reject_message: message, error_code: errorCode } = answer;
    const isRetryable = isTransientReject(Number(answer.reject_code), message);
    throw rejectedError({ ...placeOf(callee), message, errorCode }, { isRetryable });
  }
  return answer.reply.arg;
}

export async function queryBlob(agent: HttpAgent, query: LargeQuery): Promise<Result<Uint8Array>> {
  return blobOf(await queryReply(agent, query), query.expectedBytes);
}

const resultBlob = resultOf(IDL.Vec(IDL.Nat8));

/** Takes the blob from the end of the reply, and decodes the rest as if the blob were empty. */
function blobOf(reply: Uint8Array, expectedBytes: number): Result<Uint8Array> {
  const length = leb128(BigInt(expectedBytes));
  const blobStart = reply.length - expectedBytes;
  const lengthStart = blobStart - length.length;
  const isThere = lengthStart > 0 && length.every((byte, at) => reply[lengthStart + at] === byte);
  if (isThere) {
    const head = decoded(concatBytes(reply.subarray(0, lengthStart), Uint8Array.of(0)));
    if (head !== undefined && 'ok' in head) return { ok: reply.subarray(blobStart) };
  }
  const [whole] = IDL.decode([resultBlob], reply);
  return whole as unknown as Result<Uint8Array>;
}

function decoded(bytes: Uint8Array): Result<Uint8Array> | undefined {
  try {
    const [value] = IDL.decode([resultBlob], bytes);
    return value as unknown as Result<Uint8Array>;
  } catch {
    return undefined;
  }
}
