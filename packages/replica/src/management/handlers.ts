// What the families of management methods share: their signature, and what they work with.

import type { Lifecycle, ManagementCall, Reject } from '../core.ts';
import type { Arguments, MethodName } from './candid-types.ts';
import type { ChunkStore } from './chunk-store.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { VetKeys } from './vetkd.ts';

export interface ManagementOptions {
  /** 32 fresh random bytes at each call. */
  readonly random: () => Uint8Array;
  readonly vetKeys: VetKeys;
  readonly signingKeys: SigningKeys;
  /** Balance of a canister made by provisional_create_canister_with_cycles without an amount;
   * default 100 T. */
  readonly provisionalCycles?: bigint;
}

export interface Parts {
  readonly lifecycle: Lifecycle;
  readonly options: ManagementOptions;
  readonly chunks: ChunkStore;
}

/** What a method did: the value of its result type, and the cycles that it kept. */
export interface Done {
  readonly value?: unknown;
  readonly keptCycles?: bigint;
}

/** One function per method. Access and argument have been checked when it is called. */
export type Handlers<Names extends MethodName = MethodName> = {
  readonly [M in Names]: (
    argument: Arguments[M],
    call: ManagementCall,
  ) => Done | Reject | Promise<Done | Reject>;
};

export function done(refusal: Reject | undefined): Done | Reject {
  return refusal ?? {};
}
