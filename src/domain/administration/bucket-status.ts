// The public status of the service: counts and sizes without secrets.

import { version } from '../../../package.json';
import { bucketIds } from '../buckets/bucket-directory.ts';
import { readTotals } from '../buckets/bucket-totals.ts';
import { type BudgetName, budgetLeft, readBudget } from '../rights/budgets.ts';
import { isOwner } from '../rights/ownership.ts';
import { type Call, isAnonymous } from '../shared/caller.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { ServiceRole } from '../shared/service-role.ts';
import type { Stores } from '../shared/stores.ts';
import type { Allowance } from '../shared/token-buckets.ts';
import { type EncryptionStatus, encryptionStatus } from './encryption-status.ts';

/** Cycles that the network keeps for the canister's growth, where its subnet has little room. */
export interface StorageReservation {
  readonly reservedCycles: bigint;
  /** The canister cannot grow if more had to be reserved. */
  readonly limitCycles: bigint;
  readonly readAtNs: bigint;
}

/** Figures that the canister's host reports. */
export interface SystemFigures {
  readonly canisterId: string;
  readonly stableBytes: number;
  readonly heapBytes: number;
  readonly cycles: bigint;
  /** Cycles that can be spent before the canister freezes; no limit if it is charged nothing. */
  readonly spendableCycles: number;
  readonly chargesCycles: boolean;
  /** Undefined until it was read, see runtime/storage-reservation.ts. */
  readonly storageReservation?: StorageReservation | undefined;
}

export type BudgetStatus = Allowance & { readonly left: number };

export interface Status {
  readonly version: string;
  readonly buckets: number;
  readonly files: number;
  readonly bytesStored: number;
  readonly stableBytes: number;
  readonly heapBytes: number;
  /** Only for controllers and owners of buckets, because it shows how much attackers can drain. */
  readonly cycles: bigint | undefined;
  /** False where the subnet charges nothing: there, 0 cycles are normal. */
  readonly chargesCycles: boolean;
  /** Only for those who see the cycles. */
  readonly storageReservation: StorageReservation | undefined;
  readonly anonymousUpdates: BudgetStatus;
  readonly linkUpdates: BudgetStatus;
  readonly refusals: BudgetStatus;
  readonly derivations: BudgetStatus;
  /** How the bytes of files are encrypted. */
  readonly encryption: EncryptionStatus;
  /** The protocol by which gateways verify HTTP responses. */
  readonly certified: 'response-verification-v2';
  readonly role: ServiceRole;
}

export function statusOf(stores: Stores, call: Call, system: SystemFigures): Status {
  const { buckets, files, bytes: bytesStored } = readTotals(stores);
  const counts = { buckets, files, bytesStored };
  const { stableBytes, heapBytes, cycles, chargesCycles } = system;
  const budget = (name: BudgetName): BudgetStatus => {
    const left = Math.max(0, Math.floor(budgetLeft(stores, name, call.nowNs)));
    return { ...readBudget(stores, name), left };
  };
  const showsCycles = maySeeCycles(stores, call);
  return {
    version,
    ...counts,
    stableBytes,
    heapBytes,
    cycles: showsCycles ? cycles : undefined,
    chargesCycles,
    storageReservation: showsCycles ? system.storageReservation : undefined,
    anonymousUpdates: budget('anonymousUpdates'),
    linkUpdates: budget('linkUpdates'),
    refusals: budget('refusals'),
    derivations: budget('derivations'),
    encryption: encryptionStatus(stores),
    certified: 'response-verification-v2',
    role: serviceRole(stores),
  };
}

/** Number of the caller's buckets that are searched for one that the caller owns. */
const lookedAtMax = 10;

function maySeeCycles(stores: Stores, call: Call): boolean {
  const { caller } = call;
  if (caller.isController || isAnonymous(caller)) {
    return caller.isController;
  }
  const ids = bucketIds(stores.directory, caller.principal, { skip: 0, limit: lookedAtMax });
  return ids.some((id) => isOwner(stores, call, id));
}
