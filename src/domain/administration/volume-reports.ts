// Reports of volumes to their front: which buckets a volume has in a range of ids, which of them
// are public, and how large the volume is. The front keeps their names and addresses.

import { gatewayDomains } from '../../../packages/wire/src/gateways.ts';
import { bucketsPerReport } from '../../limits.ts';
import type { IdRange } from '../shared/heap-state.ts';
import { parseBucketId, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import { serviceRole } from '../shared/role-record.ts';
import { isOriginOf } from '../shared/service-role.ts';
import type { Stores } from '../shared/stores.ts';
import { replaceNames } from './bucket-names.ts';
import { replaceAddresses } from './public-addresses.ts';
import { noteReport } from './volume-states.ts';

export interface VolumeReport extends IdRange {
  /** The volume that called. */
  readonly volumeId: string;
  readonly origin: string;
  /** All public buckets of the range. */
  readonly buckets: readonly string[];
  /** The rest of the report; absent if the volume has version 0.2.0. */
  readonly state?: VolumeFigures | undefined;
}

export interface VolumeFigures {
  /** All other buckets of the range. */
  readonly others: readonly string[];
  /** When the volume read its buckets, by its clock. */
  readonly atNs: bigint;
  readonly stableBytes: number;
  /** Cycles that the volume can spend before it freezes. */
  readonly cycles: number;
  /** Cycles that the network keeps for the price of its growth, on a subnet with little room. */
  readonly reservedCycles: number;
}

/** Replaces what the front knows of the volume's buckets in the range. For volumes in its list. */
export function receiveReport(stores: Stores, report: VolumeReport, nowNs: bigint): void {
  requireVolume(stores, report.volumeId);
  checkReport(report);
  replaceAddresses(stores, report);
  const { state } = report;
  if (state === undefined) return;
  const buckets = [...report.buckets, ...state.others];
  replaceNames(stores, { ...report, buckets, atNs: state.atNs });
  noteReport(stores, { ...report, state }, nowNs);
}

function requireVolume(stores: Stores, volumeId: string): void {
  const role = serviceRole(stores);
  if (role.kind === 'front' && role.volumes.includes(volumeId)) return;
  throw new Refusal(
    'AccessDenied',
    `Only volumes in the list of this front may report buckets, and ${volumeId} is not in ` +
      'the list: add it with addVolume.',
  );
}

/** Ids are in the range, and their number is bounded; nobody can redirect to another canister. */
function checkReport({ volumeId, origin, after, through, ...report }: VolumeReport): void {
  if (!isOriginOf(volumeId, origin)) {
    throw new Refusal(
      'InvalidArgument',
      `The origin ${quote(origin)} is not that of volume ${volumeId}: send https://${volumeId} ` +
        `with ${gatewayDomains.map((domain) => `.${domain}`).join(', ')}, or ` +
        `http://${volumeId}.localhost with a port.`,
    );
  }
  const buckets = [...report.buckets, ...(report.state?.others ?? [])];
  if (buckets.length > bucketsPerReport) {
    throw new Refusal(
      'EntityTooLarge',
      `A report has at most ${bucketsPerReport} buckets, this one ${buckets.length}: send several.`,
      { limit: bucketsPerReport },
    );
  }
  checkFigures(report.state);
  if (after !== '') parseBucketId(after);
  if (through !== undefined) parseBucketId(through);
  for (const id of buckets) {
    if (parseBucketId(id) > after && (through === undefined || id <= through)) continue;
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${id} is not in the report's range, from ${quote(after)} (excluded) to ` +
        `${through === undefined ? 'the end' : quote(through)}: extend the range.`,
    );
  }
}

/** Times and sizes have to fit into the records. */
function checkFigures(state: VolumeFigures | undefined): void {
  if (state === undefined) return;
  const { atNs, stableBytes, cycles, reservedCycles } = state;
  const isTime = atNs >= 0n && atNs < 1n << 63n;
  const isAmount = (value: number) => Number.isSafeInteger(value) && value >= 0;
  if (isTime && [stableBytes, cycles, reservedCycles].every(isAmount)) return;
  throw new Refusal(
    'InvalidArgument',
    'A report has the time in nanoseconds since 1970, and stableBytes, cycles and reservedCycles ' +
      'below 2^53.',
  );
}
