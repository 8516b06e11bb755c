// The volumes of a front as it knows them, and the choice of one for a new bucket. In the meta map:
//
//   volume/{id} -> 0: version 1 | closed u8 | reported at u64 | stable bytes u64 | limit u64
//                  | cycles u64 | reserved cycles u64 | texts: the last id of the reported range
//
// A volume reports its buckets in ranges of ids; '~' follows all ids. All volumes have to report
// all their buckets before the front can tell whether a name is free.

import { encodeUtf8 } from '../../lib/text.ts';
import { bucketCountMax, volumeBytesMax, volumeCountMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { type Call, requireController } from '../shared/caller.ts';
import type { IdRange } from '../shared/heap-state.ts';
import { Refusal } from '../shared/refusal.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { FrontRole } from '../shared/service-role.ts';
import type { Stores } from '../shared/stores.ts';
import { countNames, forgetNamesOf } from './bucket-names.ts';
import { removeAddressesOf } from './public-addresses.ts';

const version = 1;
const everyId = '~';

export interface VolumeState {
  readonly volumeId: string;
  /** A closed volume gets no new buckets. */
  readonly isClosed: boolean;
  /** Time of its last report; 0 if it has sent none. */
  readonly reportedAtNs: bigint;
  readonly stableBytes: number;
  /** A volume with this much stable memory is full. */
  readonly limitBytes: number;
  /** Cycles that it could spend when it last reported, and those sent since. */
  readonly cycles: number | undefined;
  /** Cycles that the network keeps for the price of its growth, at the last report. */
  readonly reservedCycles: number;
  /** All its buckets up to this id are known. */
  readonly reportedThrough: string;
}

function stateKey(volumeId: string): Uint8Array {
  return encodeUtf8(`volume/${volumeId}`);
}

export function volumeState({ meta }: Stores, volumeId: string): VolumeState {
  const stored = meta.get(stateKey(volumeId));
  if (stored === undefined) {
    const sizes = { stableBytes: 0, limitBytes: volumeBytesMax, reservedCycles: 0 };
    const unreported = { reportedAtNs: 0n, cycles: undefined, reportedThrough: '' };
    return { volumeId, isClosed: false, ...sizes, ...unreported };
  }
  const reader = new RecordReader(stored, version);
  const isClosed = reader.u8() === 1;
  const reportedAtNs = reader.u64();
  const [stableBytes, limitBytes] = [reader.integer(), reader.integer()];
  const [cycles, reservedCycles] = [reader.integer(), reader.integer()];
  return {
    volumeId,
    isClosed,
    reportedAtNs,
    stableBytes,
    limitBytes,
    cycles: reportedAtNs === 0n ? undefined : cycles,
    reservedCycles,
    reportedThrough: reader.texts()[0] ?? '',
  };
}

function saveState({ meta }: Stores, state: VolumeState): void {
  const record = new RecordWriter(version)
    .u8(state.isClosed ? 1 : 0)
    .u64(state.reportedAtNs)
    .u64(state.stableBytes)
    .u64(state.limitBytes)
    .u64(state.cycles ?? 0)
    .u64(state.reservedCycles)
    .finish([state.reportedThrough]);
  meta.set(stateKey(state.volumeId), record);
}

/** Returns the states of a front's volumes, in the order of its list. */
export function volumeStates(stores: Stores): VolumeState[] {
  const role = serviceRole(stores);
  return role.kind === 'front' ? role.volumes.map((id) => volumeState(stores, id)) : [];
}

/** Notes the report of a range of ids, by the front's clock. */
export function noteReport(
  stores: Stores,
  report: IdRange & {
    readonly volumeId: string;
    readonly state: Pick<VolumeState, 'stableBytes' | 'reservedCycles'> & {
      readonly cycles: number;
    };
  },
  nowNs: bigint,
): void {
  const state = volumeState(stores, report.volumeId);
  const { after, through = everyId } = report;
  const continues = after <= state.reportedThrough && through > state.reportedThrough;
  saveState(stores, {
    ...state,
    reportedAtNs: nowNs,
    stableBytes: report.state.stableBytes,
    cycles: report.state.cycles,
    reservedCycles: report.state.reservedCycles,
    reportedThrough: continues ? through : state.reportedThrough,
  });
}

/** Adds cycles that were sent to a volume to those that it has reported. */
export function noteCycles(stores: Stores, volumeId: string, sent: number): void {
  const state = volumeState(stores, volumeId);
  if (state.cycles === undefined) return;
  saveState(stores, { ...state, cycles: Math.max(0, state.cycles + sent) });
}

/** A change of a volume by controllers of the front. */
export interface VolumeChange {
  readonly volumeId: string;
  readonly isClosed?: boolean | undefined;
  readonly limitBytes?: bigint | undefined;
}

/** Opens, closes or limits a volume of the list. For controllers of the front. */
export function changeVolume(stores: Stores, call: Call, change: VolumeChange): VolumeState {
  requireController(call);
  requireListed(requireFront(stores), change.volumeId);
  const { limitBytes } = change;
  if (limitBytes !== undefined && (limitBytes < 1n || limitBytes > volumeBytesMax)) {
    throw new Refusal(
      'InvalidArgument',
      `limitBytes must be 1 to ${volumeBytesMax}: above it, the network has no room for a canister.`,
      { limit: volumeBytesMax },
    );
  }
  const state = volumeState(stores, change.volumeId);
  const changed = {
    ...state,
    isClosed: change.isClosed ?? state.isClosed,
    limitBytes: limitBytes === undefined ? state.limitBytes : Number(limitBytes),
  };
  saveState(stores, changed);
  return changed;
}

/** Returns the role of a front; refuses a volume. */
export function requireFront(stores: Stores): FrontRole {
  const role = serviceRole(stores);
  if (role.kind === 'front') return role;
  throw new Refusal(
    'InvalidArgument',
    'This canister is a volume, which has no volumes: call the front.',
  );
}

export function requireListed(role: FrontRole, volumeId: string): void {
  if (role.volumes.includes(volumeId)) return;
  throw new Refusal(
    'InvalidArgument',
    `The front does not list the volume ${volumeId}: add it with addVolume, or see listVolumes.`,
  );
}

/** Forgets what a front knows of a volume that leaves its list. */
export function forgetVolume(stores: Stores, volumeId: string): void {
  stores.heap.rejections.delete(volumeId);
  stores.meta.delete(stateKey(volumeId));
  removeAddressesOf(stores, volumeId);
  forgetNamesOf(stores, volumeId);
}

const roomStepBytes = 1_073_741_824;
/** A volume that rejects a call gets no new buckets for this time if another one can take them. */
const rejectionNs = 600n * 1_000_000_000n;

/** Notes that a volume has rejected a call, such as because it is stopped or has no cycles. */
export function noteRejection({ heap }: Stores, volumeId: string, nowNs: bigint): void {
  heap.rejections.set(volumeId, nowNs);
}

/** Whether a volume has rejected a call within the last ten minutes. */
export function rejectsCalls({ heap }: Stores, volumeId: string, nowNs: bigint): boolean {
  const rejectedAtNs = heap.rejections.get(volumeId);
  return rejectedAtNs !== undefined && nowNs - rejectedAtNs < rejectionNs;
}

export interface VolumeChoice {
  readonly nowNs: bigint;
  /** Volumes that this request has asked. */
  readonly tried: ReadonlySet<string>;
}

/**
 * Returns the open volume with the most room, compared in steps of 1 GiB; among equals, the one
 * with the fewest buckets. Volumes that lately rejected a call come last, after them those tried.
 */
export function chooseVolume(stores: Stores, { nowNs, tried }: VolumeChoice): string {
  const states = volumeStates(stores);
  const unknown = states.find(({ reportedThrough }) => reportedThrough !== everyId);
  if (unknown !== undefined) {
    throw new Refusal(
      'ServiceUnavailable',
      `The volume ${unknown.volumeId} has not told the front all names of its buckets, so the front ` +
        'cannot know whether this name is free: try again in a minute. If that lasts, upgrade the ' +
        'volume and set its front, or remove it from the list.',
    );
  }
  const open = states.filter((state) => conditionOf(state) === 'open');
  const choices = open.map((state) => ({
    id: state.volumeId,
    turn: tried.has(state.volumeId) ? 2 : Number(rejectsCalls(stores, state.volumeId, nowNs)),
    steps: Math.floor(roomOf(state) / roomStepBytes),
    buckets: countNames(stores, state.volumeId),
  }));
  const [first, ...others] = choices.filter(({ buckets }) => buckets < bucketCountMax);
  if (first === undefined) {
    throw new Refusal(
      'QuotaExceeded',
      `Each of the ${states.length} volumes is full or closed: add one (at most ${volumeCountMax}), ` +
        'or raise limitBytes with updateVolume.',
      { limit: volumeCountMax },
    );
  }
  return others.reduce((best, next) => {
    const order = next.turn - best.turn || best.steps - next.steps || next.buckets - best.buckets;
    return order < 0 ? next : best;
  }, first).id;
}

export type VolumeCondition = 'open' | 'closed' | 'full' | 'unknown';

/** `unknown`: the volume has not reported all its buckets. */
export function conditionOf(state: VolumeState): VolumeCondition {
  if (state.isClosed) return 'closed';
  if (state.reportedThrough !== everyId) return 'unknown';
  return roomOf(state) > 0 ? 'open' : 'full';
}

/** Returns the bytes that the volume can still take: none if growth needs cycles for years. */
function roomOf({ limitBytes, stableBytes, reservedCycles }: VolumeState): number {
  return reservedCycles > 0 ? 0 : Math.max(0, limitBytes - stableBytes);
}
