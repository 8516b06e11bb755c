// What lives as long as the canister's heap: the opened stores, the random source and the timers.
// Set up anew after install and after every upgrade.

import { IDL } from '@dfinity/candid';
import { call, certifiedDataSet, setTimer, time } from 'azle';
import { skipAllRoot } from '../certification/skip-all.ts';
import { installKernelGate, kernelSelfTest } from '../crypto/kernel.ts';
import { createRandomSource } from '../crypto/random.ts';
import { reclaimContents } from '../domain/contents.ts';
import type { Stores } from '../domain/stores.ts';
import { expireUploads } from '../domain/upload-end.ts';
import { openBlobs } from '../storage/blobs.ts';
import { memoryIds, spaceIds } from '../storage/memory.ts';
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
  reclaims: openStableMap(memoryIds.reclaims),
  blobs: openBlobs(openSpace(spaceIds.blobs)),
};

const random = createRandomSource();
const upkeepIntervalSeconds = 3_600;

/** For init and post_upgrade, where no canister may be called: the rest happens on timers. */
export function setUp(): void {
  kernelSelfTest();
  certifiedDataSet(skipAllRoot());
  setTimer(0, seedRandom);
  setTimer(0, upkeep);
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
  if (!random.isSeeded()) {
    await seedRandom();
  }
  return random.next(length);
}

/** Ends what has expired and gives space back, a bounded step a message. */
function upkeep(): void {
  const mayHaveMore = [expireUploads(stores, time()), reclaimContents(stores)].includes(true);
  setTimer(mayHaveMore ? 0 : upkeepIntervalSeconds, upkeep);
}
