// State with the lifetime of the canister's heap: opened stores, random source, timers. Set up at
// install and at every upgrade.

import { clearTimer, setTimerInterval, time } from 'azle';
import { kernelSelfTest, wakeTimers } from '../../crypto/kernel.ts';
import { createRandomSource } from '../../crypto/random.ts';
import { continueRotation } from '../../domain/administration/key-rotation.ts';
import { nextUpkeepNs } from '../../domain/administration/next-upkeep.ts';
import {
  mayHaveFormerRecords,
  upgradeRecords,
} from '../../domain/administration/record-upgrade.ts';
import { actOnRules } from '../../domain/administration/rule-work.ts';
import { configureRole, type RoleSettings } from '../../domain/administration/service-role.ts';
import { nextRuleCheckNs } from '../../domain/buckets/rule-times.ts';
import { reclaimContents } from '../../domain/contents/contents.ts';
import { releaseKept } from '../../domain/contents/kept-contents.ts';
import { endLinks } from '../../domain/files/link-records.ts';
import { endLinksOfFormerControllers } from '../../domain/files/links.ts';
import { renewSites } from '../../domain/files/site-renewal.ts';
import { expireVersions } from '../../domain/files/version-records.ts';
import { cutJournal } from '../../domain/journal/journal-retention.ts';
import {
  configureRootKey,
  KeyUnavailable,
  type RootKeySource,
} from '../../domain/keys/root-keys.ts';
import { areCyclesLow } from '../../domain/shared/cycles.ts';
import { createHeapState } from '../../domain/shared/heap-state.ts';
import { isFront } from '../../domain/shared/role-record.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { expireUploads } from '../../domain/uploads/upload-end.ts';
import { openBlobs } from '../../storage/blobs.ts';
import type { ByteMap } from '../../storage/byte-map.ts';
import { openErasableSlots } from '../../storage/erasable-slots.ts';
import { withFormerRecords } from '../../storage/former-records.ts';
import { memoryIds, spaceIds } from '../../storage/memory.ts';
import { openOrderedIndex } from '../../storage/ordered-index.ts';
import { openRecordMap } from '../../storage/record-map.ts';
import { openSpace } from '../../storage/space.ts';
import { stableMap } from '../../storage/stable-map.ts';
import { spendableCycles } from '../../storage/stable-space.ts';
import { createBucketOrders } from './bucket-orders.ts';
import { deployedProxy, deployment } from './deployment.ts';
import { createEventDelivery } from './event-delivery.ts';
import { createFrontContact } from './front-contact.ts';
import { asTimer, createJournal, journalLog } from './journal.ts';
import { publication, publishRoot, setUpPublication } from './publication.ts';
import { createRefresher, createReseedTimer } from './random-refresh.ts';
import { createRootKeyKeeper } from './root-key.ts';
import { followGrowth } from './storage-reservation.ts';
import { isController } from './system.ts';
import { createOneShotTimer } from './timers.ts';
import { createTopUps } from './top-ups.ts';

const random = createRandomSource();

const maps = {
  meta: stableMap(memoryIds.meta),
  buckets: stableMap(memoryIds.buckets),
  apiKeys: stableMap(memoryIds.apiKeys),
  uploads: stableMap(memoryIds.uploads),
  uploadExpirations: stableMap(memoryIds.uploadExpirations),
  reclaims: stableMap(memoryIds.reclaims),
  members: stableMap(memoryIds.members),
};

/** Maps of release 0.1.0, opened only while they may have records. */
const formerMaps = {
  files: stableMap(memoryIds.formerFiles),
  chunks: stableMap(memoryIds.formerChunks),
};

export const stores: Stores = {
  ...maps,
  reclaims: wakingMap(maps.reclaims),
  blobs: openBlobs(openSpace(spaceIds.blobs)),
  index: openOrderedIndex(spaceIds.index),
  records: withFormerRecords(openRecordMap(spaceIds.records)),
  directory: openOrderedIndex(spaceIds.directory),
  keySlots: openErasableSlots(openSpace(spaceIds.wrappedKeys)),
  secrets: { random: nextRandom, rootKeys: new Map(), journals: new Map() },
  heap: createHeapState(),
  isController,
  journalLog,
  journal: createJournal(
    () => stores,
    () => eventDelivery.arm(),
  ),
  publication,
};

/** Returns a map in which a new note about space to free starts the timer that frees it. */
function wakingMap(map: ByteMap): ByteMap {
  return {
    ...map,
    set(key, value) {
      reclaimTimer.arm();
      return map.set(key, value);
    },
  };
}

// ARCHITECTURE.md, "Timers", lists for each timer what arms it again after a loss.
const reclaimTimer = createOneShotTimer(() => {
  if (reclaimContents(stores)) reclaimTimer.arm();
});
const upkeepTimer = createOneShotTimer(upkeep);
const recordsTimer = createOneShotTimer(workOnRecords);
const rulesTimer = createOneShotTimer(() => asTimer(workOnRules));
const frontContact = createFrontContact(stores);
export const eventDelivery = createEventDelivery(stores, () => rootKeys.areAtHand());
export const bucketOrders = createBucketOrders(stores);
export const topUps = createTopUps(stores);
const reseedTimer = createReseedTimer(random);
const refresher = createRefresher(random, (sinceNs) => usedAtNs >= sinceNs || mayHaveRecordWork);

const nsPerSecond = 1_000_000_000n;
/** The interval of upkeep; while there is no work, the time until there is, at most a day. */
const upkeepSecondsMin = 600;
const upkeepSecondsMax = 86_400;
let upkeepSeconds = upkeepSecondsMin;
let upkeepInterval: bigint | undefined;
let upkeepAtNs = 0n;
/** Time of the last update of a caller. */
let usedAtNs = 0n;
/** False once a step found nothing to do, so that upkeep costs no second message. */
let mayHaveRecordWork = true;

export const rootKeys = createRootKeyKeeper({ stores, random }, startWorkWithKeys);

export interface StartSettings {
  readonly source: RootKeySource | undefined;
  readonly role: Pick<RoleSettings, 'asked' | 'isInstall'>;
}

/** For init and post_upgrade, which cannot call canisters: timers do the rest. */
export function setUp({ source, role }: StartSettings): void {
  kernelSelfTest();
  configureRole(stores, { ...role, ...deployment() });
  setUpPublication(stores);
  if (isFront(stores)) {
    bucketOrders.arm();
    topUps.arm();
    return;
  }
  for (const map of Object.values(maps)) map.open();
  if (!role.isInstall && mayHaveFormerRecords(stores)) attachFormerMaps();
  configureRootKey(stores, source, deployedProxy());
  rootKeys.start();
  startUpkeep();
  startIntervals();
  frontContact.start();
  eventDelivery.start();
}

function attachFormerMaps(): void {
  for (const map of Object.values(formerMaps)) map.open();
  stores.records.attachFormer(formerMaps);
}

/** Intervals continue after a turn that trapped or was refused; one-shot timers do not. */
function startIntervals(): void {
  refresher.start();
  startUpkeepInterval(upkeepSecondsMin);
  upkeepAtNs = time();
}

function startUpkeepInterval(seconds: number): void {
  if (upkeepInterval !== undefined) clearTimer(upkeepInterval);
  upkeepInterval = setTimerInterval(seconds, upkeep);
  upkeepSeconds = seconds;
}

/**
 * Starts all timers again if upkeep has not run for two turns. A snapshot taken while timers ran
 * lacks those timers, and its heap waits for answers that never arrive.
 */
function reviveTimers(): void {
  usedAtNs = time();
  refresher.resume();
  if (usedAtNs - upkeepAtNs > 2n * BigInt(upkeepSeconds) * nsPerSecond) {
    startIntervals();
    startUpkeep();
    wakeTimers();
  } else if (upkeepSeconds > upkeepSecondsMin) {
    // The update may leave work for the next turn
    startUpkeepInterval(upkeepSecondsMin);
    upkeepAtNs = usedAtNs;
  }
}

/** Lets upkeep rest until there is work, unless there may be some now. */
function planUpkeep(nowNs: bigint): void {
  const isUsed = nowNs - usedAtNs < BigInt(upkeepSecondsMin) * nsPerSecond;
  const isBusy = isUsed || mayHaveRecordWork || frontContact.hasWork() || !rootKeys.areAtHand();
  const workAtNs = isBusy ? nowNs : nextUpkeepNs(stores, nowNs);
  const seconds =
    workAtNs === undefined ? upkeepSecondsMax : Number((workAtNs - nowNs) / nsPerSecond) + 1;
  const planned = Math.min(Math.max(seconds, upkeepSecondsMin), upkeepSecondsMax);
  if (planned !== upkeepSeconds) startUpkeepInterval(planned);
}

/** Returns random bytes that also depend on the time, so a restored snapshot returns others. */
function nextRandom(length: number): Uint8Array {
  const nowNs = time();
  if (!random.isFresh(nowNs)) {
    throw new KeyUnavailable();
  }
  return random.next(length, nowNs);
}

/**
 * Runs an update when random bytes and keys are available; it waits only shortly after install and
 * upgrade. All checks run after the wait. After `run` awaits anything, no certified data may
 * change.
 */
export function onceReady(run: () => void | Promise<void>): void | Promise<void> {
  // A front has no secrets, and no regular work
  if (isFront(stores)) bucketOrders.arm();
  else reviveTimers();
  const waiting = isFront(stores) ? undefined : rootKeys.whenReady();
  const runAndPublish = () => {
    const { unreported } = stores.heap;
    stores.heap.usedKeyId = undefined;
    const running = run();
    publishRoot();
    startNewRenewals();
    if (stores.heap.unreported !== unreported) frontContact.arm();
    return running;
  };
  return waiting === undefined ? runAndPublish() : waiting.then(runAndPublish);
}

/**
 * Deletes expired data and frees space, a bounded step per message. Records have a timer of their
 * own: a step that traps would otherwise roll all of this back.
 */
function upkeep(): void {
  asTimer(turnOfUpkeep);
}

function turnOfUpkeep(): void {
  const nowNs = time();
  upkeepAtNs = nowNs;
  rootKeys.resume();
  frontContact.resume();
  // A canister that nobody uses does not grow
  if (usedAtNs > 0n) followGrowth(nowNs);
  endLinksOfFormerControllers(stores);
  const steps = [
    expireUploads(stores, nowNs),
    releaseKept(stores, nowNs),
    // Its entries need keys
    rootKeys.areAtHand() && expireVersions(stores, nowNs),
    rootKeys.areAtHand() && endLinks(stores, nowNs),
    cutJournal(stores, nowNs),
    reclaimContents(stores),
  ];
  publishRoot();
  if (mayHaveRecordWork && rootKeys.isReady()) recordsTimer.arm();
  if (areRulesDue(nowNs)) rulesTimer.arm();
  eventDelivery.resume();
  if (steps.includes(true)) startUpkeep();
  else planUpkeep(nowNs);
}

/** Continues rotations and the conversion of records, a bounded step per message. */
function workOnRecords(): void {
  // Work that needs a key waits until it arrives.
  if (!rootKeys.isReady()) return;
  mayHaveRecordWork =
    continueRotation(stores) || upgradeRecords(stores, time()) || renewSites(stores, time());
  publishRoot();
  if (mayHaveRecordWork) recordsTimer.arm();
}

/** Rules wait for keys, for the pages of sites, and while the cycles are needed for other work. */
function areRulesDue(nowNs: bigint): boolean {
  const dueNs = nextRuleCheckNs(stores);
  if (dueNs === undefined || dueNs > nowNs) return false;
  return rootKeys.areAtHand() && !areCyclesLow(spendableCycles());
}

/**
 * Carries out due rules, a bounded step per message. Upkeep then erases versions and ends uploads,
 * and plans its next turn.
 */
function workOnRules(): void {
  const nowNs = time();
  if (!areRulesDue(nowNs)) return;
  const hasMore = actOnRules(stores, nowNs);
  publishRoot();
  startNewRenewals();
  if (hasMore) rulesTimer.arm();
  else startUpkeep();
}

/** Continues at once what has waited for keys, such as after an upgrade. */
function startWorkWithKeys(): void {
  startRecordWork();
  if (areRulesDue(time())) rulesTimer.arm();
  eventDelivery.resume();
}

/** Starts new rules at once. */
export function startRules(): void {
  rulesTimer.arm();
}

/** Reseeds the random source soon after a key was replaced. */
export function startReseed(): void {
  reseedTimer.arm();
}

/** Starts upkeep for new work at once instead of at the next interval. */
export function startUpkeep(): void {
  upkeepTimer.arm();
}

function startNewRenewals(): void {
  if (!stores.heap.hasNewRenewal) return;
  stores.heap.hasNewRenewal = false;
  startRecordWork();
}

/** Starts new work on records at once: a rotation, or a change of files' certified answers. */
export function startRecordWork(): void {
  mayHaveRecordWork = true;
  recordsTimer.arm();
}
