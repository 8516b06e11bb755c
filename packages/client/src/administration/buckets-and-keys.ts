// Buckets and keys, as their owners and controllers manage them: by the actor only. What is not
// safe to repeat is tried once: a key made twice would be a secret that nobody holds.

import { type Connection, trying } from '../connection/connection.ts';
import type { Management } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { BucketChange, BucketOptions, BucketRecord, WellKnownText } from '../types/buckets.ts';
import type { KeyRecord, KeyRequest, NewKey } from '../types/keys.ts';

export interface Buckets {
  /** Private unless the options say otherwise. */
  create(id: string, options?: BucketOptions): Promise<BucketRecord>;
  get(id: string): Promise<BucketRecord>;
  /** Those in which the caller has a role; for controllers all of them. */
  list(): AsyncIterable<BucketRecord>;
  update(id: string, change: BucketChange): Promise<BucketRecord>;
  /** Of a bucket without files; open uploads are cancelled when it is forced. */
  remove(id: string, options?: { readonly isForced?: boolean }): Promise<void>;
  /**
   * Of an end-to-end bucket, for its owners: files that are stored from now on are for another
   * identity, which former members cannot get. Asked for once.
   */
  rotateIdentity(id: string): Promise<BucketRecord>;
}

export interface Keys {
  create(request: KeyRequest): Promise<NewKey>;
  list(bucket: string): Promise<readonly KeyRecord[]>;
  revoke(id: string): Promise<void>;
}

/** Texts at `/.well-known/{name}`, for controllers of the canister. */
export interface WellKnown {
  /** In place of one of that name. `contentType`: by the name unless told. */
  set(
    name: string,
    body: string,
    options?: { readonly contentType?: string | undefined },
  ): Promise<void>;
  list(): Promise<readonly WellKnownText[]>;
  remove(name: string): Promise<void>;
}

/** Throws Unsupported over HTTP. */
export function managementOf({ transport }: Connection): Management {
  if (transport.management !== undefined) return transport.management;
  throw new StorageError(
    'Unsupported',
    'Buckets and keys are managed by the actor only: create the storage with host, canisterId ' +
      'and identity instead of url.',
  );
}

export function bucketsOf(connection: Connection): Buckets {
  return {
    create: (id, options = {}) =>
      trying(connection, undefined, (attempt) =>
        createBucket(connection, { id, options, attempt }),
      ),
    get: (id) => trying(connection, undefined, () => managementOf(connection).getBucket(id)),
    list: () => listBuckets(connection),
    update: (id, change) =>
      trying(connection, undefined, () => managementOf(connection).updateBucket(id, change)),
    remove: (id, { isForced = false } = {}) =>
      trying(connection, undefined, (attempt) => remove(connection, { id, isForced, attempt })),
    rotateIdentity: async (id) => managementOf(connection).rotateBucketIdentity(id),
  };
}

/** A repeated creation finds the bucket there when the answer to the first was lost. */
async function createBucket(
  connection: Connection,
  { id, options, attempt }: { id: string; options: BucketOptions; attempt: number },
): Promise<BucketRecord> {
  const management = managementOf(connection);
  try {
    return await management.createBucket(id, options);
  } catch (error) {
    if (attempt === 1 || !isStorageError(error, 'BucketExists')) throw error;
    return management.getBucket(id);
  }
}

async function remove(
  connection: Connection,
  { id, isForced, attempt }: { id: string; isForced: boolean; attempt: number },
): Promise<void> {
  try {
    await managementOf(connection).deleteBucket(id, { isForced });
  } catch (error) {
    if (attempt === 1 || !isStorageError(error, 'NoSuchBucket')) throw error;
  }
}

async function* listBuckets(connection: Connection): AsyncGenerator<BucketRecord> {
  for (let page = 1, hasMore = true; hasMore; page++) {
    const listed = await trying(connection, undefined, () =>
      managementOf(connection).listBuckets(page),
    );
    yield* listed.items;
    hasMore = listed.hasMore;
  }
}

export function keysOf(connection: Connection): Keys {
  return {
    create: async (request) => managementOf(connection).createKey(request),
    list: (bucket) =>
      trying(connection, undefined, () => managementOf(connection).listKeys(bucket)),
    revoke: (id) => trying(connection, undefined, () => managementOf(connection).revokeKey(id)),
  };
}

export function wellKnownOf(connection: Connection): WellKnown {
  const set = (text: Parameters<Management['setWellKnown']>[0]) =>
    trying(connection, undefined, () => managementOf(connection).setWellKnown(text));
  return {
    set: (name, body, { contentType } = {}) => set({ name, body, contentType }),
    list: () => trying(connection, undefined, () => managementOf(connection).listWellKnown()),
    remove: (name) => set({ name, body: undefined }),
  };
}
