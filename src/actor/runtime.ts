// What lives as long as the canister's heap: the opened stores, the random source and the timers.
// Set up anew after install and after every upgrade.

import { IDL } from '@dfinity/candid';
import { call, certifiedDataSet, setTimer, setTimerInterval, time } from 'azle';
import { skipAllRoot } from '../certification/skip-all.ts';
import { installKernelGate, kernelSelfTest } from '../crypto/kernel.ts';
import { createRandomSource } from '../crypto/random.ts';
import { migrateBuckets } from '../domain/bucket-migration.ts';
import { reclaimContents } from '../domain/contents.ts';
import type { Stores } from '../domain/stores.ts';
import { expireUploads } from '../domain/upload-end.ts';
import { openBlobs } from '../storage/blobs.ts';
import type { ByteMap } from '../storage/byte-map.ts';
import { memoryIds, spaceIds } from '../storage/memory.ts';
import { openOrderedIndex } from '../storage/ordered-index.ts';
import { openSpace } from '../storage/space.ts';
import { openStableMap } from '../storage/stable-map.ts';

installKernelGate(certifiedDataSet);

export const stores: Stores = {
  meta: openStableMap(memoryIds.meta),
  buckets: openStableMap(memoryIds.buckets),
  keys: openStableMap(memoryIds.keys),
  files: openStableMap(memoryIds.files),
  chunks: openStableMap(memoryIds.chunks),
  uploads: openStableMap(memoryIds.uploads),
  uploadExpirations: openStableMap(memoryIds.uploadExpirations),
  reclaims: wakingMap(openStableMap(memoryIds.reclaims)),
  blobs: openBlobs(openSpace(spaceIds.blobs)),
  index: openOrderedIndex(spaceIds.index),
  members: openStableMap(memoryIds.members),
  directory: openOrderedIndex(spaceIds.directory),
};

/** A note of space to be given back starts a timer that does it. */
function wakingMap(map: ByteMap): ByteMap {
  return {
    ...map,
    set(key, value) {
      map.set(key, value);
      if (!isReclaiming) {
        isReclaiming = true;
        setTimer(0, reclaim);
      }
    },
  };
}

// A timer is pending; lost with the timers at an upgrade, after which upkeep() begins anew.
let isReclaiming = false;

function reclaim(): void {
  isReclaiming = reclaimContents(stores);
  if (isReclaiming) {
    setTimer(0, reclaim);
  }
}

const random = createRandomSource();
const upkeepIntervalSeconds = 600;

/** For init and post_upgrade, where no canister may be called: the rest happens on timers. */
export function setUp(): void {
  kernelSelfTest();
  certifiedDataSet(skipAllRoot());
  migrateBuckets(stores);
  setTimer(0, seedRandom);
  setTimer(0, upkeep);
  // An interval goes on after a step that trapped, and so after a lost wake-up.
  setTimerInterval(upkeepIntervalSeconds, upkeep);
}

async function seedRandom(): Promise<void> {
  const blob = IDL.Vec(IDL.Nat8);
  random.seed(await call<[], Uint8Array>('aaaaa-aa', 'raw_rand', { returnIdlType: blob }));
}

/**
 * Awaits the first seed when the timer has not brought it yet; callers check anew what they checked
 * before.
 */
export async function randomBytes(length: number): Promise<Uint8Array> {
  await seedOnce();
  return random.next(length);
}

/** For a message that has awaited seedOnce(). */
export function nextRandom(length: number): Uint8Array {
  return random.next(length);
}

/** `undefined` when there is nothing to wait for. */
export function seedOnce(): Promise<void> | undefined {
  return random.isSeeded() ? undefined : seedRandom();
}

/** Ends what has expired and gives space back, a bounded step a message. */
function upkeep(): void {
  const mayHaveMore = [expireUploads(stores, time()), reclaimContents(stores)].includes(true);
  if (mayHaveMore) {
    setTimer(0, upkeep);
  }
}
