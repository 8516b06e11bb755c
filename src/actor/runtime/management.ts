// Calls to the network, and how calls fail. IC spec, "The IC management canister".

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { call, canisterSelf } from 'azle';
import type { StorageReservation } from '../../domain/administration/bucket-status.ts';

export const managementCanister = 'aaaaa-aa';
const Blob = IDL.Vec(IDL.Nat8);

/** Returns 32 bytes. */
export function fetchRandom(): Promise<Uint8Array> {
  return call<[], Uint8Array>(managementCanister, 'raw_rand', { returnIdlType: Blob });
}

/** Sends cycles of this canister to another one; all come back if that does not exist. */
export function depositCycles(canister: Principal, cycles: bigint): Promise<void> {
  return call<[object], void>(managementCanister, 'deposit_cycles', {
    paramIdlTypes: [IDL.Record({ canister_id: IDL.Principal })],
    args: [{ canister_id: canister }],
    cycles,
  });
}

const CanisterStatus = IDL.Record({
  reserved_cycles: IDL.Nat,
  settings: IDL.Record({ reserved_cycles_limit: IDL.Nat }),
});

interface CanisterStatus {
  readonly reserved_cycles: bigint;
  readonly settings: { readonly reserved_cycles_limit: bigint };
}

/**
 * Returns the cycles of this canister that the network keeps for the price of its growth, because
 * its subnet has more than 750 GiB of state, and the limit of its settings for them.
 */
export async function fetchReservation(): Promise<Omit<StorageReservation, 'readAtNs'>> {
  const status = await call<[object], CanisterStatus>(managementCanister, 'canister_status', {
    paramIdlTypes: [IDL.Record({ canister_id: IDL.Principal })],
    returnIdlType: CanisterStatus,
    args: [{ canister_id: canisterSelf() }],
  });
  return {
    reservedCycles: status.reserved_cycles,
    limitCycles: status.settings.reserved_cycles_limit,
  };
}

/**
 * Whether a call was certainly not executed, or its effects were undone: it could not be sent, or
 * the system or a trap rejected it. Only for methods that await nothing after their first write.
 * IC spec, "Reject codes".
 */
export function isWithoutEffect(error: unknown): boolean {
  const { type, rejectCode } = error as { type?: string; rejectCode?: number };
  const isUnsent = type === 'CallPerformFailed' || type === 'InsufficientLiquidCycleBalance';
  return isUnsent || [1, 2, 3, 5].includes(rejectCode ?? 0);
}

/** Whether the error is that of a cleanup: the callback trapped, and the message is over. */
export function isCleanup(error: unknown): boolean {
  return (error as { type?: string }).type === 'CleanupCallback';
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
