// The settings of a canister. IC spec, "IC method create_canister".

import type { Principal } from '@dfinity/principal';

/** Readers of a canister's log, snapshots or status besides its controllers. */
export type Visibility = 'controllers' | 'public' | { readonly viewers: readonly Principal[] };

/** IC spec, "IC method create_canister". */
export interface CanisterSettings {
  readonly controllers: readonly Principal[];
  /** Percent of one core. */
  readonly computeAllocation: bigint;
  readonly memoryAllocation: bigint;
  /** Seconds. */
  readonly freezingThreshold: bigint;
  readonly reservedCyclesLimit: bigint;
  readonly minimumIncomingCallCycles: bigint;
  readonly wasmMemoryLimit: bigint;
  readonly wasmMemoryThreshold: bigint;
  readonly logMemoryLimit: bigint;
  readonly logVisibility: Visibility;
  readonly snapshotVisibility: Visibility;
  readonly statusVisibility: Visibility;
  /** Sorted by the bytes of the names, as a canister sees them. */
  readonly environmentVariables: ReadonlyMap<string, string>;
}
