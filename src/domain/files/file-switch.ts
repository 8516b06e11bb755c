// Switches: all files below a prefix move to their places, where they replace others, and further
// files are deleted, in one message and all or nothing. So the visitors of a site see it as it was
// before, or as it is afterwards. Everything is checked before the first write; a refusal after it
// is a defect and traps, so that the system rolls the message back.

import { deletedFileCountMax } from '../../../packages/wire/src/limits.ts';
import { present } from '../../lib/assert.ts';
import { decodeUtf8 } from '../../lib/text.ts';
import { switchedFilesMax, switchLeavesMax } from '../../limits.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import { readContent } from '../contents/contents.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { pathsWithPrefix } from '../listing/prefix-paths.ts';
import type { ApiKey } from '../rights/api-keys.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, requireWithin, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parseNewPath, parsePrefix, quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import {
  leavesOfAddresses,
  leavesOfDeletion,
  leavesOfDigest,
  leavesOfMove,
  leavesOfRenewal,
} from './bulk-work.ts';
import { moveWithin, type PreparedCopy, prepareCopy } from './copies.ts';
import { type FileRecord, findFile, removeFile, withOpenFile } from './file-records.ts';
import { refuseMissing } from './files.ts';
import { countDigested, digestOfLines, lineOf, linesBelow } from './folder-digest.ts';
import { checkSiteFile, headersPath } from './site-headers.ts';
import { renewSite } from './site-renewal.ts';
import { rulesPath } from './site-rules.ts';
import { freedBytes, requireRetirable } from './version-records.ts';

/** The fields that determine the caller's rights. */
export interface SwitchClaim {
  readonly bucket: string;
  /** All files below it move. */
  readonly fromPrefix: string;
  /** Replaces `fromPrefix` and may contain it. */
  readonly toPrefix: string;
  /** The digest of the files below `toPrefix` after the switch, see folder-digest.ts. */
  readonly ifResult?: string | undefined;
  readonly apiKey: SentKey;
}

export interface FileSwitch extends SwitchClaim {
  /** Returns the paths to delete; called after the caller's rights are checked. */
  readonly readDeletes: () => readonly string[];
}

export interface Switched {
  readonly moved: number;
  readonly deleted: number;
}

/** Refuses callers who may not switch files there, without looking at files. */
export function checkSwitchRights(stores: Stores, call: Call, claim: SwitchClaim): Grant {
  const { bucket, fromPrefix, toPrefix, ifResult } = claim;
  const source = { bucket, prefix: fromPrefix };
  const read = { ...source, permission: 'read', apiKey: claim.apiKey } as const;
  const apiKey = authorize(stores, call, read).key;
  authorize(stores, call, { ...source, permission: 'delete', apiKey });
  const target = { bucket, prefix: toPrefix, apiKey };
  // A digest would reveal whether guessed files exist
  if (ifResult !== undefined) authorize(stores, call, { ...target, permission: 'read' });
  return authorize(stores, call, { ...target, permission: 'write' });
}

interface Plan {
  readonly bucket: Bucket;
  readonly key: ApiKey | undefined;
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** Also paths without a file, so that a repeated switch succeeds. */
  readonly deletes: readonly string[];
  /** Number of files whose digest is compared. */
  readonly digested: number;
}

/** Refuses what switchFiles() would refuse whatever the files are; changes nothing. */
export function checkSwitch(stores: Stores, call: Call, request: FileSwitch): Plan {
  const grant = checkSwitchRights(stores, call, request);
  const { bucket, key } = grant;
  const fromPrefix = parsePrefix(request.fromPrefix);
  const { toPrefix } = request;
  if (toPrefix.startsWith(fromPrefix)) {
    throw invalid(
      `The prefix ${quote(toPrefix)} begins with ${quote(fromPrefix)}, so the files would stay below it: name a ` +
        'toPrefix that does not begin with fromPrefix.',
    );
  }
  // Refuses a prefix that no path can have
  parseNewPath(`/${toPrefix}x`);
  const place = { bucketId: bucket.id, prefix: fromPrefix, after: '' };
  const { paths, hasMore } = pathsWithPrefix(stores, place, switchedFilesMax);
  if (hasMore) {
    throw tooMuch(`More than ${switchedFilesMax} files are below ${quote(fromPrefix)}`);
  }
  const moves = paths.map((bytes) => {
    const from = present(decodeUtf8(bytes), 'path of a file');
    return { from, to: toPrefix + from.slice(fromPrefix.length) };
  });
  const inside = moves.find(({ to }) => to.startsWith(fromPrefix));
  if (inside !== undefined) {
    throw invalid(
      `${quote(inside.from)} would become ${quote(inside.to)}, which is below ${quote(fromPrefix)} too: rename it.`,
    );
  }
  const targets = new Set(moves.map(({ to }) => to));
  const deletes = deletesOf(request.readDeletes(), grant, { targets, fromPrefix });
  const digested = request.ifResult === undefined ? 0 : countDigested(stores, bucket.id, toPrefix);
  return { bucket, key, moves: inOrder(moves), deletes, digested };
}

function invalid(words: string): Refusal {
  return new Refusal('InvalidArgument', words);
}

function tooMuch(words: string): Refusal {
  return new Refusal(
    'EntityTooLarge',
    `Nothing was changed: ${words}, which is more than one switch can do. Switch fewer files at a time, ` +
      'by a longer fromPrefix, or move them step by step.',
  );
}

interface Moved {
  readonly targets: ReadonlySet<string>;
  readonly fromPrefix: string;
}

function deletesOf(
  sent: readonly string[],
  grant: Grant,
  { targets, fromPrefix }: Moved,
): readonly string[] {
  if (sent.length > deletedFileCountMax) {
    throw tooMuch(
      `${sent.length} paths are to be deleted; at most ${deletedFileCountMax} are accepted`,
    );
  }
  const paths = sent.map((path) => {
    requireWithin(grant, { path });
    return parseFilePath(path);
  });
  const moved = paths.find((path) => targets.has(path) || path.startsWith(fromPrefix));
  if (moved === undefined) return [...new Set(paths)];
  throw invalid(`${quote(moved)} is to be deleted, and is also part of the move: omit it.`);
}

/** Headers come first, so that the others get them; rules last, so that their files exist. */
function inOrder(moves: Plan['moves']): Plan['moves'] {
  const rankOf = (to: string) => (to === headersPath ? 0 : to === rulesPath ? 2 : 1);
  return [...moves].sort((one, other) => rankOf(one.to) - rankOf(other.to));
}

interface Prepared {
  readonly copies: readonly PreparedCopy[];
  readonly removed: readonly FileRecord[];
}

/** Counts the work of a switch, in leaves; also says what a refused one has cost. */
interface SwitchWork {
  /** Refuses work that comes on top of the counted one and is too much; `words` describe it. */
  count(leaves: number, words: string): void;
  counted(): number;
}

function createSwitchWork(): SwitchWork {
  let counted = 0;
  return {
    count(leaves, words) {
      if (counted + leaves > switchLeavesMax) throw tooMuch(words);
      counted += leaves;
    },
    counted: () => counted,
  };
}

/** Checks each file, and refuses with the path of the first one that cannot be changed. */
function prepare(
  stores: Stores,
  call: Call,
  { bucket, key, moves, deletes }: Plan,
  work: SwitchWork,
): Prepared {
  const addition = { files: 0, bytes: 0 };
  const count = (leaves: number, added: { readonly files: number; readonly bytes: number }) => {
    addition.files += added.files;
    addition.bytes += added.bytes;
    work.count(leaves, 'The files have too many chunks and links');
  };
  const removed = deletes.flatMap((path) => {
    const found = naming(path, () => findFile(stores, bucket.id, path));
    if (found === undefined) return [];
    const file = naming(path, () => requireRetirable(bucket, found, call));
    const freed = { files: -1, bytes: -freedBytes(bucket, file) };
    count(leavesOfDeletion(stores, bucket, file), freed);
    return [file];
  });
  const copies = moves.map(({ from, to }) => {
    // The slash keeps a path from losing an empty first segment
    const named = { bucket: bucket.id, from, to: { path: `/${to}` } };
    const order = { ...named, conditions: {}, apiKey: key };
    const copy = naming(from, () => prepareCopy(stores, call, 'move', order));
    const more = leavesOfMove(stores, bucket, copy) + leavesOfAddresses(bucket, to);
    count(more, copy.addition);
    naming(from, () => checkIntact(stores, copy));
    return copy;
  });
  checkQuota(bucket, addition);
  return { copies, removed };
}

/** Adds the path to a refusal. */
function naming<T>(path: string, check: () => T): T {
  const checked = valueOrRefusal(check);
  if (!(checked instanceof Refusal)) return checked;
  const { code, message, details } = checked;
  throw new Refusal(code, `Nothing was changed. ${quote(path)}: ${message}`, details);
}

/** Refuses a damaged file, and rules of a site with a fault. */
function checkIntact(stores: Stores, { source, file: { path: from }, path }: PreparedCopy): void {
  const read = withOpenFile(stores, { bucket: source, path: from }, ({ file, key }) => {
    chunkDigests(stores, file);
    const { size } = file;
    const all = { start: 0, end: size, key };
    checkSiteFile(source, { path, size }, () => readContent(stores, file, all));
    return file;
  });
  if (read === undefined) refuseMissing(source, from);
}

function checkResult(stores: Stores, request: SwitchClaim, prepared: Prepared): void {
  const { copies, removed } = prepared;
  const { bucket, fromPrefix, toPrefix, ifResult } = request;
  if (ifResult === undefined) return;
  const gone = new Set([...removed, ...copies].map(({ path }) => path));
  const lines = linesBelow(stores, bucket, toPrefix);
  const left = lines.filter(([path]) => !path.startsWith(fromPrefix) && !gone.has(path));
  const moved = copies.map(({ path, file }) => lineOf(path, file));
  const found = digestOfLines([...left, ...moved].map(([, line]) => line));
  if (found === ifResult.toLowerCase()) return;
  throw new Refusal(
    'PreconditionFailed',
    `Nothing was changed: the files below ${quote(toPrefix)} would have the digest ${found}, and ifResult names ` +
      'another one. List the files again, and compare.',
  );
}

/** Moves and deletes all the files, or refuses and changes nothing. */
export function switchFiles(stores: Stores, call: Call, request: FileSwitch): Switched {
  const plan = checkSwitch(stores, call, request);
  const { bucket, key, digested } = plan;
  const work = createSwitchWork();
  let renewal = 0;
  try {
    const prepared = prepare(stores, call, plan, work);
    const words = `The digest of ${digested} files comes on top of the changes`;
    work.count(leavesOfDigest(digested), words);
    checkResult(stores, request, prepared);
    renewal = changesHeaders(prepared) ? leavesOfRenewal(bucket, headersPath) : 0;
    const leavesMax = switchLeavesMax - work.counted();
    const done = valueOrRefusal(() => write(stores, call, { bucket, leavesMax, ...prepared }));
    if (done instanceof Refusal) {
      throw new Error(`Nothing was changed, as a switch was refused late: ${done.message}`);
    }
    return { moved: prepared.copies.length, deleted: prepared.removed.length };
  } finally {
    // Also for a refused switch, because its checks cost a quarter of the work
    chargeWork(stores, call, { key, leaves: work.counted() + renewal });
  }
}

function changesHeaders({ copies, removed }: Prepared): boolean {
  const left = copies.map(({ file }) => file);
  return [...copies, ...left, ...removed].some(({ path }) => path === headersPath);
}

interface Order extends Prepared {
  readonly bucket: Bucket;
  /** Limits the renewal of files that stay. */
  readonly leavesMax: number;
}

function write(stores: Stores, call: Call, order: Order): void {
  const { nowNs } = call;
  const { copies, removed, leavesMax } = order;
  let { bucket } = order;
  for (const file of removed) bucket = removeFile(stores, bucket, file, nowNs);
  for (const copy of copies) {
    ({ bucket } = moveWithin(stores, call, { ...copy, source: bucket, target: bucket }));
  }
  // Files that stay get the new header fields in the same message, as far as it can do them
  if (changesHeaders(order)) renewSite(stores, bucket.id, { nowNs, leavesMax });
}
