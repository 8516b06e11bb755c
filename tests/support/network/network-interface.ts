// The ten functions by which tests drive a canister on any network: the local replica in this
// process (replica-network.ts), or a network elsewhere by the official agent (agent-network.ts).

import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { ed25519Seed } from '../owner-key.ts';

/** The owner of the service, the anonymous caller, or a person by number. */
export type Caller = 'owner' | 'nobody' | number;

export interface NetworkInterface {
  /** Returns the id of a new empty canister, which the owner controls. */
  create(cycles: bigint): Promise<string>;
  /** `argument`: Candid; by default no values. */
  install(canisterId: string, wasm: Uint8Array, argument?: Uint8Array): Promise<void>;
  upgrade(canisterId: string, wasm: Uint8Array): Promise<void>;
  /** Sends an update, by default of the anonymous caller; throws an Error if it is rejected. */
  call: Send;
  query: Send;
  /** Returns the URL of the canister at the network's HTTP gateway. */
  gatewayAddress(canisterId: string): string;
  /** Sets the network's clock `laterNs` ahead, and runs the timers that become due. */
  setTime(laterNs: bigint): Promise<void>;
  addCycles(canisterId: string, cycles: bigint): Promise<void>;
  stop(canisterId: string): Promise<void>;
  start(canisterId: string): Promise<void>;
}

type Send = (
  canisterId: string,
  method: string,
  argument: Uint8Array,
  caller?: Caller,
) => Promise<Uint8Array>;

/** Returns the caller's key; `undefined` for the anonymous caller. */
export function identityOf(ownerPem: string, caller: Caller): Ed25519KeyIdentity | undefined {
  if (caller === 'nobody') return undefined;
  const seed = caller === 'owner' ? ed25519Seed(ownerPem) : new Uint8Array(32).fill(caller);
  return Ed25519KeyIdentity.fromSecretKey(seed);
}

/** `DIDL` with no types and no values. */
export const noArguments = Uint8Array.of(0x44, 0x49, 0x44, 0x4c, 0, 0);
