// The last list of a folder of a bucket, in the user's state folder, with the last entry of the
// bucket's journal that it contains: a later sync reads only the changes since.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { JournalCursor } from './journal-changes.ts';
import { stateFolder } from './transfer-state.ts';

/** The fields of a record that a sync compares. */
export type ListedFile = Pick<
  FileRecord,
  'bucketId' | 'path' | 'size' | 'etag' | 'contentType' | 'updatedAt' | 'version' | 'chunkSize'
>;

export interface ListingName {
  readonly service: string;
  readonly bucket: string;
  readonly prefix: string;
}

export interface Listing {
  readonly cursor: JournalCursor;
  /** When the whole folder was listed. */
  readonly listedAtMs: number;
  /** By path. */
  readonly files: ReadonlyMap<string, ListedFile>;
}

/** Larger folders are listed each time: their state would take more than about 250 MB. */
const filesMax = 1_000_000;
/** Lines that are joined at a time: a text has a maximum length. */
const linesMax = 10_000;
const lineEnd = 10;

function listingPath({ service, bucket, prefix }: ListingName): string {
  const digest = createHash('sha256').update([service, bucket, prefix].join('\0')).digest('hex');
  return join(stateFolder(), `listing-${digest}.jsonl`);
}

/** The first line has all but the files, each of which has a line of its own. */
export async function saveListing(name: ListingName, listing: Listing): Promise<void> {
  const { cursor, listedAtMs, files } = listing;
  if (files.size > filesMax) return;
  const blocks = [
    Buffer.from(`${JSON.stringify({ ...name, cursor, listedAtMs, count: files.size })}\n`),
  ];
  let lines: string[] = [];
  for (const { path, size, etag, contentType, updatedAt, version, chunkSize } of files.values()) {
    lines.push(JSON.stringify([path, size, etag, contentType, updatedAt, version, chunkSize]));
    if (lines.length === linesMax) blocks.push(Buffer.from(`${lines.splice(0).join('\n')}\n`));
  }
  lines = lines.concat('');
  blocks.push(Buffer.from(lines.join('\n')));
  await replaceFile(listingPath(name), Buffer.concat(blocks));
}

/** Returns undefined if the file does not exist or is damaged. */
export async function loadListing(name: ListingName): Promise<Listing | undefined> {
  try {
    const bytes = await readFile(listingPath(name));
    const lines = linesOf(bytes);
    const { cursor, listedAtMs, count } = JSON.parse(lines.next().value ?? '');
    const files = new Map<string, ListedFile>();
    for (const line of lines) {
      const [path, size, etag, contentType, updatedAt, version, chunkSize] = JSON.parse(line);
      const chunks = chunkSize === null ? {} : { chunkSize };
      const file = { bucketId: name.bucket, path, size, etag, contentType, updatedAt, version };
      files.set(path, { ...file, ...chunks });
    }
    const isWhole = files.size === count && Number.isSafeInteger(cursor.seq);
    return isWhole ? { cursor, listedAtMs, files } : undefined;
  } catch {
    return undefined;
  }
}

function* linesOf(bytes: Buffer): Generator<string, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(lineEnd, start);
    if (end === -1) throw new Error('The last line is incomplete.');
    yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}
