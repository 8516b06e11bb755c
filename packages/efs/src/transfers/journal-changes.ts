// The paths of a bucket that have changed since a cursor, by the bucket's journal. Entries, lists
// and records are one node's word, and nodes are not equally far. So an entry only says which path
// to read, and a record that is older than the entry is read again in a reply that the network
// signs.

import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { JournalEntry } from '../../../client/src/types/journal.ts';

/**
 * The last entry that was read. Its random salt differs in another bucket of the same name, in
 * another canister, and in a journal that begins anew.
 */
export interface JournalCursor {
  readonly seq: number;
  readonly salt: string;
}

/** The last change of a path. */
export interface PathChange {
  readonly at: string;
  /** Whether the file left the path, which may have a newer one by now. */
  readonly isGone: boolean;
  /** The number of an erased version, which must not be the present one. */
  readonly erased?: number | undefined;
}

export interface BucketChanges {
  /** By path. */
  readonly paths: ReadonlyMap<string, PathChange>;
  readonly entries: readonly JournalEntry[];
  /** Undefined if the bucket's journal is empty. */
  readonly cursor: JournalCursor | undefined;
}

interface Reading {
  readonly storage: Storage;
  readonly bucket: string;
  readonly signal: AbortSignal;
}

/** No node that answers is further behind: certificates are at most that old. */
const behindMsMax = 300_000;
/** Entries of one query. */
const pageMax = 5_000;

function cursorOf({ seq, proof }: JournalEntry): JournalCursor {
  return { seq, salt: proof.detailsSalt };
}

/**
 * Returns the changes after the cursor. Returns undefined if everything must be compared: the
 * journal lacks the cursor's entry, or has an entry of a kind that this version does not know.
 */
export async function changesSince(
  { storage, bucket, signal }: Reading,
  cursor: JournalCursor,
): Promise<BucketChanges | undefined> {
  const found: JournalEntry[] = [];
  const after = cursor.seq - 1;
  for await (const entry of storage.journal.entries(bucket, { after, signal })) {
    const isCursor = entry.seq === cursor.seq && entry.proof.detailsSalt === cursor.salt;
    if (found.length === 0 && !isCursor) return undefined;
    requireLater(entry, found.at(-1));
    found.push(entry);
  }
  const last = found.at(-1);
  return last && changesIn(found.slice(1), cursorOf(last));
}

/**
 * Returns the changes of the last minutes, oldest first; undefined if they are more than
 * `entriesMax`. A list that follows may come from a node that does not know them yet; all earlier
 * ones are in it.
 */
export async function recentChanges(
  { storage, bucket, signal }: Reading,
  entriesMax = Number.POSITIVE_INFINITY,
): Promise<BucketChanges | undefined> {
  const found: JournalEntry[] = [];
  let before: number | undefined;
  // Most buckets have few recent changes
  for (let isRecent = true, limit = 100; isRecent; limit = Math.min(10 * limit, pageMax)) {
    const page = await storage.journal.list(bucket, { before, limit, signal });
    for (const entry of page.entries) {
      const newest = found[0] ?? entry;
      isRecent &&= Date.parse(newest.at) - Date.parse(entry.at) <= behindMsMax;
      if (isRecent) found.push(entry);
    }
    if (found.length > entriesMax) return undefined;
    before = page.entries.at(-1)?.seq;
    isRecent &&= page.hasMore && before !== undefined;
  }
  const [newest] = found;
  const entries = found.reverse();
  const cursor = newest && cursorOf(newest);
  return changesIn(entries, cursor) ?? { paths: new Map(), entries, cursor };
}

function requireLater({ seq }: JournalEntry, before: JournalEntry | undefined): void {
  if (before === undefined || seq > before.seq) return;
  throw new StorageError(
    'IntegrityError',
    `A node returned entry ${seq} of the journal after entry ${before.seq}: run the command again ` +
      'to reach another node.',
  );
}

const fileKinds = ['file.stored', 'file.changed', 'file.restored', 'file.moved', 'file.deleted'];
/** Kinds that change neither a file's bytes nor its path, type, tags or metadata. */
const otherKinds = /^(?:link|key|member|bucket|hold|journal|thumbnail)\./;

function changesIn(
  entries: readonly JournalEntry[],
  cursor: JournalCursor | undefined,
): BucketChanges | undefined {
  const paths = new Map<string, PathChange>();
  for (const { kind, path, formerPath, at, version } of entries) {
    if (otherKinds.test(kind)) continue;
    if (path === undefined) return undefined;
    if (kind === 'version.erased') paths.set(path, { at, isGone: false, erased: version });
    else if (fileKinds.includes(kind)) paths.set(path, { at, isGone: kind === 'file.deleted' });
    else return undefined;
    if (formerPath !== undefined) paths.set(formerPath, { at, isGone: true });
  }
  return { paths, entries, cursor };
}

/** Returns whether the record, or its absence, is not older than the change. */
export function isAfter(
  { at, isGone, erased }: PathChange,
  record: Pick<FileRecord, 'updatedAt' | 'version'> | undefined,
): boolean {
  const timeMs = Date.parse(at);
  const storedMs = record && Date.parse(record.updatedAt);
  if (erased !== undefined) return record?.version !== erased || Number(storedMs) > timeMs;
  if (isGone) return storedMs === undefined || storedMs > timeMs;
  return storedMs !== undefined && storedMs >= timeMs;
}

/**
 * Returns the file's present record, undefined if it does not exist. If one node's answer
 * contradicts the change, the network decides: the file has changed again, or the node is behind.
 */
export async function presentRecord(
  { storage, signal }: Pick<Reading, 'storage' | 'signal'>,
  name: FileName,
  change: PathChange | undefined,
): Promise<FileRecord | undefined> {
  const record = await findRecord(storage, name, { signal });
  if (change === undefined || isAfter(change, record)) return record;
  return findRecord(storage, name, { signal, certified: true });
}

async function findRecord(
  storage: Storage,
  name: FileName,
  options: Parameters<Storage['stat']>[1],
): Promise<FileRecord | undefined> {
  try {
    return await storage.stat(name, options);
  } catch (error) {
    if (isStorageError(error, 'NoSuchFile')) return undefined;
    throw error;
  }
}
