// Administration of buckets, API keys and well-known texts, which requires the actor.

import { byRule, type Connection, type RuledName, trying } from '../connection/connection.ts';
import type { Administration, Signal } from '../connection/transport.ts';
import { type AdministrationOperations, administrationRows } from '../operations/administration.ts';
import type { ArgumentOf, ResultOf } from '../operations/operation.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { BucketChange, BucketOptions, BucketRecord, WellKnownText } from '../types/buckets.ts';
import type { KeyRecord, KeyRequest, NewKey } from '../types/keys.ts';
import { recipientsDigest } from '../types/recipients-digest.ts';

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
   * Returns a bucket's record. One node of the network answers, unless `certified` is true: then
   * the network signs the answer, which takes some seconds and requires the identity of an owner or
   * a writer.
   *
   * @example
   * ```ts
   * const { fileCount, byteCount } = await storage.buckets.get('demo');
   * const { members } = await storage.buckets.get('demo', { certified: true });
   * console.log(fileCount, byteCount, members);
   * ```
   */
  get(id: string, options?: { readonly certified?: boolean }): Promise<BucketRecord>;
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
  /**
   * Returns the digest of the recipients of a bucket's new files, from a reply that the network
   * signs; `none` if the bucket is not end-to-end. Writers pin it by `pinnedRecipients` of
   * `endToEnd()`.
   *
   * @example
   * ```ts
   * await storage.buckets.create('inbox', { endToEnd: {} });
   * console.log(await storage.buckets.recipientsDigest('inbox'));
   * ```
   */
  recipientsDigest(id: string): Promise<string>;
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

/** Manages the texts at `/.well-known/{name}`; requires a controller of the canister. */
export interface WellKnown {
  /**
   * Stores a text and replaces one of the same name. `contentType` follows from the name by
   * default.
   *
   * @example
   * ```ts
   * await storage.wellKnown.set('security.txt', 'Contact: mailto:security@example.org\n');
   * await storage.wellKnown.set('app', '{}', { contentType: 'application/json' });
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

/** Calls an operation, and retries it by the rule in its row. Throws Unsupported over HTTP. */
export async function manage<Name extends RuledName<typeof administrationRows>>(
  connection: Connection,
  name: Name,
  argument: ArgumentOf<AdministrationOperations[Name]>,
  signal?: Signal,
): Promise<ResultOf<AdministrationOperations[Name]>> {
  const { retry: rule } = administrationRows[name];
  const calls = administrationOf(connection);
  return byRule(connection, { rule, signal }, () => calls[name](argument, signal));
}

function administrationOf({ transport }: Connection): Administration {
  if (transport.administration !== undefined) return transport.administration;
  throw new StorageError(
    'Unsupported',
    'Buckets and keys can be managed only through the actor: create the storage with host, ' +
      'canisterId and identity instead of url.',
  );
}

/** `onChange` is also called if a call fails, because only its reply may have been lost. */
export function bucketsOf(connection: Connection, onChange?: (id: string) => void): Buckets {
  const changing = <T>(id: string, call: Promise<T>) => call.finally(() => onChange?.(id));
  return {
    create: (id, options = {}) => changing(id, createBucket(connection, id, options)),
    get: (id, { certified = false } = {}) =>
      manage(connection, certified ? 'getSignedBucket' : 'getBucket', id),
    list: () => listBuckets(connection),
    update: (id, change) => changing(id, manage(connection, 'updateBucket', { ...change, id })),
    remove: (id, { isForced = false } = {}) =>
      changing(id, manage(connection, 'deleteBucket', { id, isForced })),
    rotateIdentity: (id) => changing(id, manage(connection, 'rotateBucketIdentity', id)),
    async recipientsDigest(id) {
      const { endToEnd } = await manage(connection, 'getBucketMode', id);
      return recipientsDigest(endToEnd);
    },
  };
}

/** If the response to the first creation was lost, a retry finds the bucket. */
function createBucket(
  connection: Connection,
  id: string,
  options: BucketOptions,
): Promise<BucketRecord> {
  return trying(connection, undefined, async (attempt) => {
    const administration = administrationOf(connection);
    try {
      return await administration.createBucket({ ...options, id }, undefined);
    } catch (error) {
      if (attempt === 1 || !isStorageError(error, 'BucketExists')) throw error;
      return administration.getBucket(id, undefined);
    }
  });
}

async function* listBuckets(connection: Connection): AsyncGenerator<BucketRecord> {
  for (let page = 1, hasMore = true; hasMore; page++) {
    const listed = await manage(connection, 'listBuckets', page);
    yield* listed.items;
    hasMore = listed.hasMore;
  }
}

export function keysOf(connection: Connection): Keys {
  return {
    create: (request) => manage(connection, 'createKey', request),
    list: (bucket) => manage(connection, 'listKeys', bucket),
    revoke: (id) => manage(connection, 'revokeKey', id),
  };
}

export function wellKnownOf(connection: Connection): WellKnown {
  return {
    set: (name, body, { contentType } = {}) =>
      manage(connection, 'setWellKnown', { name, body, contentType }),
    list: () => manage(connection, 'listWellKnown', undefined),
    remove: (name) => manage(connection, 'setWellKnown', { name, body: undefined }),
  };
}
