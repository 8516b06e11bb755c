// Reads the keys of a folder's files, and stores the list of them that a link to the folder opens.

import { sharedFilesMax } from '../../../wire/src/limits.ts';
import { openSource, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, perform } from '../connection/connection.ts';
import { eachEnded } from '../connection/parallel.ts';
import type { Signal } from '../connection/transport.ts';
import type { FileStorage } from '../files/file-storage.ts';
import { isOfSharedList } from '../links/folder-address.ts';
import type { PathNames } from '../sealed-names/bucket-names.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import { ageType, type SegmentCipher } from '../types/end-to-end.ts';
import type { FileRecord } from '../types/files.ts';
import type { BucketKeys, EndToEndBucket } from './bucket-keys.ts';
import { encodeSharedList, recipientOfSecret, type SharedKey } from './folder-list.ts';
import { makeHeader } from './header.ts';
import { readPrefix } from './opened-file.ts';
import { sealedSource } from './sealed-source.ts';
import { softwareSegmentCipher } from './segment-cipher.ts';

/** Enough for eight post-quantum recipients; files with longer headers count as unreadable. */
const headerReadBytesMax = 16_384;
/** Requests for headers at a time: each has 4 kB, or 16 kB if the header is longer. */
const headersAtOnce = 16;
/** A file may be replaced between the list and the request for its header. */
const attemptsMax = 3;

/** How a member reads headers and stores lists. */
export interface FolderKeyReader {
  /** With plain names, without encryption. */
  readonly files: FileStorage;
  readonly connection: Connection;
  readonly keys: BucketKeys;
  readonly cipher?: SegmentCipher | undefined;
}

export interface FolderPlace {
  readonly bucket: EndToEndBucket;
  readonly names: PathNames;
  /** With plain names. */
  readonly prefix: string;
  readonly signal: Signal;
}

/** Returns the files below the prefix. Throws EntityTooLarge if they are too many for a link. */
export async function filesToShare(
  { files }: Pick<FolderKeyReader, 'files'>,
  { bucket: { id: bucket }, prefix, signal }: FolderPlace,
): Promise<FileRecord[]> {
  const found: FileRecord[] = [];
  const place = { bucket, prefix: prefix || undefined, signal };
  for await (const file of files.list(place)) {
    if (!isOfSharedList(file.path)) found.push(file);
    if (found.length > sharedFilesMax) throw tooMany((await files.usage(place)).files);
  }
  return found;
}

function tooMany(count: number): StorageError {
  return new StorageError(
    'EntityTooLarge',
    `The folder has ${count} files; a link to a folder of an end-to-end bucket opens at most ` +
      `${sharedFilesMax}. Share its folders one by one. Nothing was created.`,
  );
}

export interface FolderKeys {
  readonly files: readonly SharedKey[];
  /** Paths of files that no identity of the caller opens. */
  readonly unreadable: readonly string[];
}

/** Requests one small range of each file. Throws NoIdentity if the caller can open none of them. */
export async function readFolderKeys(
  reader: FolderKeyReader,
  place: FolderPlace & {
    readonly onProgress?: ((done: number, total: number) => void) | undefined;
  },
): Promise<FolderKeys> {
  const { prefix, names, signal } = place;
  const records = await filesToShare(reader, place);
  const stored = names.seal(prefix).length;
  const keys: SharedKey[] = [];
  const unreadable: string[] = [];
  let refusal: unknown;
  async function* tasks() {
    for (const record of records) {
      yield async () => [await keyOf(reader, place, record).catch((error) => ({ record, error }))];
    }
  }
  let done = 0;
  for await (const one of eachEnded({ concurrency: headersAtOnce, signal }, tasks)) {
    done += 1;
    place.onProgress?.(done, records.length);
    if (one === undefined) continue;
    if ('fileKey' in one) {
      const { path, fileKey, etag } = one;
      keys.push({
        ...{ stored: names.seal(path).slice(stored), path: path.slice(prefix.length) },
        ...{ fileKey, etag },
      });
    } else if (isStorageError(one.error, 'NoIdentity', 'IntegrityError')) {
      refusal ??= one.error;
      unreadable.push(one.record.path);
    } else throw one.error;
  }
  if (keys.length === 0 && refusal !== undefined) throw refusal;
  keys.sort((one, other) => (one.stored < other.stored ? -1 : 1));
  return { files: keys, unreadable: unreadable.sort() };
}

/** Returns undefined if the file was deleted since. */
async function keyOf(
  { files, connection, keys }: FolderKeyReader,
  { bucket, signal }: FolderPlace,
  listed: FileRecord,
): Promise<{ path: string; fileKey: Uint8Array; etag: string } | undefined> {
  const name = { bucket: bucket.id, path: listed.path };
  let record = listed;
  for (let attempt = 1; ; attempt++) {
    const { etag, size, version: current } = record;
    const part = { ...name, current, etag, isAnonymous: false, isChunk: false };
    try {
      const read = (start: number, end: number) =>
        perform(connection, 'readPart', { ...part, start, end }, signal);
      const { header } = await readPrefix({ size, read }, headerReadBytesMax);
      return { path: listed.path, fileKey: await keys.fileKeyOf(bucket, header), etag };
    } catch (error) {
      if (isStorageError(error, 'NoSuchFile')) return undefined;
      if (!isStorageError(error, 'PreconditionFailed') || attempt === attemptsMax) throw error;
      record = await files.stat(name, { signal });
    }
  }
}

export interface ListToStore {
  /** With plain names. */
  readonly path: string;
  /** As the service stores it. */
  readonly storedPrefix: string;
  readonly secret: string;
  readonly files: readonly SharedKey[];
  /** Entity tag of the present list; a new list replaces none. */
  readonly etag?: string | undefined;
}

/** Encrypts the list to the link's identity, and stores it. */
export async function storeFolderList(
  { files, cipher = softwareSegmentCipher }: FolderKeyReader,
  { bucket, signal }: FolderPlace,
  list: ListToStore,
): Promise<void> {
  const { path, storedPrefix, secret, etag } = list;
  const header = await makeHeader({ recipients: [await recipientOfSecret(secret)] });
  const bytes = encodeSharedList({ prefix: storedPrefix, files: list.files });
  const plain = await openSource(bytes, { size: undefined, bufferedBytesMax: bytes.length });
  const source = (await sealedSource(plain, header, cipher)) as UploadInput;
  const condition = etag === undefined ? { ifNoneMatch: '*' as const } : { ifMatch: `"${etag}"` };
  await files.upload(source, {
    bucket: bucket.id,
    path,
    contentType: ageType,
    signal,
    ...condition,
  });
}
