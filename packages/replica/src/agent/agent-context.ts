// The context that every agent endpoint receives, and the target that a request's URL names.

import type { Principal } from '@dfinity/principal';
import type { Engine } from '../core.ts';
import type { FaultyNode } from '../network/query-faults.ts';
import type { Certification } from '../state/certification.ts';
import type { AuthenticationOptions } from './authenticate.ts';
import type { RequestType } from './envelope.ts';

/**
 * Returns the canister that a call to the management canister concerns; undefined if the URL may
 * name any canister. Throws if the argument cannot be decoded. IC spec, "Effective canister id".
 */
export type EffectiveCanisterId = (method: string, arg: Uint8Array) => Principal | undefined;

export interface AgentContext {
  readonly engine: Engine;
  readonly certification: Certification;
  /** ns since 1970. */
  readonly now: () => bigint;
  readonly effectiveCanisterId: EffectiveCanisterId;
  /** A node that answers queries wrongly; without one the engine answers them. */
  readonly faultyNode?: FaultyNode | undefined;
}

export type ApiVersion = 'v2' | 'v3' | 'v4';

export interface Target {
  readonly version: ApiVersion;
  readonly kind: 'canister' | 'subnet';
  readonly id: Principal;
}

export function authenticationOf(
  context: AgentContext,
  requestType: RequestType,
): AuthenticationOptions {
  return { requestType, nowNs: context.now(), rootKey: context.certification.rootKey() };
}
