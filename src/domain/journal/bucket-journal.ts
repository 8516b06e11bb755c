// Each bucket's part of the journal. The key of its entries is a content's (keys/file-keys.ts), so
// that rotations wrap it again, and the deletion of the bucket makes its entries unreadable.

import { expandSha256 } from '../../crypto/kdf.ts';
import { assert } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { asciiBytes, encodeUtf8 } from '../../lib/text.ts';
import { journalDaysDefault } from '../../limits.ts';
import { packFields, requireVersion, u64Key, unpackFields } from '../../storage/codec.ts';
import { findBucket } from '../buckets/buckets.ts';
import { createContent, eraseFileKey, withFileKey } from '../keys/file-keys.ts';
import { type Change, entryKinds } from '../shared/journal.ts';
import type { OpenedJournal } from '../shared/secrets.ts';
import type { Stores } from '../shared/stores.ts';

/** The author of a change; the canister itself has no id. */
export interface Actor {
  readonly kind: ActorKind;
  /** A principal's bytes, or UTF-8 of an API key's id. */
  readonly id: Uint8Array;
}

export const actorKinds = ['canister', 'principal', 'key'] as const;
export type ActorKind = (typeof actorKinds)[number];

interface StoredJournal {
  readonly contentId: number;
  readonly keySlot: number;
  readonly owner: number;
  /** For how many days entries are shown. */
  readonly days: number;
}

const nsPerMs = 1_000_000n;
/** Opened journals on the heap, of all buckets that change often. */
const openedMax = 256;
const kindNumbers = new Map(entryKinds.map((kind, number) => [kind, number]));
const sealInfo = asciiBytes('efs journal seal');
const saltInfo = asciiBytes('efs journal salt');
const derivedBytes = 32;

// The key is byte 3, the bucket's id. Small fields: version 1; numbers: the key's content id and
// slot, the owner in the log, the days for which entries are shown. See packFields().
const recordKind = 3;
const version = 1;
const fieldCount = { longs: 0, numbers: 4 } as const;

function recordKey(bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(recordKind), encodeUtf8(bucketId));
}

function findStored(stores: Stores, bucketId: string): StoredJournal | undefined {
  const bytes = stores.records.get(recordKey(bucketId));
  if (bytes === undefined) return undefined;
  requireVersion(bytes, version);
  const { numbers } = unpackFields(bytes, fieldCount);
  const [contentId = 0, keySlot = 0, owner = 0, days = 0] = numbers;
  return { contentId, keySlot, owner, days };
}

/** Returns the bucket's journal; `undefined` if it has no entries. */
export function findJournal(stores: Stores, bucketId: string): OpenedJournal | undefined {
  const opened = stores.secrets.journals.get(bucketId);
  if (opened !== undefined) return opened;
  const stored = findStored(stores, bucketId);
  if (stored === undefined) return undefined;
  const bucket = findBucket(stores, bucketId);
  if (bucket === undefined) return undefined;
  return withFileKey(stores, { bucket, ...stored }, (key) => keep(stores, bucket.id, stored, key));
}

function save(stores: Stores, bucketId: string, stored: StoredJournal): void {
  const numbers = [stored.contentId, stored.keySlot, stored.owner, stored.days];
  const record = packFields({ small: [version], longs: [], numbers, rest: emptyBytes });
  stores.records.set(recordKey(bucketId), record);
}

/** Returns for how many days the bucket's entries are shown. */
export function keptDaysOf(stores: Stores, bucketId: string): number {
  return findStored(stores, bucketId)?.days ?? journalDaysDefault;
}

export function saveKeptDays(stores: Stores, bucketId: string, days: number): void {
  const stored = findStored(stores, bucketId);
  if (stored !== undefined) save(stores, bucketId, { ...stored, days });
}

function keep(stores: Stores, bucketId: string, { owner }: StoredJournal, key: Uint8Array) {
  const { journals } = stores.secrets;
  const keys = concatBytes(
    expandSha256(key, { info: sealInfo, length: derivedBytes }),
    expandSha256(key, { info: saltInfo, length: derivedBytes }),
  );
  const opened: OpenedJournal = { owner, ownerName: encodeUtf8(bucketId), keys };
  const [oldest] = journals.keys();
  if (journals.size >= openedMax && oldest !== undefined) forget(stores, oldest);
  journals.set(bucketId, opened);
  return opened;
}

function forget({ secrets: { journals } }: Stores, bucketId: string): void {
  journals.get(bucketId)?.keys.fill(0);
  journals.delete(bucketId);
}

function createJournal(stores: Stores, bucketId: string): OpenedJournal | undefined {
  const bucket = findBucket(stores, bucketId);
  if (bucket === undefined) return undefined;
  const { content, key } = createContent(stores, bucket);
  const owner = stores.journalLog.newOwner();
  const stored = { ...content, owner, days: journalDaysDefault };
  save(stores, bucket.id, stored);
  const opened = keep(stores, bucket.id, stored, key);
  key.fill(0);
  return opened;
}

/** Appends an entry to the journal of an existing bucket, which its first entry creates. */
export function appendEntry(
  stores: Stores,
  bucketId: string,
  change: Change,
  by: { readonly actor: Actor; readonly nowNs: bigint },
): void {
  const journal = findJournal(stores, bucketId) ?? createJournal(stores, bucketId);
  if (journal === undefined) return;
  const { number, count } = stores.journalLog.append({
    ...journal,
    kind: kindNumbers.get(change.kind) ?? 0,
    ms: Number(by.nowNs / nsPerMs),
    details: encodeDetails(change, by.actor),
    subject: encodeUtf8(change.subject),
  });
  const { listeningBuckets, wokenBuckets } = stores.heap;
  if (listeningBuckets.delete(bucketId)) wokenBuckets.add(bucketId);
  if (count % checkpointEvery === 0) addCheckpoint(stores, journal.owner, number);
}

/** Removes up to two whose entries are not stored any more, so that their number stays bounded. */
function addCheckpoint({ directory, journalLog }: Stores, owner: number, number: number): void {
  const { first } = journalLog.tip();
  for (const { key } of directory.read(directory.rank(checkpointKey(owner, 0)), 2)) {
    if ((checkpointOf(key, owner) ?? first) < first) directory.remove(key);
  }
  directory.insert(checkpointKey(owner, number), 0n);
}

/** The directory has the number of one in so many entries of a bucket. */
export const checkpointEvery = 64;

/** The kind of the directory's entries: 40, then owner and number, u64 each. */
const checkpointKind = 40;

export function checkpointKey(owner: number, number: number): Uint8Array {
  return concatBytes(Uint8Array.of(checkpointKind), u64Key(owner), u64Key(number));
}

/** Returns the number of the owner's checkpoint, `undefined` for another entry. */
export function checkpointOf(key: Uint8Array, owner: number): number | undefined {
  if (key.length !== 17 || key[0] !== checkpointKind) return undefined;
  const view = new DataView(key.buffer, key.byteOffset);
  return Number(view.getBigUint64(1)) === owner ? Number(view.getBigUint64(9)) : undefined;
}

/** Makes the entries of a deleted bucket unreadable; their blocks stay in the chain. */
export function endJournal(stores: Stores, bucketId: string): void {
  const stored = findStored(stores, bucketId);
  if (stored === undefined) return;
  eraseFileKey(stores, stored);
  stores.records.delete(recordKey(bucketId));
  forget(stores, bucketId);
}

/** The first byte of details: bits 0 to 4, 5, and 6 to 7. */
export const detailsHead = { idLength: 31, hasDigest: 32, kindShift: 6 } as const;

// 0: length of the actor's id, whether a digest follows, kind of the actor | 1: id | version LEB128
// | digest 32, or none; the subject follows
function encodeDetails({ version = 0, digest = emptyBytes }: Change, actor: Actor): Uint8Array {
  const { id } = actor;
  const { idLength, hasDigest, kindShift } = detailsHead;
  assert(id.length <= idLength, 'the id of an actor fits');
  const flag = digest.length > 0 ? hasDigest : 0;
  const head = (actorKinds.indexOf(actor.kind) << kindShift) | flag | id.length;
  return concatBytes(Uint8Array.of(head), id, leb128(version), digest);
}
