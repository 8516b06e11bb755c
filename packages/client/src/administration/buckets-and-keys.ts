// Administration of buckets, API keys and well-known texts, which requires the actor. Operations
// that are not idempotent are not retried: a second key could remain whose secret nobody has.

import { type Connection, trying } from '../connection/connection.ts';
import type { Administration } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { BucketChange, BucketOptions, BucketRecord, WellKnownText } from '../types/buckets.ts';
import type { KeyRecord, KeyRequest, NewKey } from '../types/keys.ts';

export interface Buckets {
  /**
   * Creates a bucket; it is private by default.
   *
   * @example
   * ```ts
   * await storage.buckets.create('photos', { keepVersionsDays: 30, quotaBytes: 1_000_000_000 });
   * ```
   */
  create(id: string, options?: BucketOptions): Promise<BucketRecord>;
  /**
   * Returns a bucket's record.
   *
   * @example
   * ```ts
   * const { fileCount, byteCount } = await storage.buckets.get('demo');
   * console.log(fileCount, byteCount);
   * ```
   */
  get(id: string): Promise<BucketRecord>;
  /**
   * Lists the buckets in which the caller has a role; controllers see all.
   *
   * @example
   * ```ts
   * for await (const { id, owner } of storage.buckets.list()) console.log(id, owner);
   * ```
   */
  list(): AsyncIterable<BucketRecord>;
  /**
   * Changes a bucket's settings, owner or members.
   *
   * @example
   * ```ts
   * await storage.buckets.update('demo', { isPublic: true });
   * ```
   */
  update(id: string, change: BucketChange): Promise<BucketRecord>;
  /**
   * Removes a bucket without files; `isForced` cancels its open uploads.
   *
   * @example
   * ```ts
   * await storage.buckets.create('temporary');
   * await storage.buckets.remove('temporary', { isForced: true });
   * ```
   */
  remove(id: string, options?: { readonly isForced?: boolean }): Promise<void>;
  /**
   * Gives an end-to-end bucket a new identity, which former members cannot get; files stored from
   * now on are encrypted to it. Requires an owner. Not retried.
   *
   * @example
   * ```ts
   * await storage.buckets.create('team', { endToEnd: {} });
   * await storage.buckets.rotateIdentity('team');
   * ```
   */
  rotateIdentity(id: string): Promise<BucketRecord>;
}

export interface Keys {
  /**
   * Creates an API key and returns it with its secret, which no later call returns.
   *
   * @example
   * ```ts
   * const { secret } = await storage.keys.create({
   *   name: 'drop box',
   *   buckets: ['demo'],
   *   permissions: ['write'],
   *   prefix: 'inbox/',
   * });
   * console.log(secret);
   * ```
   */
  create(request: KeyRequest): Promise<NewKey>;
  /**
   * Lists the keys of a bucket, without their secrets.
   *
   * @example
   * ```ts
   * for (const { name, permissions } of await storage.keys.list('demo')) {
   *   console.log(name, permissions);
   * }
   * ```
   */
  list(bucket: string): Promise<readonly KeyRecord[]>;
  /**
   * Revokes a key.
   *
   * @example
   * ```ts
   * for (const { id, name } of await storage.keys.list('demo')) {
   *   if (name === 'drop box') await storage.keys.revoke(id);
   * }
   * ```
   */
  revoke(id: string): Promise<void>;
}

/** Texts at `/.well-known/{name}`; require a controller of the canister. */
export interface WellKnown {
  /**
   * Stores a text and replaces one of the same name. `contentType` follows from the name by
   * default.
   *
   * @example
   * ```ts
   * await storage.wellKnown.set('security.txt', 'Contact: mailto:security@example.org\n');
   * ```
   */
  set(
    name: string,
    body: string,
    options?: { readonly contentType?: string | undefined },
  ): Promise<void>;
  /**
   * Lists the texts.
   *
   * @example
   * ```ts
   * for (const { name } of await storage.wellKnown.list()) console.log(name);
   * ```
   */
  list(): Promise<readonly WellKnownText[]>;
  /**
   * Removes a text.
   *
   * @example
   * ```ts
   * await storage.wellKnown.set('hello.txt', 'hello');
   * await storage.wellKnown.remove('hello.txt');
   * ```
   */
  remove(name: string): Promise<void>;
}

/** Throws Unsupported over HTTP. */
export function administrationOf({ transport }: Connection): Administration {
  if (transport.administration !== undefined) return transport.administration;
  throw new StorageError(
    'Unsupported',
    'Buckets and keys can be managed only through the actor: create the storage with host, ' +
      'canisterId and identity instead of url.',
  );
}

export function bucketsOf(connection: Connection): Buckets {
  return {
    create: (id, options = {}) =>
      trying(connection, undefined, (attempt) =>
        createBucket(connection, { id, options, attempt }),
      ),
    get: (id) => trying(connection, undefined, () => administrationOf(connection).getBucket(id)),
    list: () => listBuckets(connection),
    update: (id, change) =>
      trying(connection, undefined, () => administrationOf(connection).updateBucket(id, change)),
    remove: (id, { isForced = false } = {}) =>
      trying(connection, undefined, (attempt) => remove(connection, { id, isForced, attempt })),
    rotateIdentity: async (id) => administrationOf(connection).rotateBucketIdentity(id),
  };
}

/** If the response to the first creation was lost, a retry finds the bucket. */
async function createBucket(
  connection: Connection,
  { id, options, attempt }: { id: string; options: BucketOptions; attempt: number },
): Promise<BucketRecord> {
  const administration = administrationOf(connection);
  try {
    return await administration.createBucket(id, options);
  } catch (error) {
    if (attempt === 1 || !isStorageError(error, 'BucketExists')) throw error;
    return administration.getBucket(id);
  }
}

async function remove(
  connection: Connection,
  { id, isForced, attempt }: { id: string; isForced: boolean; attempt: number },
): Promise<void> {
  try {
    await administrationOf(connection).deleteBucket(id, { isForced });
  } catch (error) {
    if (attempt === 1 || !isStorageError(error, 'NoSuchBucket')) throw error;
  }
}

async function* listBuckets(connection: Connection): AsyncGenerator<BucketRecord> {
  for (let page = 1, hasMore = true; hasMore; page++) {
    const listed = await trying(connection, undefined, () =>
      administrationOf(connection).listBuckets(page),
    );
    yield* listed.items;
    hasMore = listed.hasMore;
  }
}

export function keysOf(connection: Connection): Keys {
  return {
    create: async (request) => administrationOf(connection).createKey(request),
    list: (bucket) =>
      trying(connection, undefined, () => administrationOf(connection).listKeys(bucket)),
    revoke: (id) => trying(connection, undefined, () => administrationOf(connection).revokeKey(id)),
  };
}

export function wellKnownOf(connection: Connection): WellKnown {
  const set = (text: Parameters<Administration['setWellKnown']>[0]) =>
    trying(connection, undefined, () => administrationOf(connection).setWellKnown(text));
  return {
    set: (name, body, { contentType } = {}) => set({ name, body, contentType }),
    list: () => trying(connection, undefined, () => administrationOf(connection).listWellKnown()),
    remove: (name) => set({ name, body: undefined }),
  };
}
