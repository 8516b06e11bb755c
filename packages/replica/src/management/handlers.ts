// Types that all families of management methods share: their signature and their context.

import type { ChangeOrigin, Engine, Lifecycle, ManagementCall, Outcome, Reject } from '../core.ts';
import type { Outcalls } from '../outcalls.ts';
import { chargeOn, type SubnetType } from '../subnet-type.ts';
import type { Arguments, MethodName, Opt } from './candid-types.ts';
import type { ChunkStore } from './chunk-store.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { VetKeys } from './vetkd.ts';

export interface ManagementOptions {
  /** Returns 32 new random bytes per call. */
  readonly random: () => Uint8Array;
  readonly vetKeys: VetKeys;
  readonly signingKeys: SigningKeys;
  /** Absent: HTTPS outcalls are refused. */
  readonly outcalls?: OutcallOptions | undefined;
  /** Balance from provisional_create_canister_with_cycles without an amount; default 100 T. */
  readonly provisionalCycles?: bigint;
  /** Default: `application`. */
  readonly subnetType?: SubnetType;
}

/** Returns the fee of an operation of this subnet. */
export function feeFor({ subnetType = 'application' }: ManagementOptions, price: bigint): bigint {
  return chargeOn(subnetType, price);
}

/**
 * Returns the fee for the use of a key. The subnet of the key charges it, except to the canisters
 * of a system subnet.
 */
export function keyFeeFor({ subnetType }: ManagementOptions, price: bigint): bigint {
  return subnetType === 'system' ? 0n : price;
}

export interface OutcallOptions {
  readonly carryOut: Outcalls;
  /** Calls the query by which a canister transforms a response. */
  readonly query: Engine['query'];
}

export interface Parts {
  readonly lifecycle: Lifecycle;
  readonly options: ManagementOptions;
  readonly chunks: ChunkStore;
}

/** The result of a method: the value of its result type, and the cycles that it consumed. */
export interface Done {
  readonly value?: unknown;
  readonly keptCycles?: bigint;
  /** Replaces the value: a finished answer, or a reject that is charged. */
  readonly outcome?: Outcome;
}

/** One function per method, called after access and argument are checked. */
export type Handlers<Names extends MethodName = MethodName> = {
  readonly [M in Names]: (
    argument: Arguments[M],
    call: ManagementCall,
  ) => Done | Reject | Promise<Done | Reject>;
};

/** Returns the author of a change, as a canister's history names it. */
export function originOf(call: ManagementCall, [canisterVersion]: Opt<bigint>): ChangeOrigin {
  return { caller: call.caller, isCanister: call.fromCanister, canisterVersion };
}

export function done(refusal: Reject | undefined): Done | Reject {
  return refusal ?? {};
}
