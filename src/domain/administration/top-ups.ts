// Cycles that a front sends to its volumes. A volume below a limit is topped up from the front's
// own balance, at most once an hour and within daily limits, so that a volume whose visitors or
// owners spend its cycles cannot spend those of the whole service. In the meta map:
//
//   top-ups -> 0: version 1 | minimum u64 | target u64 | daily u64 | daily of each volume u64
//              | kept at the front u64
//
// In the directory, kind 22:
//
//   time, ns, 19 digits | 0 | volume id | 0 | 'limits' or 'request' -> cycles

import { encodeUtf8 } from '../../lib/text.ts';
import { topUpRecordsMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { IndexEntry } from '../../storage/ordered-index.ts';
import { type Call, requireController } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { keyOf, textsOf } from './volume-entries.ts';
import {
  noteCycles,
  noteRejection,
  rejectsCalls,
  requireFront,
  requireListed,
  volumeStates,
} from './volume-states.ts';

const version = 1;
const settingsKey = () => encodeUtf8('top-ups');
const kind = 22;
const timeDigits = 19;
const hourNs = 3_600n * 1_000_000_000n;
const dayNs = 24n * hourNs;
/** A smaller top-up waits until the limits allow more: the call itself costs about 10 M cycles. */
const amountMin = 10_000_000_000;
const cyclesMax = Number.MAX_SAFE_INTEGER;

/** When a front tops up volumes, in cycles that can be spent before a canister freezes. */
export interface TopUpLimits {
  /** A volume with fewer cycles is topped up. */
  readonly volumeMinimum: number;
  /** The cycles of a volume after a top-up. */
  readonly volumeTarget: number;
  /** The maximum for all volumes together within 24 hours; 0 ends all top-ups by limits. */
  readonly daily: number;
  /** The maximum for each volume within 24 hours. */
  readonly dailyPerVolume: number;
  /** The front keeps this many cycles. */
  readonly frontMinimum: number;
}

export interface TopUp {
  readonly atNs: bigint;
  readonly volumeId: string;
  readonly cycles: number;
  /** `request`: a controller asked for it; such top-ups do not count for the limits. */
  readonly cause: 'limits' | 'request';
}

/** Returns the limits; `undefined` until a controller has set them. */
export function topUpLimits({ meta }: Stores): TopUpLimits | undefined {
  const stored = meta.get(settingsKey());
  if (stored === undefined) return undefined;
  const reader = new RecordReader(stored, version);
  return {
    volumeMinimum: reader.integer(),
    volumeTarget: reader.integer(),
    daily: reader.integer(),
    dailyPerVolume: reader.integer(),
    frontMinimum: reader.integer(),
  };
}

/** The limits that a first change does not name: nothing is sent without a daily maximum. */
const initialLimits: TopUpLimits = {
  volumeMinimum: 2_000_000_000_000,
  volumeTarget: 4_000_000_000_000,
  daily: 0,
  dailyPerVolume: 4_000_000_000_000,
  frontMinimum: 2_000_000_000_000,
};

/** Changes the limits of a front and returns them. For controllers. */
export function changeTopUpLimits(
  stores: Stores,
  call: Call,
  change: Partial<TopUpLimits>,
): TopUpLimits {
  requireController(call);
  requireFront(stores);
  const limits = { ...(topUpLimits(stores) ?? initialLimits), ...change };
  const amounts = Object.values(limits) as number[];
  const isPossible = amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0);
  if (!isPossible || limits.volumeTarget < limits.volumeMinimum + amountMin) {
    throw new Refusal(
      'InvalidArgument',
      `Limits are whole numbers of cycles up to ${cyclesMax}, and volumeTarget is at least ` +
        `${amountMin} more than volumeMinimum; got ${amounts.join(', ')}.`,
      { limit: cyclesMax },
    );
  }
  const { volumeMinimum, volumeTarget, daily, dailyPerVolume, frontMinimum } = limits;
  const record = new RecordWriter(version)
    .u64(volumeMinimum)
    .u64(volumeTarget)
    .u64(daily)
    .u64(dailyPerVolume)
    .u64(frontMinimum)
    .finish([]);
  stores.meta.set(settingsKey(), record);
  return limits;
}

/** Checks a controller's request for one top-up. */
export function checkRequest(
  stores: Stores,
  call: Call,
  { volumeId, cycles }: { readonly volumeId: string; readonly cycles: number },
): void {
  requireController(call);
  requireListed(requireFront(stores), volumeId);
  if (Number.isSafeInteger(cycles) && cycles > 0) return;
  throw new Refusal('InvalidArgument', `Send 1 to ${cyclesMax} cycles.`, { limit: cyclesMax });
}

/**
 * Returns the next top-up by the limits, if one is due. `spendable`: cycles that the front can
 * spend before it freezes.
 */
export function dueTopUp(
  stores: Stores,
  { nowNs, spendable }: { readonly nowNs: bigint; readonly spendable: number },
): TopUp | undefined {
  const limits = topUpLimits(stores);
  const low = limits === undefined ? [] : lowVolumes(stores, limits);
  if (limits === undefined || low.length === 0) return undefined;
  const today = recentTopUps(stores, nowNs).filter(({ cause }) => cause === 'limits');
  const left = Math.min(limits.daily - sumOf(today), spendable - limits.frontMinimum);
  for (const { volumeId, cycles } of low) {
    const own = today.filter((topUp) => topUp.volumeId === volumeId);
    const isPaused = own.some(({ atNs }) => nowNs - atNs < hourNs);
    if (isPaused || rejectsCalls(stores, volumeId, nowNs)) continue;
    const missing = limits.volumeTarget - cycles;
    const amount = Math.min(missing, left, limits.dailyPerVolume - sumOf(own));
    if (amount >= amountMin) return { atNs: nowNs, volumeId, cycles: amount, cause: 'limits' };
  }
  return undefined;
}

/** Whether a volume has too few cycles and may be topped up later. */
export function isAnyLow(stores: Stores): boolean {
  const limits = topUpLimits(stores);
  return limits !== undefined && limits.daily > 0 && lowVolumes(stores, limits).length > 0;
}

interface LowVolume {
  readonly volumeId: string;
  readonly cycles: number;
}

function lowVolumes(stores: Stores, { volumeMinimum }: TopUpLimits): LowVolume[] {
  const known = volumeStates(stores).flatMap(({ volumeId, cycles }) =>
    cycles === undefined ? [] : [{ volumeId, cycles }],
  );
  return known.filter(({ cycles }) => cycles < volumeMinimum);
}

function sumOf(topUps: readonly TopUp[]): number {
  return topUps.reduce((sum, { cycles }) => sum + cycles, 0);
}

/** Records a top-up before its cycles are sent, so that no limit is exceeded if its end is lost. */
export function recordTopUp(stores: Stores, topUp: TopUp): void {
  const { directory } = stores;
  const first = entriesUnder(directory, { scope: Uint8Array.of(kind), limit: 1 })[0];
  if (first !== undefined && countTopUps(stores) >= topUpRecordsMax) directory.remove(first.key);
  const key = keyOfTopUp(topUp);
  directory.insert(key, (directory.find(key) ?? 0n) + BigInt(topUp.cycles));
  noteCycles(stores, topUp.volumeId, topUp.cycles);
}

/** Removes the record of cycles that were not sent; their volume gets none for ten minutes. */
export function forgetTopUp(stores: Stores, topUp: TopUp, nowNs: bigint): void {
  const { directory } = stores;
  const key = keyOfTopUp(topUp);
  const others = (directory.find(key) ?? 0n) - BigInt(topUp.cycles);
  if (others > 0n) directory.insert(key, others);
  else directory.remove(key);
  noteCycles(stores, topUp.volumeId, -topUp.cycles);
  noteRejection(stores, topUp.volumeId, nowNs);
}

/** Returns the last top-ups, the newest first. */
export function lastTopUps(stores: Stores, limit: number): TopUp[] {
  const end = countTopUps(stores);
  return readTopUps(stores, Math.max(0, end - limit), limit).reverse();
}

function recentTopUps(stores: Stores, nowNs: bigint): TopUp[] {
  const { directory } = stores;
  const after = directory.rank(keyOf(kind, digitsOf(nowNs - dayNs + 1n)));
  const skipped = after - directory.rank(Uint8Array.of(kind));
  return readTopUps(stores, skipped, topUpRecordsMax);
}

function readTopUps(stores: Stores, skipped: number, limit: number): TopUp[] {
  const { directory } = stores;
  const count = Math.min(limit, countTopUps(stores) - skipped);
  const start = directory.rank(Uint8Array.of(kind)) + skipped;
  return count > 0 ? directory.read(start, count).map(topUpOf) : [];
}

function countTopUps({ directory }: Stores): number {
  return directory.rank(Uint8Array.of(kind + 1)) - directory.rank(Uint8Array.of(kind));
}

function keyOfTopUp({ atNs, volumeId, cause }: TopUp): Uint8Array {
  return keyOf(kind, digitsOf(atNs), volumeId, cause);
}

function topUpOf(entry: IndexEntry): TopUp {
  const [digits = '', volumeId = '', cause] = textsOf(entry);
  return {
    atNs: BigInt(digits),
    volumeId,
    cycles: Number(entry.value),
    cause: cause === 'request' ? 'request' : 'limits',
  };
}

function digitsOf(timeNs: bigint): string {
  return String(timeNs > 0n ? timeNs : 0n).padStart(timeDigits, '0');
}
