// The agent and the actor of one canister, with time limits and the caller's abort signals.

import { Actor, HttpAgent, type HttpAgentOptions } from '@icp-sdk/core/agent';
import { createBufferPool } from '../bytes/buffer-pool.ts';
import { onAbort } from '../connection/abort.ts';
import { createOlderEndpoints } from '../connection/older-endpoints.ts';
import { delayMs, type RetryPolicy } from '../connection/retry.ts';
import type { Line } from '../connection/transfer-window.ts';
import type { Signal } from '../connection/transport.ts';
import {
  fetchWhole,
  type WatchedConnection,
  type WatchedInit,
  type WholeResponse,
} from '../connection/watched-fetch.ts';
import { abortedError, actorRefusal, type StorageError } from '../storage-error.ts';
import { agentIdentity, type StorageIdentity } from '../types/storage-identity.ts';
import {
  earlierUploadInterface,
  serviceInterface,
  signedQueryInterface,
} from './candid-interface.ts';
import { optional } from './candid-records.ts';
import type { EarlierUploadActor, Optional, Result, ServiceActor } from './candid-types.ts';
import { failureOf, withFailuresOf } from './failures.ts';
import type { LargeCaller } from './large-call.ts';
import { rememberingVerify } from './valid-signatures.ts';

export interface ActorConnection extends WatchedConnection {
  readonly host: string;
  readonly canisterId: string;
  readonly identity: StorageIdentity | undefined;
  readonly fetchRootKey: boolean | undefined;
  readonly apiKey: string | undefined;
  readonly retryPolicy: RetryPolicy;
  readonly line: Line;
}

/** The agent resends the same signed call, which the network recognizes as one call. */
const agentRetries = 2;

/** Converts the policy to the agent's interface; the first delay is the shortest. */
function backoff(policy: RetryPolicy): { next(): number } {
  let attempt = 0;
  return { next: () => delayMs(policy, ++attempt) };
}

export interface Service {
  readonly actor: ServiceActor;
  /** The same service, for uploads that version 0.1.0 accepts. */
  readonly earlierUploads: EarlierUploadActor;
  /** The same service, for queries that are sent as updates, whose replies the network signs. */
  signedQueries(): Pick<ServiceActor, 'getBucket' | 'getRules' | 'listApiKeys'>;
  readonly canisterId: string;
  readonly agent: HttpAgent;
  /** Returns an agent without signature checks, for bytes that the whole file's digest verifies. */
  bulkAgent(onReceived?: (bytes: number) => void): HttpAgent;
  readonly largeCaller: LargeCaller;
  readonly apiKey: string | undefined;
  /** `apiKey` as a Candid opt. */
  readonly key: Optional<string>;
}

export async function openService(connection: ActorConnection): Promise<Service> {
  const { host, canisterId, identity, apiKey } = connection;
  const answerOf = createOlderEndpoints();
  const fetch = async (input: string | URL | Request, init: WatchedInit = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return responseOf(await answerOf(url, (tried) => fetchWhole(connection, tried, init)));
  };
  const options: HttpAgentOptions = {
    host,
    fetch,
    retryTimes: agentRetries,
    backoffStrategy: () => backoff(connection.retryPolicy),
    ...(identity && { identity: agentIdentity(identity) }),
  };
  const shouldFetchRootKey = connection.fetchRootKey ?? isLocal(host);
  const agent = await attempt(undefined, () =>
    HttpAgent.create({ ...options, shouldFetchRootKey }),
  );
  const { rootKey } = agent;
  const bulkAgent: Service['bulkAgent'] = (onReceived) =>
    HttpAgent.createSync({
      ...options,
      fetch: (input, init) => fetch(input, { ...init, onReceived }),
      verifyQuerySignatures: false,
      ...(rootKey && { rootKey }),
    });
  const callee = { agent, canisterId };
  const blsVerify = rememberingVerify();
  const config = { ...callee, blsVerify };
  return {
    actor: withFailuresOf(callee, Actor.createActor<ServiceActor>(serviceInterface, config)),
    earlierUploads: withFailuresOf(
      callee,
      Actor.createActor<EarlierUploadActor>(earlierUploadInterface, config),
    ),
    signedQueries: () =>
      withFailuresOf(callee, Actor.createActor<ServiceActor>(signedQueryInterface, config)),
    canisterId,
    agent,
    bulkAgent,
    largeCaller: { agent, canisterId, fetch, buffers: createBufferPool(), identity, blsVerify },
    apiKey,
    key: optional(apiKey),
  };
}

function responseOf({ status, headers, bytes }: WholeResponse): Response {
  // A Response with status 204, for example, must have no body.
  return new Response(bytes.length > 0 ? (bytes as BodyInit) : null, { status, headers });
}

function isLocal(host: string): boolean {
  const { hostname } = new URL(host);
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** Returns the value of `ok`, or throws the error of `err`, which is `Code: sentence`. */
export async function call<T>(signal: Signal, send: () => Promise<Result<T>>): Promise<T> {
  const result = await attempt(signal, send);
  if ('ok' in result) return result.ok;
  throw errorOfText(result.err);
}

export function errorOfText(text: string): StorageError {
  const [, code = 'HttpError', message = text] = /^([A-Za-z]+): (.*)$/s.exec(text) ?? [];
  return actorRefusal(code, message);
}

async function attempt<T>(signal: Signal, operation: () => Promise<T>): Promise<T> {
  if (signal?.aborted) throw abortedError(signal.reason);
  let settled = () => {};
  const stopped = new Promise<never>((_, reject) => {
    settled = onAbort(signal, () => reject(abortedError(signal?.reason)));
  });
  try {
    return await Promise.race([operation(), stopped]);
  } catch (error) {
    throw await failureOf(error);
  } finally {
    settled();
  }
}
