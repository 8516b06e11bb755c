// Requests to one bucket of an S3 store.

import { setMaxListeners } from 'node:events';
import type { S3Client } from '@aws-sdk/client-s3';
import { isStorageError } from '../../../../client/src/storage-error.ts';
import { isMissing, storeFailure } from './s3-failures.ts';
import type { S3Place } from './s3-place.ts';

/** The SDK repeats a request that may succeed later. */
const attemptsMax = 5;

export interface S3Store {
  readonly sdk: typeof import('./s3-sdk.ts');
  readonly client: S3Client;
  readonly place: S3Place;
  readonly signal: AbortSignal;
}

export async function openStore(place: S3Place, signal: AbortSignal): Promise<S3Store> {
  // Each release warns of the next major version of Node, which users of a bundle need not know.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const sdk = await import('./s3-sdk.ts');
  const { region, endpoint, credentials } = place;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const client = new sdk.S3Client({
    ...{ region, maxAttempts: attemptsMax },
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Other stores know fewer checksums than AWS: s3-writes.ts sends those that all know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  // Each request under way listens to the signal.
  setMaxListeners(0, signal);
  return { sdk, client, place, signal };
}

export function objectAt({ place }: S3Store, path: string) {
  return { Bucket: place.bucket, Key: `${place.prefix}${path}` };
}

/** Returns the object, or one of its versions, as the source of a copy. */
export function copySource(store: S3Store, path: string, id?: string): string {
  const { Bucket, Key } = objectAt(store, path);
  const name = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/');
  return id === undefined ? name : `${name}?versionId=${encodeURIComponent(id)}`;
}

/** Sends a request. `action` completes "The credentials may not …". */
export async function send<T>(
  { client, place, signal }: S3Store,
  action: string,
  request: (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    return await request(client, { abortSignal: signal });
  } catch (error) {
    throw storeFailure(error, place, action);
  }
}

/** Returns undefined if the object or version does not exist. */
async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isMissing((error as Error).cause)) return undefined;
    throw error;
  }
}

/** Returns whether the bucket stores former versions. */
export async function hasVersions(store: S3Store): Promise<boolean> {
  const command = new store.sdk.GetBucketVersioningCommand({ Bucket: store.place.bucket });
  try {
    const action = 'read the versioning (s3:GetBucketVersioning)';
    const { Status } = await send(store, action, (client, options) =>
      client.send(command, options),
    );
    return Status === 'Enabled';
  } catch (error) {
    // Stores without versions lack the operation, as does `efs serve s3` for an API key.
    if (isStorageError(error, 'NotImplemented')) return false;
    throw error;
  }
}

export async function deleteObject(store: S3Store, path: string, id?: string): Promise<void> {
  const { sdk } = store;
  const command = new sdk.DeleteObjectCommand({ ...objectAt(store, path), VersionId: id });
  const action = id === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion';
  await unlessGone(
    send(store, `delete objects (${action})`, (client, options) => client.send(command, options)),
  );
}

export async function headObject(store: S3Store, path: string, id?: string) {
  const input = { ...objectAt(store, path), VersionId: id, ChecksumMode: 'ENABLED' } as const;
  const command = new store.sdk.HeadObjectCommand(input);
  const action = id === undefined ? 's3:GetObject' : 's3:GetObjectVersion';
  return unlessGone(
    send(store, `read objects (${action})`, (client, options) => client.send(command, options)),
  );
}

export async function readObject(
  store: S3Store,
  path: string,
  id?: string,
): Promise<AsyncIterable<Uint8Array>> {
  const command = new store.sdk.GetObjectCommand({ ...objectAt(store, path), VersionId: id });
  const { Body } = await send(store, 'read objects (s3:GetObject)', (client, options) =>
    client.send(command, options),
  );
  return Body as unknown as AsyncIterable<Uint8Array>;
}
