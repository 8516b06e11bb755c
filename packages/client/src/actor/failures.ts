// Converts failures of the agent to StorageErrors. This file knows the agent's error classes;
// network-errors.ts knows the network's reasons.

import { AgentError, type HttpAgent } from '@icp-sdk/core/agent';
import {
  isLowCycles,
  lowCyclesError,
  networkFault,
  rejectedError,
  unknownAnswer,
  wrongNetworkError,
} from '../connection/network-errors.ts';
import { networkError } from '../http/exchange.ts';
import { StorageError } from '../storage-error.ts';
import { isTransientReject } from './transient-reject.ts';

export interface Callee {
  readonly agent: HttpAgent;
  readonly canisterId: string;
}

/** Wraps the actor so that its methods fail with StorageErrors that name the canister. */
export function withFailuresOf<T extends object>(callee: Callee, actor: T): T {
  return new Proxy(actor, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...values: unknown[]) => explained(callee, method.apply(target, values));
    },
  });
}

export async function explained<T>(callee: Callee, answer: Promise<T>): Promise<T> {
  let value: T;
  try {
    value = await answer;
  } catch (error) {
    throw await failureOf(error, callee);
  }
  const { err } = (value ?? {}) as { readonly err?: unknown };
  if (typeof err === 'string' && isLowCycles(err)) throw lowCyclesError(err, placeOf(callee), {});
  return value;
}

/** Converts an error. Without a callee, it comes from the request for the host's root key. */
export async function failureOf(error: unknown, callee?: Callee): Promise<StorageError> {
  if (error instanceof StorageError) return error;
  if (!(error instanceof AgentError)) {
    if (isFetchFailure(error)) return networkError(error);
    const reason = error instanceof Error ? error.message : String(error);
    return new StorageError('NetworkError', `The call failed: ${reason}`, { cause: error });
  }
  // The agent wraps errors of the given fetch.
  const { error: thrown } = error.code as { readonly error?: unknown };
  if (thrown instanceof StorageError) return thrown;
  const message = firstLine(error.message);
  const details = { cause: error };
  const fault = () => networkFault({ ...placeOf(callee), text: error.message }, details);
  switch (error.kind) {
    case 'Transport':
      if (isFetchFailure(thrown)) return networkError(thrown);
      return new StorageError('NetworkError', message, { ...details, isRetryable: true });
    case 'Unknown':
      return fault() ?? new StorageError('Timeout', message, { ...details, isRetryable: true });
    case 'Protocol':
      return responseFailure(error, callee);
    case 'Reject':
      return rejectFailure(error, callee);
    case 'Trust':
      if (callee !== undefined && (await isOfOtherNetwork(callee.agent))) {
        return wrongNetworkError(addressOf(callee), error);
      }
      // A retry may reach another node, or the same one after its keys have been fetched.
      return fault() ?? new StorageError('Untrusted', message, { ...details, isRetryable: true });
    default:
      return fault() ?? new StorageError('InvalidArgument', message, details);
  }
}

interface ResponseCode {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  readonly bodyText?: string;
}

function responseFailure(error: AgentError, callee: Callee | undefined): StorageError {
  const { status, headers: fields = [], bodyText: text = '' } = error.code as ResponseCode;
  const details = { cause: error, status };
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  const cause = headers.get('x-ic-error-cause');
  const fault = networkFault({ ...placeOf(callee), text, cause }, details);
  if (fault !== undefined) return fault;
  if (status === undefined) return new StorageError('HttpError', firstLine(error.message), details);
  return unknownAnswer({ status, headers }, details);
}

interface RejectCode {
  readonly rejectCode?: number;
  readonly rejectMessage?: string;
  readonly rejectErrorCode?: string;
}

function rejectFailure(error: AgentError, callee: Callee | undefined): StorageError {
  const { rejectCode, rejectMessage = error.message, rejectErrorCode } = error.code as RejectCode;
  const isRetryable = isTransientReject(rejectCode, rejectMessage);
  const reject = { ...placeOf(callee), message: rejectMessage, errorCode: rejectErrorCode };
  return rejectedError(reject, { cause: error, isRetryable });
}

export function placeOf(callee: Callee | undefined) {
  if (callee === undefined) return { address: 'the host' };
  return { address: addressOf(callee), canisterId: callee.canisterId };
}

function addressOf({ agent }: Callee): string {
  return agent.host.origin;
}

/** The host's unverified response is enough here: it only chooses the advice. */
async function isOfOtherNetwork(agent: HttpAgent): Promise<boolean> {
  const trusted = agent.rootKey;
  if (trusted === null) return false;
  try {
    const { root_key: key } = (await agent.status()) as { readonly root_key?: Uint8Array };
    return key !== undefined && !isSame(new Uint8Array(key), trusted);
  } catch {
    return false;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** `fetch` throws a TypeError, or a DOMException after a timeout. */
function isFetchFailure(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}
