// What lives as long as the canister's heap: the opened stores, the random source and the timers.
// Set up anew after install and after every upgrade.

import { setTimer, setTimerInterval, time } from 'azle';
import { kernelSelfTest } from '../crypto/kernel.ts';
import { createRandomSource } from '../crypto/random.ts';
import { continueRotation } from '../domain/administration/key-rotation.ts';
import { upgradeRecords } from '../domain/administration/record-upgrade.ts';
import { renewSites } from '../domain/administration/site-renewal.ts';
import { reclaimContents } from '../domain/contents/contents.ts';
import { releaseKept } from '../domain/contents/kept-contents.ts';
import { endLinks } from '../domain/files/links.ts';
import { expireVersions } from '../domain/files/versions.ts';
import {
  areRootKeysAtHand,
  configureRootKey,
  KeyUnavailable,
  type RootKeySource,
} from '../domain/keys/root-keys.ts';
import { createHeapState } from '../domain/shared/heap-state.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { expireUploads } from '../domain/uploads/upload-end.ts';
import { openBlobs } from '../storage/blobs.ts';
import type { ByteMap } from '../storage/byte-map.ts';
import { openErasableSlots } from '../storage/erasable-slots.ts';
import { memoryIds, spaceIds } from '../storage/memory.ts';
import { openOrderedIndex, openSummedIndex } from '../storage/ordered-index.ts';
import { openSpace } from '../storage/space.ts';
import { openStableMap } from '../storage/stable-map.ts';
import { publication, publishRoot, setUpPublication } from './publication.ts';
import { keepFresh, reseedSoon } from './random-refresh.ts';
import { createRootKeyKeeper } from './root-key.ts';

const random = createRandomSource();

export const stores: Stores = {
  meta: openStableMap(memoryIds.meta),
  buckets: openStableMap(memoryIds.buckets),
  apiKeys: openStableMap(memoryIds.apiKeys),
  files: openStableMap(memoryIds.files),
  chunks: openStableMap(memoryIds.chunks),
  uploads: openStableMap(memoryIds.uploads),
  uploadExpirations: openStableMap(memoryIds.uploadExpirations),
  reclaims: wakingMap(openStableMap(memoryIds.reclaims)),
  blobs: openBlobs(openSpace(spaceIds.blobs)),
  index: openOrderedIndex(spaceIds.index),
  sizes: openSummedIndex(spaceIds.sizes),
  members: openStableMap(memoryIds.members),
  directory: openOrderedIndex(spaceIds.directory),
  keySlots: openErasableSlots(openSpace(spaceIds.wrappedKeys)),
  secrets: { random: nextRandom, rootKeys: new Map() },
  heap: createHeapState(),
  publication,
};

/** A note of space to be given back starts a timer that does it. */
function wakingMap(map: ByteMap): ByteMap {
  return {
    ...map,
    set(key, value) {
      if (!isReclaiming) {
        isReclaiming = true;
        setTimer(0, reclaim);
      }
      return map.set(key, value);
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

const upkeepIntervalSeconds = 600;

export const rootKeys = createRootKeyKeeper({ stores, random }, startUpkeep);

/** For init and post_upgrade, where no canister may be called: the rest happens on timers. */
export function setUp(source: RootKeySource | undefined): void {
  kernelSelfTest();
  setUpPublication(stores);
  configureRootKey(stores, source);
  rootKeys.start();
  keepFresh(random);
  startUpkeep();
  // An interval goes on after a step that trapped, and so after a lost wake-up.
  setTimerInterval(upkeepIntervalSeconds, upkeep);
}

/** What a canister that goes on from a snapshot draws depends on the time too. */
function nextRandom(length: number): Uint8Array {
  const nowNs = time();
  if (!random.isFresh(nowNs)) {
    throw new KeyUnavailable();
  }
  return random.next(length, nowNs);
}

/**
 * Runs an update when random bytes and keys are there; only in the moments after install and
 * upgrade is there anything to wait for. Everything is checked after the wait. After what `run`
 * awaits, nothing that is certified may change.
 */
export function onceReady(run: () => void | Promise<void>): void | Promise<void> {
  const waiting = rootKeys.whenReady();
  const runAndPublish = () => {
    const running = run();
    publishRoot();
    return running;
  };
  return waiting === undefined ? runAndPublish() : waiting.then(runAndPublish);
}

/**
 * Ends what has expired, gives space back, goes on with rotations and brings records of an earlier
 * version to the present one, a bounded step a message.
 */
function upkeep(): void {
  const nowNs = time();
  const steps = [
    expireUploads(stores, nowNs),
    releaseKept(stores, nowNs),
    expireVersions(stores, nowNs),
    endLinks(stores, nowNs),
    reclaimContents(stores),
    areRootKeysAtHand(stores) && workOnRecords(),
  ];
  publishRoot();
  const mayHaveMore = steps.includes(true);
  if (mayHaveMore) {
    startUpkeep();
  }
}

function workOnRecords(): boolean {
  return continueRotation(stores) || upgradeRecords(stores) || renewSites(stores);
}

/** For a key that takes another's place: what is drawn after it comes of fresh bytes. */
export function startReseed(): void {
  reseedSoon(random);
}

/** For work that has come up: at once, not at the next interval. */
export function startUpkeep(): void {
  setTimer(0, upkeep);
}
