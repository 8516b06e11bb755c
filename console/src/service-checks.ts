// The checks of the page Service: the state of each part of the service and, where somebody must
// act, a sentence and the command.

import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import type { BudgetStatus, ServiceStatus } from '../../packages/client/src/types/service.ts';
import type { UploadSession } from '../../packages/client/src/types/transfers.ts';
import {
  cyclesLeft,
  cyclesWords,
  daysWords,
  encryptionWords,
  freezingDays,
  yearDays,
} from './service-figures.ts';
import { counted, sizeOf, whenOf } from './words.ts';

export interface OwnBucket {
  readonly record: BucketRecord;
  /** Undefined if they are unknown. */
  readonly uploads?: readonly UploadSession[] | undefined;
}

export interface ServiceFacts {
  readonly status: ServiceStatus;
  /** Buckets that the caller owns; undefined for an API key, which cannot list them. */
  readonly buckets: readonly OwnBucket[] | undefined;
  readonly canisterId: string;
  readonly isLocal: boolean;
  readonly isAtFront: boolean;
  /** The encryption key has been missing for longer than fetching it takes. */
  readonly isKeyLate: boolean;
  readonly now: number;
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
  readonly bar?: { readonly share: number; readonly label: string; readonly isLow: boolean };
}

/** Returns the checks, first those that need somebody. */
export function checksOf(facts: ServiceFacts): readonly Check[] {
  const checks = [
    checkRoom(facts),
    checkCycles(facts),
    checkRequests(facts),
    checkEncryption(facts),
    checkUploads(facts),
    checkDerivations(facts),
    checkFront(facts),
  ];
  const rank = ({ state }: Check) => (state === 'act' ? 0 : 1);
  return checks.sort((a, b) => rank(a) - rank(b));
}

/** `state`: the one without acts. */
function checkOf(check: Omit<Check, 'state'> & { readonly state?: Check['state'] }): Check {
  return { ...check, state: check.acts.length > 0 ? 'act' : (check.state ?? 'fine') };
}

function unseen(title: string, text: string): Check {
  return { title, lines: [{ text }], state: 'unseen', acts: [] };
}

/** Options of icp that name the network, with their space: by its name, and by environment. */
const networkOption = ({ isLocal }: ServiceFacts) => (isLocal ? '' : ' -n ic');
const environmentOption = ({ isLocal }: ServiceFacts) => (isLocal ? '' : ' -e ic');

/** The network's limit for one canister, and its default limit for a heap. */
const stableBytesMax = 500 * 2 ** 30;
const heapBytesMax = 3 * 2 ** 30;
const memoryShareMax = 0.9;
/** A bucket is nearly full at this share of its quota: the next upload may be refused. */
const quotaShareMax = 0.95;

function checkRoom(facts: ServiceFacts): Check {
  const { stableBytes, heapBytes } = facts.status;
  const acts: Act[] = [];
  if (stableBytes >= stableBytesMax * memoryShareMax) {
    acts.push({
      sentence:
        'The memory for files is nearly full. Delete files or former versions: their space is ' +
        'used again.',
      command: 'efs rm -r <bucket>/<folder>',
    });
  }
  if (heapBytes >= heapBytesMax * memoryShareMax) {
    acts.push({
      sentence: 'The memory of the program is nearly full. An upgrade empties it.',
      command: `icp deploy${environmentOption(facts)}`,
    });
  }
  acts.push(...(facts.buckets ?? []).flatMap(({ record }) => quotaActs(record)));
  const share = stableBytes / stableBytesMax;
  const text = `${sizeOf(stableBytes)} of ${sizeOf(stableBytesMax)} for files`;
  return checkOf({
    title: 'Room',
    lines: [
      { text: `${text}, the network’s limit for one canister.` },
      { text: `${sizeOf(heapBytes)} of ${sizeOf(heapBytesMax)} for the program while it runs.` },
    ],
    acts,
    bar: { share, label: text, isLow: share >= memoryShareMax },
  });
}

function usedBytes({ byteCount, overheadBytes, versionBytes }: BucketRecord): number {
  return byteCount + overheadBytes + versionBytes;
}

function quotaActs(record: BucketRecord): Act[] {
  const { id, fileCount, quotaBytes, quotaFiles } = record;
  const used = usedBytes(record);
  const acts: Act[] = [];
  if (quotaBytes !== undefined && used >= quotaBytes * quotaShareMax) {
    acts.push({
      sentence:
        `The bucket “${id}” is nearly full: ${sizeOf(used)} of ${sizeOf(quotaBytes)}. ` +
        'Delete files, or raise its quota.',
      command: `efs bucket set ${id} --quota ${2 * quotaBytes}`,
    });
  }
  if (quotaFiles !== undefined && fileCount >= quotaFiles * quotaShareMax) {
    acts.push({
      sentence:
        `The bucket “${id}” is nearly full: ${fileCount} of ${counted(quotaFiles, 'file')}. ` +
        'Delete files, or raise its quota.',
      command: `efs bucket set ${id} --quota-files ${2 * quotaFiles}`,
    });
  }
  return acts;
}

function checkCycles(facts: ServiceFacts): Check {
  const title = 'Cycles';
  const left = cyclesLeft(facts.status);
  if (left === undefined) {
    return unseen(title, 'Only controllers and owners of buckets see the cycles.');
  }
  const { cycles, days, reserve, acceptsUploads, isLow } = left;
  const words = daysWords(days);
  const sentence = acceptsUploads
    ? 'Add cycles soon: the canister freezes without them, and an upgrade needs 0.31 T above the ' +
      'reserve.'
    : 'Add cycles now: the canister accepts no uploads, and soon it answers nobody.';
  const command = `icp canister top-up ${facts.canisterId} --amount 1t${networkOption(facts)}`;
  return checkOf({
    title,
    lines: [
      { text: `${cyclesWords(cycles)}: enough for ${words} of storage, without uploads.` },
      {
        text:
          `The canister freezes below a reserve for ${freezingDays} days, now ` +
          `${cyclesWords(reserve)}. A longer freezing threshold raises the reserve.`,
      },
    ],
    acts: isLow ? [{ sentence, command }] : [],
    bar: { share: days / yearDays, label: `Enough for ${words}`, isLow },
  });
}

/** Below this share of its burst, a budget counts as used up: some requests are refused. */
const leftShareMin = 0.1;

function isUsedUp({ burst, left }: BudgetStatus): boolean {
  return left < burst * leftShareMin;
}

function budgetLine(subject: string, { burst, perMinute, left }: BudgetStatus): Line {
  const figures =
    burst === 0 ? 'not allowed' : `${left} of ${burst} left, ${perMinute} more each minute`;
  return { text: `${subject}: ${figures}.` };
}

/** `name`: the name of the budget in `efs access`. */
function budgetActs(name: string, budget: BudgetStatus, sentence: string): Act[] {
  const { burst, perMinute } = budget;
  if (!isUsedUp(budget)) return [];
  const options = `--burst ${2 * burst} --per-minute ${2 * Math.max(1, perMinute)}`;
  return [{ sentence, command: `efs access ${name} ${options}` }];
}

function checkRequests({ status }: ServiceFacts): Check {
  const title = 'Requests and refusals';
  const { anonymousUpdates: anonymous, linkUpdates: links, refusals } = status;
  if (anonymous === undefined || links === undefined || refusals === undefined) {
    return unseen(title, 'This version of the service reports no budgets.');
  }
  const flood = {
    text:
      'Many callers without a right are being refused. The service turns further ones away at ' +
      'no cost, so nobody needs to act.',
  };
  return checkOf({
    title,
    lines: [
      budgetLine('Requests without a key', anonymous),
      budgetLine('Requests by links', links),
      budgetLine('Refused requests', refusals),
      ...(isUsedUp(refusals) ? [flood] : []),
    ],
    acts: [
      ...budgetActs(
        'anonymous',
        anonymous,
        'Some requests without a key are refused. If they are welcome, allow more.',
      ),
      ...budgetActs(
        'links',
        links,
        'Some requests by links are refused. If they are welcome, allow more.',
      ),
    ],
  });
}

function checkDerivations({ status: { derivations } }: ServiceFacts): Check {
  const title = 'Keys of end-to-end buckets';
  if (derivations === undefined) {
    return unseen(title, 'This version of the service reports no budget of derivations.');
  }
  return checkOf({
    title,
    lines: [budgetLine('Derivations', derivations)],
    acts: budgetActs(
      'derivations',
      derivations,
      'New members of end-to-end buckets must wait for their keys. If they are welcome, allow more.',
    ),
  });
}

function checkEncryption(facts: ServiceFacts): Check {
  const { encryption } = facts.status;
  const { isKeyPresent, isRotating } = encryption;
  const more = isRotating ? [{ text: 'This continues by itself while the service runs.' }] : [];
  const act = {
    sentence: 'The key has been missing for a minute. The log of the canister says why.',
    command: `icp canister logs ${facts.canisterId}${networkOption(facts)}`,
  };
  return checkOf({
    title: 'Encryption',
    lines: [{ text: `${encryptionWords(encryption)}.` }, ...more],
    state: isKeyPresent && !isRotating ? 'fine' : 'wait',
    acts: facts.isKeyLate ? [act] : [],
  });
}

/** The service refuses more open uploads in one bucket. */
const openUploadsMax = 50;
const idleMs = 3_600_000;

function checkUploads({ buckets, now }: ServiceFacts): Check {
  const title = 'Uploads under way';
  if (buckets === undefined) {
    return unseen(title, 'Owners of a bucket who sign in with an identity see its uploads.');
  }
  const busy = buckets.filter(({ record }) => record.openUploads > 0);
  const quiet =
    busy.length === 0
      ? 'No uploads in the buckets that you own.'
      : 'An upload ends by itself a day after its last part has arrived.';
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
  if (uploads === undefined || uploads.length === 0) {
    return { bucket, text: counted(openUploads, 'upload') };
  }
  const count = counted(uploads.length, 'upload');
  const oldest = uploads.map(({ createdAt }) => createdAt).reduce((a, b) => (a < b ? a : b));
  const idle = idleOf(uploads, now).length;
  const waiting = idle === 0 ? '' : `; ${idle} idle for more than an hour`;
  const held = sizeOf(sumOfHeld(uploads));
  return { bucket, text: `${count} of ${held}, the oldest begun ${whenOf(oldest, now)}${waiting}` };
}

/** Idle uploads need somebody only if they leave no room for others. */
function uploadsActs({ record, uploads = [] }: OwnBucket, now: number): Act[] {
  const { id, openUploads, quotaBytes = Number.POSITIVE_INFINITY } = record;
  const nearlyFull = quotaBytes * quotaShareMax;
  const used = usedBytes(record);
  const areMany = openUploads >= openUploadsMax;
  const doFill = used < nearlyFull && used + sumOfHeld(uploads) >= nearlyFull;
  if (!(areMany || doFill) || idleOf(uploads, now).length === 0) return [];
  const sentence =
    `Idle uploads leave no room in the bucket “${id}”. Cancel them on its page, or list them ` +
    'and cancel by id.';
  return [{ sentence, command: `efs uploads ls ${id}` }];
}

function checkFront({ isAtFront }: ServiceFacts): Check {
  const text = isAtFront
    ? 'This page comes from the front, which certifies all its responses.'
    : 'The canister has no front, so this page opens no files of end-to-end buckets.';
  return checkOf({ title: 'Front', lines: [{ text }], acts: [] });
}
