// Reading of the journal: the entries of a bucket for its members, and the blocks of the chain.

import { decodeUtf8 } from '../../lib/text.ts';
import type { StoredEntry } from '../../storage/journal-log.ts';
import { bucketIds } from '../buckets/bucket-directory.ts';
import { authorize } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { type EntryKind, entryKinds } from '../shared/journal.ts';
import { Refusal } from '../shared/refusal.ts';
import type { OpenedJournal } from '../shared/secrets.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type ActorKind,
  actorKinds,
  checkpointEvery,
  checkpointKey,
  checkpointOf,
  findJournal,
} from './bucket-journal.ts';
import { type EntrySalts, entrySalts, openEntry } from './entry-seal.ts';

const journalPageMax = 100;
/** Blocks that one query returns. */
const blocksMax = 500;

const nsPerMs = 1_000_000n;

export interface JournalEntry {
  /** From 1, without gaps in the canister. */
  readonly seq: number;
  readonly atNs: bigint;
  readonly kind: EntryKind;
  readonly actor: { readonly kind: ActorKind; readonly id: Uint8Array };
  readonly subject: string;
  /** 0: none. */
  readonly version: number;
  /** 32 bytes or none. */
  readonly digest: Uint8Array;
  /** The rest of the entry, which the block commits to together with the subject. */
  readonly details: Uint8Array;
  readonly salts: EntrySalts;
}

export interface JournalRequest {
  readonly bucket: string;
  /** Returns the entries after that one, the oldest first. */
  readonly after: number | undefined;
  /** Without `after`: returns the entries before that one, the newest first. */
  readonly before: number | undefined;
  readonly limit: number | undefined;
}

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Number of the last entry of the whole journal. */
  readonly last: number;
  /** Whether more entries follow in this direction. */
  readonly hasMore: boolean;
}

/** Returns entries of a bucket for callers who may read it. */
export function readJournal(stores: Stores, call: Call, request: JournalRequest): JournalPage {
  const { bucket: name, after, before } = request;
  const limit = parseLimit(request.limit);
  if (after !== undefined && before !== undefined) {
    throw new Refusal('InvalidArgument', 'Send after or before, not both.');
  }
  const claim = { bucket: name, permission: 'read', apiKey: undefined, prefix: '' } as const;
  const { bucket } = authorize(stores, call, claim);
  const { last } = stores.journalLog.tip();
  const journal = findJournal(stores, bucket.id);
  if (journal === undefined) return { entries: [], last, hasMore: false };
  const found =
    after === undefined
      ? olderThan(stores, journal, { before: before ?? last + 1, limit: limit + 1 })
      : newerThan(stores, journal, { after, limit: limit + 1 });
  const entries = found.slice(0, limit).map((entry) => opened(journal, entry));
  return { entries, last, hasMore: found.length > limit };
}

function parseLimit(limit = journalPageMax): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= journalPageMax) return limit;
  throw new Refusal('InvalidArgument', `limit is ${limit}: send 1 to ${journalPageMax}.`);
}

/** Returns entries of the owner before a number, the newest first. */
function olderThan(
  stores: Stores,
  { owner }: OpenedJournal,
  { before, limit }: { readonly before: number; readonly limit: number },
): StoredEntry[] {
  const last = stores.journalLog.lastOf(owner);
  // From the next checkpoint on, as the entry before may be anywhere
  const start = last < before ? last : (checkpoints(stores, owner, before, 1)[0] ?? last);
  const found: StoredEntry[] = [];
  for (const entry of entriesBack(stores, start)) {
    if (entry.number < before) found.push(entry);
    if (found.length === limit) break;
  }
  return found;
}

/** Returns entries of the owner after a number, the oldest first. */
function newerThan(
  stores: Stores,
  { owner }: OpenedJournal,
  { after, limit }: { readonly after: number; readonly limit: number },
): StoredEntry[] {
  // So many checkpoints have at least `limit` entries before the last of them
  const wanted = Math.ceil(limit / checkpointEvery) + 1;
  const next = checkpoints(stores, owner, after + 1, wanted)[wanted - 1];
  const found: StoredEntry[] = [];
  for (const entry of entriesBack(stores, next ?? stores.journalLog.lastOf(owner))) {
    if (entry.number <= after) break;
    found.push(entry);
  }
  return found.reverse().slice(0, limit);
}

/** Yields an entry and the earlier ones of its owner that are stored. */
function* entriesBack(stores: Stores, start: number): Generator<StoredEntry> {
  for (let number = start; number > 0; ) {
    const entry = stores.journalLog.get(number);
    if (entry === undefined) return;
    yield entry;
    number = entry.previous;
  }
}

/** Returns numbers of the owner's checkpoints from a number on. */
function checkpoints(stores: Stores, owner: number, from: number, limit: number): number[] {
  const { directory } = stores;
  const entries = directory.read(directory.rank(checkpointKey(owner, from)), limit);
  return entries.flatMap(({ key }) => checkpointOf(key, owner) ?? []);
}

function opened(journal: OpenedJournal, entry: StoredEntry): JournalEntry {
  const bytes = openEntry(entry, journal);
  if (bytes === undefined) {
    throw new Refusal(
      'IntegrityError',
      `Entry ${entry.number} of the journal was altered and cannot be decrypted.`,
    );
  }
  const idEnd = 2 + (bytes[1] ?? 0);
  const { value: version, end } = readLeb128(bytes, idEnd);
  const subjectAt = end + 1 + (bytes[end] ?? 0);
  return {
    seq: entry.number,
    atNs: BigInt(entry.ms) * nsPerMs,
    kind: kindOf(entry),
    actor: { kind: actorKinds[bytes[0] ?? 0] ?? 'canister', id: bytes.slice(2, idEnd) },
    subject: decodeUtf8(bytes.subarray(subjectAt)) ?? '',
    version,
    digest: bytes.slice(end + 1, subjectAt),
    details: bytes.slice(0, subjectAt),
    salts: entrySalts(entry.number, journal.keys),
  };
}

function kindOf({ kind }: StoredEntry): EntryKind {
  return entryKinds[kind] ?? 'file.changed';
}

function readLeb128(bytes: Uint8Array, start: number) {
  let value = 0;
  let end = start;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[end++] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end };
  }
}

export interface Block {
  /** From 0, as ICRC-3 counts. */
  readonly id: number;
  readonly kind: EntryKind;
  readonly atNs: bigint;
  readonly commitment: Uint8Array;
  /** Hash of the block before; `undefined` for the first. */
  readonly parentHash: Uint8Array | undefined;
}

/**
 * Returns blocks of the chain. They show kinds and times of changes in all buckets, so callers
 * without a role in any bucket get none.
 */
export function readBlocks(
  stores: Stores,
  { caller }: Call,
  ranges: readonly { readonly start: number; readonly length: number }[],
): Block[] {
  const page = { skip: 0, limit: 1 };
  const isKnown =
    caller.isController || bucketIds(stores.directory, caller.principal, page).length > 0;
  const blocks: Block[] = [];
  for (const { start, length } of isKnown ? ranges : []) {
    const limit = Math.min(length, blocksMax - blocks.length);
    for (const entry of stores.journalLog.readChained(start + 1, limit)) {
      blocks.push({
        id: entry.number - 1,
        kind: kindOf(entry),
        atNs: BigInt(entry.ms) * nsPerMs,
        commitment: entry.commitment,
        parentHash: entry.number === 1 ? undefined : entry.hashBefore,
      });
    }
  }
  return blocks;
}
