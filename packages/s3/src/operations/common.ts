// Functions that operations of several kinds share.

import { isOfSharedList } from '../../../client/src/links/folder-address.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { Account } from '../account.ts';
import { findPath, pathOfKey } from '../keys.ts';
import type { Operation } from '../operation.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import { objectOf, type StoredObject, unknownType } from '../stored-object.ts';
import { isVersion, parseVersionId } from '../version-id.ts';
import type { Elements } from '../xml/write.ts';

/** S3's answers name an owner; the service has rights instead. */
export const owner: Elements = { ID: 'efs', DisplayName: 'efs' };

export function bucketOf({ bucket }: S3Request): string {
  if (bucket !== undefined) return bucket;
  throw new S3Error('InvalidRequest', 'The request has no bucket.');
}

/** Throws NoSuchBucket, and AccessDenied for a caller that may not list the bucket. */
export async function requireBucket({ account, request, signal }: Operation): Promise<void> {
  await account.storage.listFolder({ bucket: bucketOf(request), limit: 1, signal });
}

/** Returns the file to write; throws if no object can have that name. */
export function targetOf(request: S3Request): FileName {
  return { bucket: bucketOf(request), path: pathOfKey(request.key ?? '') };
}

/** Returns the file to read; an object of an impossible name does not exist. */
export function placeOf({ bucket, key }: Pick<S3Request, 'bucket' | 'key'>): FileName {
  const path = findPath(key ?? '');
  if (bucket !== undefined && path !== undefined) return { bucket, path };
  throw noSuchKey();
}

function noSuchKey(): S3Error {
  return new S3Error('NoSuchKey', 'No object has this key.');
}

/** Throws NoSuchKey, or NoSuchVersion if the request names an id that does not exist. */
export async function findObject(
  operation: Pick<Operation, 'account' | 'records' | 'signal'>,
  name: FileName,
  versionId?: string | undefined,
): Promise<StoredObject> {
  const { account } = operation;
  // The lists of file keys of links to folders are no objects
  if (isOfSharedList(name.path) && (await isOpenedIn(account, name.bucket))) throw noSuchKey();
  const { record, version } = await findRecord(operation, name, versionId);
  const object = { ...objectOf(record), version };
  const isOpened = record.contentType === ageType && (await isOpenedIn(account, name.bucket));
  if (!isOpened) return object;
  const size = object.own.size ?? (await account.secrets.plainSize(record, version));
  return { ...object, size, contentType: unknownType };
}

interface FoundRecord {
  readonly record: FileRecord;
  /** The number of a former version. */
  readonly version?: number;
}

/** Reads the present version as the file, for callers without the right to read versions. */
export async function findRecord(
  { account, records, signal }: Pick<Operation, 'account' | 'records' | 'signal'>,
  name: FileName,
  versionId: string | undefined,
): Promise<FoundRecord> {
  const id = parseVersionId(versionId);
  const present = records.find(account, name);
  if (id === undefined) return { record: await present };
  const found = await unlessMissing(present);
  if (found !== undefined && isVersion(id, found)) return { record: found };
  const { number: version } = id;
  const former = await unlessMissing(account.storage.stat(name, { version, signal }));
  if (former !== undefined && isVersion(id, former)) return { record: former, version };
  throw new S3Error('NoSuchVersion', 'The object has no such version.');
}

/** Returns whether the caller reads the bucket decrypted; false if the caller may not ask. */
export async function isOpenedIn({ secrets }: Account, bucket: string): Promise<boolean> {
  return (await secrets.readerMode(bucket)) !== undefined;
}

/**
 * Returns whether files must be encrypted; throws if the caller may not ask, or if the answer is
 * not trusted.
 */
export async function isEndToEnd({ secrets }: Account, bucket: string): Promise<boolean> {
  return (await secrets.mode(bucket)) !== undefined;
}

const missingCodes: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion']);

/** Returns `undefined` if the file or its version does not exist. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const isMissing = error instanceof S3Error && missingCodes.has(error.code);
    if (isMissing || isStorageError(error, 'NoSuchFile')) return undefined;
    throw error;
  }
}

/** The representation of names in a list. */
export interface Naming {
  readonly encoding: 'url' | undefined;
  readonly text: (name: string) => string;
}

export function namingOf({ query }: S3Request): Naming {
  const encoding = query.get('encoding-type');
  if (encoding === undefined) return { encoding, text: (name) => name };
  if (encoding !== 'url') {
    throw new S3Error('InvalidArgument', 'encoding-type must be url or absent.');
  }
  return { encoding, text: (name) => encodeURIComponent(name).replaceAll('%2F', '/') };
}

/** Returns the whole number of a parameter; undefined if it is absent or empty. */
export function numberOf(query: S3Request['query'], name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new S3Error('InvalidArgument', `${name} must be a whole number; got ${text.slice(0, 80)}.`);
}

const xmlBytesMax = 2_000_000;

/** Returns the whole XML body of a request. */
export async function readSmallBody({ openBody }: Operation): Promise<Uint8Array> {
  const { stream } = openBody();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of stream) {
    length += piece.length;
    if (length > xmlBytesMax) {
      throw new S3Error('EntityTooLarge', `This body has at most ${xmlBytesMax} bytes.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
