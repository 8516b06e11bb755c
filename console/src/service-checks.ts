// The checks of the page Service: the state of each part of the service and, where somebody must
// act, a sentence and the command.

import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import type { BudgetStatus, ServiceStatus } from '../../packages/client/src/types/service.ts';
import type { UploadSession } from '../../packages/client/src/types/transfers.ts';
import { texts } from './language.ts';
import {
  cyclesLeft,
  cyclesWords,
  daysWords,
  encryptionWords,
  freezingDays,
  yearDays,
} from './service-figures.ts';
import { sizeOf, whenWithin } from './words.ts';

export interface OwnBucket {
  readonly record: BucketRecord;
  /** Undefined if they are unknown. */
  readonly uploads?: readonly UploadSession[] | undefined;
}

/** A canister that stores files. */
export interface VolumeFacts {
  readonly canisterId: string;
  /** Undefined if it did not answer. */
  readonly status: ServiceStatus | undefined;
  /** The encryption key has been missing for longer than fetching it takes. */
  readonly isKeyLate: boolean;
}

export interface ServiceFacts {
  readonly volumes: readonly VolumeFacts[];
  /** Buckets that the caller owns; undefined for an API key, which cannot list them. */
  readonly buckets: readonly OwnBucket[] | undefined;
  readonly isLocal: boolean;
  readonly isAtFront: boolean;
  readonly now: number;
}

/** The facts of the service for the checks of one canister. */
interface CanisterFacts extends Omit<ServiceFacts, 'volumes'> {
  readonly canisterId: string;
  readonly status: ServiceStatus;
  readonly isKeyLate: boolean;
}

interface Act {
  readonly sentence: string;
  readonly command: string;
}

interface Line {
  readonly text: string;
  /** The bucket whose page has more. */
  readonly bucket?: string;
}

export interface Check {
  readonly title: string;
  readonly lines: readonly Line[];
  /** `unseen`: the service does not report the figures to this caller. */
  readonly state: 'fine' | 'wait' | 'unseen' | 'act';
  readonly acts: readonly Act[];
  readonly bar?: {
    readonly share: number;
    readonly label: string;
    readonly isLow: boolean;
    /** The measured amount, and the one at which the bar is full. */
    readonly ends: readonly [used: string, limit: string];
  };
}

/** Returns the checks, first those that need somebody. */
export function checksOf(facts: ServiceFacts): readonly Check[] {
  const checks = [
    ...facts.volumes.flatMap((volume, index) => checksOfVolume(facts, volume, index === 0)),
    checkUploads(facts),
    checkFront(facts),
  ];
  const rank = ({ state }: Check) => (state === 'act' ? 0 : 1);
  return checks.sort((a, b) => rank(a) - rank(b));
}

/** With several volumes, each title names its canister. `isFirst`: also checks all buckets. */
function checksOfVolume(
  { volumes, ...facts }: ServiceFacts,
  { status, ...volume }: VolumeFacts,
  isFirst: boolean,
): Check[] {
  const { canisterId } = volume;
  if (status === undefined) return [checkSilent(facts, canisterId)];
  const own = { ...facts, ...volume, status, ...(!isFirst && facts.buckets && { buckets: [] }) };
  const checks = [
    checkRoom(own),
    checkCycles(own),
    checkRequests(own),
    checkEncryption(own),
    checkDerivations(own),
  ];
  if (volumes.length === 1) return checks;
  return checks.map((check) => ({ ...check, title: `${check.title} – ${canisterId}` }));
}

function checkSilent(facts: Pick<ServiceFacts, 'isLocal'>, canisterId: string): Check {
  const { title, sentence } = texts().checks.silent;
  const command = `icp canister status ${canisterId}${networkOption(facts)}`;
  const acts = [{ sentence: sentence(canisterId), command }];
  return checkOf({ title: `${title} – ${canisterId}`, lines: [], acts });
}

/** `state`: the one without acts. */
function checkOf(check: Omit<Check, 'state'> & { readonly state?: Check['state'] }): Check {
  return { ...check, state: check.acts.length > 0 ? 'act' : (check.state ?? 'fine') };
}

function unseen(title: string, text: string): Check {
  return { title, lines: [{ text }], state: 'unseen', acts: [] };
}

/** Options of icp that name the network, with their space: by its name, and by environment. */
const networkOption = ({ isLocal }: Pick<ServiceFacts, 'isLocal'>) => (isLocal ? '' : ' -n ic');
const environmentOption = ({ isLocal }: CanisterFacts) => (isLocal ? '' : ' -e ic');

/** The network's limit for one canister, and its default limit for a heap. */
const stableBytesMax = 500 * 2 ** 30;
const heapBytesMax = 3 * 2 ** 30;
const memoryShareMax = 0.9;
/** A bucket is nearly full at this share of its quota: the next upload may be refused. */
const quotaShareMax = 0.95;

function checkRoom(facts: CanisterFacts): Check {
  const { stableBytes, heapBytes, chargesCycles, storageReservation } = facts.status;
  const { room } = texts().checks;
  const acts: Act[] = [];
  // On a cloud engine, a node's memory is the limit, and no call of the network returns it
  const isOnEngine = chargesCycles === false;
  if (!isOnEngine && stableBytes >= stableBytesMax * memoryShareMax) {
    acts.push({
      sentence: room.filesFull,
      command: 'efs rm -r <bucket>/<folder>',
    });
  }
  if (heapBytes >= heapBytesMax * memoryShareMax) {
    acts.push({
      sentence: room.programFull,
      command: `icp deploy${environmentOption(facts)}`,
    });
  }
  acts.push(...(facts.buckets ?? []).flatMap(({ record }) => quotaActs(record)));
  const share = stableBytes / stableBytesMax;
  const sizes = [sizeOf(stableBytes), sizeOf(stableBytesMax)] as const;
  return checkOf({
    title: room.title,
    lines: [
      { text: isOnEngine ? room.engine(sizes[0]) : room.limit(...sizes) },
      { text: room.forProgram(sizeOf(heapBytes), sizeOf(heapBytesMax)) },
      ...reservationLines(storageReservation),
    ],
    acts,
    ...(!isOnEngine && {
      bar: {
        share,
        label: room.forFiles(...sizes),
        isLow: share >= memoryShareMax,
        ends: [sizes[0], room.whole(sizes[1])],
      },
    }),
  });
}

/** The network keeps nothing for growth on a subnet with much room. */
function reservationLines(found: ServiceStatus['storageReservation']): Line[] {
  if (found === undefined || found.reservedCycles === 0) return [];
  const { reservedCycles, limitCycles } = found;
  return [
    { text: texts().checks.room.reserved(cyclesWords(reservedCycles), cyclesWords(limitCycles)) },
  ];
}

function usedBytes({ byteCount, overheadBytes, versionBytes }: BucketRecord): number {
  return byteCount + overheadBytes + versionBytes;
}

function quotaActs(record: BucketRecord): Act[] {
  const { id, fileCount, quotaBytes, quotaFiles } = record;
  const used = usedBytes(record);
  const { room } = texts().checks;
  const acts: Act[] = [];
  if (quotaBytes !== undefined && used >= quotaBytes * quotaShareMax) {
    acts.push({
      sentence: room.bucketFull(id, sizeOf(used), sizeOf(quotaBytes)),
      command: `efs bucket set ${id} --quota ${2 * quotaBytes}`,
    });
  }
  if (quotaFiles !== undefined && fileCount >= quotaFiles * quotaShareMax) {
    acts.push({
      sentence: room.bucketFilesFull(id, fileCount, quotaFiles),
      command: `efs bucket set ${id} --quota-files ${2 * quotaFiles}`,
    });
  }
  return acts;
}

function checkCycles(facts: CanisterFacts): Check {
  const { cycles: told } = texts().checks;
  const { title } = told;
  if (facts.status.chargesCycles === false) {
    return checkOf({ title, lines: [{ text: told.free }], acts: [] });
  }
  const left = cyclesLeft(facts.status);
  if (left === undefined) return unseen(title, told.unseen);
  const { cycles, days, reserve, acceptsUploads, isLow } = left;
  const time = daysWords(days);
  const sentence = acceptsUploads ? told.soon : told.now;
  const command = `icp canister top-up ${facts.canisterId} --amount 1t${networkOption(facts)}`;
  return checkOf({
    title,
    lines: [
      { text: told.enough(cyclesWords(cycles), time) },
      { text: told.reserve(freezingDays, cyclesWords(reserve)) },
    ],
    acts: isLow ? [{ sentence, command }] : [],
    bar: { share: days / yearDays, label: told.share(time), isLow, ends: [time, told.year] },
  });
}

/** Below this share of its burst, a budget counts as used up: some requests are refused. */
const leftShareMin = 0.1;

function isUsedUp({ burst, left }: BudgetStatus): boolean {
  return left < burst * leftShareMin;
}

function budgetLine(subject: string, { burst, perMinute, left }: BudgetStatus): Line {
  const { requests } = texts().checks;
  const text =
    burst === 0 ? requests.notAllowed(subject) : requests.budget(subject, left, burst, perMinute);
  return { text };
}

/** `name`: the name of the budget in `efs access`. */
function budgetActs(name: string, budget: BudgetStatus, sentence: string): Act[] {
  const { burst, perMinute } = budget;
  if (!isUsedUp(budget)) return [];
  const options = `--burst ${2 * burst} --per-minute ${2 * Math.max(1, perMinute)}`;
  return [{ sentence, command: `efs access ${name} ${options}` }];
}

function checkRequests({ status }: CanisterFacts): Check {
  const { requests: words } = texts().checks;
  const { title } = words;
  const { anonymousUpdates: anonymous, linkUpdates: links, refusals } = status;
  if (anonymous === undefined || links === undefined || refusals === undefined) {
    return unseen(title, words.unseen);
  }
  return checkOf({
    title,
    lines: [
      budgetLine(words.anonymous, anonymous),
      budgetLine(words.links, links),
      budgetLine(words.refusals, refusals),
      ...(isUsedUp(refusals) ? [{ text: words.flood }] : []),
    ],
    acts: [
      ...budgetActs('anonymous', anonymous, words.moreAnonymous),
      ...budgetActs('links', links, words.moreLinks),
    ],
  });
}

function checkDerivations({ status: { derivations } }: CanisterFacts): Check {
  const { derivations: words } = texts().checks;
  const { title } = words;
  if (derivations === undefined) return unseen(title, words.unseen);
  return checkOf({
    title,
    lines: [budgetLine(words.derivations, derivations)],
    acts: budgetActs('derivations', derivations, words.more),
  });
}

function checkEncryption(facts: CanisterFacts): Check {
  const { encryption } = facts.status;
  const { isKeyPresent, isRotating } = encryption;
  const { encryption: words } = texts().checks;
  const more = isRotating ? [{ text: words.continues }] : [];
  const act = {
    sentence: words.late,
    command: `icp canister logs ${facts.canisterId}${networkOption(facts)}`,
  };
  return checkOf({
    title: words.title,
    lines: [{ text: `${encryptionWords(encryption)}.` }, ...more],
    state: isKeyPresent && !isRotating ? 'fine' : 'wait',
    acts: facts.isKeyLate ? [act] : [],
  });
}

/** The service refuses more open uploads in one bucket. */
const openUploadsMax = 50;
const idleMs = 3_600_000;

function checkUploads({ buckets, now }: ServiceFacts): Check {
  const { uploads: words } = texts().checks;
  const { title } = words;
  if (buckets === undefined) return unseen(title, words.unseen);
  const busy = buckets.filter(({ record }) => record.openUploads > 0);
  const quiet = busy.length === 0 ? words.none : words.ends;
  return checkOf({
    title,
    lines: [...busy.map((bucket) => uploadsLine(bucket, now)), { text: quiet }],
    acts: busy.flatMap((bucket) => uploadsActs(bucket, now)),
  });
}

/** Returns the bytes of the quota that an upload reserves. */
function heldBytes({ isSizeKnown, totalSize, uploadedSize }: UploadSession): number {
  return isSizeKnown ? totalSize : uploadedSize;
}

function sumOfHeld(uploads: readonly UploadSession[]): number {
  return uploads.reduce((sum, upload) => sum + heldBytes(upload), 0);
}

function idleOf(uploads: readonly UploadSession[], now: number): readonly UploadSession[] {
  return uploads.filter(({ updatedAt }) => now - Date.parse(updatedAt) > idleMs);
}

function uploadsLine({ record, uploads }: OwnBucket, now: number): Line {
  const { id: bucket, openUploads } = record;
  const { uploads: words } = texts().checks;
  if (uploads === undefined || uploads.length === 0) {
    return { bucket, text: words.count(openUploads) };
  }
  const oldest = uploads.map(({ createdAt }) => createdAt).reduce((a, b) => (a < b ? a : b));
  const idle = idleOf(uploads, now).length;
  const held = sizeOf(sumOfHeld(uploads));
  return { bucket, text: words.held(uploads.length, held, whenWithin(oldest, now), idle) };
}

/** Idle uploads need somebody only if they leave no room for others. */
function uploadsActs({ record, uploads = [] }: OwnBucket, now: number): Act[] {
  const { id, openUploads, quotaBytes = Number.POSITIVE_INFINITY } = record;
  const nearlyFull = quotaBytes * quotaShareMax;
  const used = usedBytes(record);
  const areMany = openUploads >= openUploadsMax;
  const doFill = used < nearlyFull && used + sumOfHeld(uploads) >= nearlyFull;
  if (!(areMany || doFill) || idleOf(uploads, now).length === 0) return [];
  return [{ sentence: texts().checks.uploads.idle(id), command: `efs uploads ls ${id}` }];
}

function checkFront({ isAtFront }: ServiceFacts): Check {
  const { front } = texts().checks;
  const text = isAtFront ? front.present : front.absent;
  return checkOf({ title: front.title, lines: [{ text }], acts: [] });
}
