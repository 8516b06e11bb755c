// What the service tells of itself to everybody: counts, sizes, cycles. No secrets.

import { readTotals } from './bucket-totals.ts';
import { type EncryptionStatus, encryptionStatus } from './encryption-status.ts';
import type { Stores } from './stores.ts';

/** What the host of the canister knows of it. */
export interface SystemFigures {
  readonly stableBytes: number;
  readonly heapBytes: number;
  readonly cycles: bigint;
}

export interface Status {
  readonly version: string;
  readonly buckets: number;
  readonly files: number;
  readonly bytesStored: number;
  readonly stableBytes: number;
  readonly heapBytes: number;
  readonly cycles: bigint;
  /** How file bytes are kept. */
  readonly encryption: EncryptionStatus;
  /** What of the answers over HTTP gateways can verify. */
  readonly certified: 'response-verification-v2';
}

const version = '0.1.0';

export function statusOf(stores: Stores, system: SystemFigures): Status {
  const { buckets, files, bytes: bytesStored } = readTotals(stores);
  const counts = { buckets, files, bytesStored };
  return {
    version,
    ...counts,
    ...system,
    encryption: encryptionStatus(stores),
    certified: 'response-verification-v2',
  };
}
