// The client of a service with several volumes. It finds the volume of each bucket, calls it as the
// client of one canister does, and combines what concerns all volumes.

import type { ActorConnection } from './actor/connection.ts';
import { onDemand } from './connection/on-demand.ts';
import {
  type ActorStorageOptions,
  actorConnection,
  createStorage,
  type Storage,
} from './storage.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { BucketRecord } from './types/buckets.ts';
import type { ServiceStatus, ServiceVolume } from './types/service.ts';

export interface ServiceStorageOptions extends Omit<ActorStorageOptions, 'canisterId' | 'linkUrl'> {
  /** The id of the service's front. */
  readonly front: string;
}

export interface ServiceStorage extends Storage {
  /** Returns the volumes of the service, from a certificate of the network. */
  volumes(): Promise<readonly ServiceVolume[]>;
  /**
   * Returns the id of the canister that has the bucket, such as for the address of an API key.
   * Fails with NoSuchBucket if no volume has it, or the caller has no right to it.
   */
  volumeOf(bucket: string): Promise<string>;
}

/**
 * Returns the client of a service that a front and its volumes form together. Buckets are created
 * at the front, which chooses a volume; every other operation on a bucket calls its volume.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createServiceStorage } from '@encrypted-file-storage/client';
 * import { identityFromPem } from '@encrypted-file-storage/client/node';
 *
 * const identity = identityFromPem(await readFile('identity.pem', 'utf8'));
 * const host = 'https://icp-api.io';
 * const service = createServiceStorage({ host, front: '<front id>', identity });
 * await service.buckets.create('albums');
 * await service.upload(new Blob(['hello']), { bucket: 'albums', path: 'hello.txt' });
 * console.log(await service.volumeOf('albums'), await service.volumes());
 * ```
 */
export function createServiceStorage(options: ServiceStorageOptions): ServiceStorage {
  const places = new Places(options);
  const front = places.at(options.front);
  const routed = <Group extends object>(rows: Rows<Group>, group: (storage: Storage) => Group) =>
    routedGroup(places, rows, group);
  return {
    ...routed<Storage>(rows.files, (storage) => storage),
    versions: routed(rows.versions, ({ versions }) => versions),
    uploads: {
      ...routed(rows.uploads, ({ uploads }) => uploads),
      longestChunkBytes: () => front.uploads.longestChunkBytes(),
    },
    links: routed(rows.links, ({ links }) => links),
    keys: {
      ...routed(rows.keys, ({ keys }) => keys),
      create: async (request) => {
        const volume = await places.volumeOfAll(request.buckets);
        return places.at(volume).keys.create(request);
      },
      revoke: (id) => places.somewhere(({ keys }) => keys.revoke(id)),
    },
    buckets: {
      ...routed(rows.buckets, ({ buckets }) => buckets),
      create: (id, settings) => front.buckets.create(id, settings),
      list: () => listBuckets(places),
    },
    rotation: {
      ...routed(rows.rotation, ({ rotation }) => rotation),
      root: (source) => places.everywhere(({ rotation }) => rotation.root(source)),
    },
    wellKnown: front.wellKnown,
    access: front.access,
    code: front.code,
    status: () => statusOf(places),
    volumes: () => places.volumes(),
    volumeOf: (bucket) => places.volumeOf(bucket),
  };
}

/** The place of the bucket in a method's arguments, and how the method may be called. */
interface Row {
  /** The index of the argument that is the bucket's id or has it as `bucket`. */
  readonly argument: number;
  /** The method returns an async iterable. */
  readonly isList?: true;
  /** Its source can be read only once, so the method is not called at another volume. */
  readonly isOnce?: true;
}

type Rows<Group> = { readonly [Name in keyof Group]?: Row };

const first = { argument: 0 } as const;
const list = { argument: 0, isList: true } as const;

const rows = {
  files: {
    upload: { argument: 1, isOnce: true },
    uploadAll: { argument: 1, isList: true },
    download: first,
    downloadAll: { argument: 1, isList: true },
    list,
    listFolder: first,
    usage: first,
    stat: first,
    remove: first,
    removeAll: list,
    copy: first,
    move: first,
    moveAll: first,
    change: first,
    getUpload: first,
    cancelUpload: first,
  },
  versions: { list, restore: first, erase: first },
  uploads: {
    begin: first,
    write: { argument: 0, isOnce: true },
    list: first,
    status: first,
    complete: first,
    cancel: first,
  },
  links: { create: first, list, remove: first },
  keys: { list: first },
  buckets: {
    get: first,
    update: first,
    remove: first,
    rotateIdentity: first,
    recipientsDigest: first,
  },
  rotation: { bucket: first },
} as const;

type AnyMethod = (...values: readonly unknown[]) => unknown;
type AnyGroup = Readonly<Record<string, AnyMethod>>;

/** Returns the group's methods of the table, each of which calls the volume of its bucket. */
function routedGroup<Group extends object>(
  places: Places,
  rowsOfGroup: Rows<Group>,
  groupOf: (storage: Storage) => Group,
): Group {
  const call = (storage: Storage, name: string, values: readonly unknown[]) =>
    (groupOf(storage) as unknown as AnyGroup)[name]?.(...values);
  const methods = Object.entries<Row>(rowsOfGroup as Record<string, Row>).map(([name, row]) => {
    const { argument, isList = false, isOnce = false } = row;
    async function* items(...values: readonly unknown[]) {
      const volume = await places.volumeOf(bucketIn(values[argument]));
      yield* call(places.at(volume), name, values) as AsyncIterable<unknown>;
    }
    const method = (...values: readonly unknown[]) =>
      places.run(bucketIn(values[argument]), isOnce, (storage) => call(storage, name, values));
    return [name, isList ? items : method];
  });
  return Object.fromEntries(methods) as Group;
}

function bucketIn(value: unknown): string {
  return typeof value === 'string' ? value : (value as { readonly bucket: string }).bucket;
}

/** The volumes of a service, and which of them has a bucket. */
class Places {
  readonly #options: ServiceStorageOptions;
  readonly #storages = new Map<string, Storage>();
  /** The volumes of buckets that were found. */
  readonly #found = new Map<string, string>();
  readonly #reader: () => Promise<() => Promise<readonly ServiceVolume[]>>;

  constructor(options: ServiceStorageOptions) {
    this.#options = options;
    const connection: ActorConnection = actorConnection({ ...options, canisterId: options.front });
    this.#reader = onDemand(async () => {
      const { volumeReader } = await import('./actor/volumes.ts');
      return volumeReader(connection);
    });
  }

  at(canisterId: string): Storage {
    const known = this.#storages.get(canisterId);
    if (known !== undefined) return known;
    const storage = createStorage({ ...this.#options, canisterId });
    this.#storages.set(canisterId, storage);
    return storage;
  }

  async volumes(): Promise<readonly ServiceVolume[]> {
    return (await this.#reader())();
  }

  async volumeOf(bucket: string): Promise<string> {
    const known = this.#found.get(bucket);
    if (known !== undefined) return known;
    const volume = await this.#find(bucket);
    this.#found.set(bucket, volume);
    return volume;
  }

  /** Returns the volume of all the buckets, which an API key must share. */
  async volumeOfAll(buckets: readonly string[]): Promise<string> {
    const volumes = new Set(await Promise.all(buckets.map((bucket) => this.volumeOf(bucket))));
    const [volume] = volumes;
    if (volumes.size === 1 && volume !== undefined) return volume;
    throw new StorageError(
      'InvalidArgument',
      `An API key belongs to one volume, and these ${buckets.length} buckets are at ` +
        `${volumes.size}: make a key for the buckets of each volume.`,
    );
  }

  /** Calls the bucket's volume; if the bucket has left it, calls the volume that has it now. */
  async run<T>(
    bucket: string,
    isOnce: boolean,
    call: (storage: Storage) => T | Promise<T>,
  ): Promise<T> {
    const volume = await this.volumeOf(bucket);
    try {
      return await call(this.at(volume));
    } catch (error) {
      if (!isStorageError(error, 'NoSuchBucket')) throw error;
      this.#found.delete(bucket);
      if (isOnce) throw error;
      const next = await this.volumeOf(bucket).catch(() => volume);
      if (next === volume) throw error;
      return call(this.at(next));
    }
  }

  /** Calls all volumes at once; fails with the first error after all have answered. */
  async everywhere(call: (storage: Storage) => Promise<void>): Promise<void> {
    const [failure] = (await this.#failures(call)).failures;
    if (failure !== undefined) throw failure;
  }

  /** Calls all volumes at once, of which one has what the call is for. */
  async somewhere(call: (storage: Storage) => Promise<void>): Promise<void> {
    const { failures, count } = await this.#failures(call);
    if (failures.length === count) throw failures[0];
  }

  async #failures(call: (storage: Storage) => Promise<void>) {
    const volumes = await this.volumes();
    const ended = await Promise.allSettled(
      volumes.map(({ canisterId }) => call(this.at(canisterId))),
    );
    const failures = ended.flatMap((result, index) =>
      result.status === 'rejected'
        ? [namedError(volumes[index]?.canisterId ?? '', result.reason)]
        : [],
    );
    return { failures, count: volumes.length };
  }

  async #find(bucket: string): Promise<string> {
    const volumes = await this.volumes();
    const answers = await Promise.all(
      volumes.map(({ canisterId }) => this.#knows(canisterId, bucket)),
    );
    const claims = volumes.filter((_, index) => answers[index] === true);
    const [claim] = claims;
    if (claims.length === 1 && claim !== undefined) return claim.canisterId;
    if (claims.length > 1) return this.#confirmed(bucket, claims);
    const failed = answers.findIndex((answer) => typeof answer === 'object');
    if (failed >= 0) throw namedError(volumes[failed]?.canisterId ?? '', answers[failed]);
    throw new StorageError(
      'NoSuchBucket',
      `Bucket ${bucket} does not exist at any of the ${volumes.length} volumes, or the caller has ` +
        'no right to it.',
    );
  }

  /** Returns the error if the volume did not answer. */
  async #knows(canisterId: string, bucket: string): Promise<boolean | object> {
    try {
      await this.at(canisterId).buckets.get(bucket);
      return true;
    } catch (error) {
      if (isStorageError(error, 'NoSuchBucket', 'InvalidApiKey', 'Unauthorized')) return false;
      // The volume has the bucket, but shows no record to this caller
      return isStorageError(error, 'AccessDenied') || (error as object);
    }
  }

  /** Decides between volumes by their signed answers: a node can falsely claim any bucket. */
  async #confirmed(bucket: string, claims: readonly ServiceVolume[]): Promise<string> {
    for (const { canisterId } of claims) {
      const { buckets } = this.at(canisterId);
      const isThere = await buckets.recipientsDigest(bucket).then(
        () => true,
        () => false,
      );
      if (isThere) return canisterId;
    }
    throw new StorageError(
      'Untrusted',
      `${claims.length} volumes claim to have bucket ${bucket}, and none has signed that it does: ` +
        'call as a member of the bucket or with its key.',
    );
  }
}

function namedError(canisterId: string, error: unknown): unknown {
  if (!isStorageError(error)) return error;
  const { code, message, status, isRetryable } = error;
  const words = `The volume ${canisterId}: ${message}`;
  return new StorageError(code, words, { status, isRetryable, cause: error });
}

/** Yields the buckets of all volumes, and fails in the end if a volume did not answer. */
async function* listBuckets(places: Places): AsyncGenerator<BucketRecord> {
  let failure: { readonly error: unknown } | undefined;
  for (const { canisterId } of await places.volumes()) {
    try {
      yield* places.at(canisterId).buckets.list();
    } catch (error) {
      failure ??= { error: namedError(canisterId, error) };
    }
  }
  if (failure !== undefined) throw failure.error;
}

/** Returns the front's status with the sums of its volumes. */
async function statusOf(places: Places): Promise<ServiceStatus> {
  const volumes = await places.volumes();
  const statuses = await Promise.all(
    volumes.map(({ canisterId }) => {
      const named = (error: unknown) => Promise.reject(namedError(canisterId, error));
      return places.at(canisterId).status().catch(named);
    }),
  );
  const [one] = statuses;
  if (one === undefined) {
    throw new StorageError('Unsupported', 'The service has no volumes: add one to its front.');
  }
  const sum = (field: 'buckets' | 'files' | 'bytesStored' | 'stableBytes' | 'heapBytes') =>
    statuses.reduce((total, status) => total + status[field], 0);
  return {
    ...one,
    buckets: sum('buckets'),
    files: sum('files'),
    bytesStored: sum('bytesStored'),
    stableBytes: sum('stableBytes'),
    heapBytes: sum('heapBytes'),
  };
}
