// The volumes of a service, and where its buckets are.

import type { ActorConnection } from './actor/connection.ts';
import type { VolumeCalls } from './actor/volumes.ts';
import { onDemand } from './connection/on-demand.ts';
import {
  type ActorStorageOptions,
  actorConnection,
  createStorage,
  type Storage,
} from './storage.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { ServiceVolume, VolumeMemory } from './types/service.ts';

export interface ServiceStorageOptions extends Omit<ActorStorageOptions, 'canisterId' | 'linkUrl'> {
  /** The id of the service's front. */
  readonly front: string;
  /**
   * Remembers the volumes of buckets, for as long as the program runs by default.
   *
   * @example
   * ```ts
   * import { createServiceStorage } from '@encrypted-file-storage/client';
   *
   * const found = new Map<string, string>();
   * const service = createServiceStorage({
   *   host: 'https://icp-api.io',
   *   front: '<front id>',
   *   volumeMemory: {
   *     get: async (bucket) => found.get(bucket),
   *     set: async (bucket, volume) => void found.set(bucket, volume),
   *     delete: async (bucket) => void found.delete(bucket),
   *   },
   * });
   * console.log(await service.volumes.list());
   * ```
   */
  readonly volumeMemory?: VolumeMemory | undefined;
  /**
   * Returns the ids of the volumes, for programs that know them from an answer that they trust,
   * such as a page of the front. By default, the front's certificate names them.
   *
   * @example
   * ```ts
   * import { createServiceStorage } from '@encrypted-file-storage/client';
   *
   * const service = createServiceStorage({
   *   host: 'https://icp-api.io',
   *   front: '<front id>',
   *   volumeIds: async () => ['<canister id>'],
   * });
   * console.log(await service.status());
   * ```
   */
  readonly volumeIds?: (() => Promise<readonly string[]>) | undefined;
}

/** Errors of a canister that does not have the bucket, or that no longer exists. */
const absentCodes = ['NoSuchBucket', 'NoSuchCanister', 'NoModule'] as const;

/** Maximum number of buckets that a memory within the program has. */
const rememberedMax = 10_000;

/** Returns a memory that lasts as long as the program, and forgets the oldest entry first. */
export function programVolumeMemory(): VolumeMemory {
  const found = new Map<string, string>();
  return {
    get: async (bucket) => found.get(bucket),
    async set(bucket, volume) {
      const [oldest] = found.keys();
      if (found.size >= rememberedMax && oldest !== undefined) found.delete(oldest);
      found.set(bucket, volume);
    },
    delete: async (bucket) => void found.delete(bucket),
  };
}

/** Searches begin with a list of volumes that is not older. */
const listedMs = 60_000;

/** An answer that not all volumes have confirmed is used for this time. */
const unsureMs = 60_000;

interface VolumeAnswer {
  readonly isThere: boolean;
  /** The volume's error for a bucket that it does not have. */
  readonly refusal?: unknown;
  /** The error if the volume did not answer. */
  readonly failure?: unknown;
}

/** The volumes of a service, and which of them has a bucket. */
export class Places {
  readonly #options: ServiceStorageOptions;
  readonly #memory: VolumeMemory;
  /** Volumes of buckets that a node can have claimed while their own volume did not answer. */
  #unsure = { memory: programVolumeMemory(), untilMs: 0 };
  /** The last list of volumes, with which searches begin. */
  #listed: { readonly ids: readonly string[]; readonly untilMs: number } | undefined;
  readonly #storages = new Map<string, Storage>();
  /** Running searches, by bucket. */
  readonly #searches = new Map<string, Promise<string>>();
  /** Calls of the front about its volumes. */
  readonly calls: () => Promise<VolumeCalls>;

  constructor(options: ServiceStorageOptions) {
    this.#options = options;
    this.#memory = options.volumeMemory ?? programVolumeMemory();
    const connection: ActorConnection = actorConnection({ ...options, canisterId: options.front });
    this.calls = onDemand(async () => {
      const { openVolumeCalls } = await import('./actor/volumes.ts');
      return openVolumeCalls(connection);
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
    return (await this.calls()).list();
  }

  /** Returns the ids of the volumes as they are now. */
  async volumeIds(): Promise<readonly string[]> {
    const { volumeIds } = this.#options;
    const ids =
      volumeIds === undefined
        ? (await this.volumes()).map(({ canisterId }) => canisterId)
        : await volumeIds();
    this.#listed = { ids, untilMs: performance.now() + listedMs };
    return ids;
  }

  async volumeOf(bucket: string): Promise<string> {
    const { memory, untilMs } = this.#unsure;
    const unsure = performance.now() < untilMs ? await memory.get(bucket) : undefined;
    return (await this.#memory.get(bucket)) ?? unsure ?? this.#search(bucket);
  }

  /** The next call for the bucket asks all volumes. */
  async forget(bucket: string): Promise<void> {
    this.#listed = undefined;
    await this.#unsure.memory.delete(bucket);
    await this.#memory.delete(bucket);
  }

  /** Calls at the same time share a search, but not its failure: the bucket may be newer. */
  async #search(bucket: string): Promise<string> {
    const running = await this.#searches.get(bucket)?.catch(() => undefined);
    if (running !== undefined) return running;
    const search = this.#find(bucket);
    this.#searches.set(bucket, search);
    try {
      return await search;
    } finally {
      if (this.#searches.get(bucket) === search) this.#searches.delete(bucket);
    }
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

  /**
   * Calls the bucket's volume; if the bucket has left it, calls the volume that has it now. Calls
   * that are `isOnce` cannot be repeated: they fail with an error that says to repeat the
   * operation.
   */
  async run<T>(
    bucket: string,
    isOnce: boolean,
    call: (storage: Storage, volume: string) => T | Promise<T>,
  ): Promise<T> {
    const volume = await this.volumeOf(bucket);
    try {
      return await call(this.at(volume), volume);
    } catch (error) {
      const next = await this.#volumeAfter(error, bucket, volume);
      if (isOnce) throw movedError(bucket, next, error);
      return call(this.at(next), next);
    }
  }

  /** Calls again if a bucket has left the volume that is remembered. */
  async repeated<T>(buckets: readonly string[], call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isStorageError(error, ...absentCodes)) throw error;
      await Promise.all(buckets.map((bucket) => this.forget(bucket)));
      return call();
    }
  }

  /** Yields the items of a call as `run` does. An item's own error counts as one of the call. */
  async *items<T>(
    bucket: string,
    isOnce: boolean,
    call: (storage: Storage) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const volume = await this.volumeOf(bucket);
    let count = 0;
    let moved: Promise<unknown> | undefined;
    try {
      for await (const item of call(this.at(volume))) {
        count += 1;
        const { error } = Object(item) as { readonly error?: unknown };
        if (isStorageError(error, ...absentCodes)) {
          moved ??= this.#volumeAfter(error, bucket, volume).then(
            (next) => movedError(bucket, next, error),
            (failure) => failure,
          );
          yield { ...item, error: await moved };
        } else yield item;
      }
    } catch (error) {
      const next = await this.#volumeAfter(error, bucket, volume);
      if (isOnce || count > 0) throw movedError(bucket, next, error);
      yield* call(this.at(next));
    }
  }

  /** Returns the volume that has the bucket now; throws if no other one than `volume` has it. */
  async #volumeAfter(error: unknown, bucket: string, volume: string): Promise<string> {
    if (!isStorageError(error, ...absentCodes)) throw error;
    await this.forget(bucket);
    const next = await this.volumeOf(bucket);
    if (next === volume) throw error;
    return next;
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
    const volumes = await this.volumeIds();
    const ended = await Promise.allSettled(volumes.map((id) => call(this.at(id))));
    const failures = ended.flatMap((result, index) =>
      result.status === 'rejected' ? [namedError(volumes[index] ?? '', result.reason)] : [],
    );
    return { failures, count: volumes.length };
  }

  /** Asks the volumes of the last list first: reading it anew takes as long as asking them all. */
  async #find(bucket: string): Promise<string> {
    const { ids = [], untilMs = 0 } = this.#listed ?? {};
    if (performance.now() >= untilMs) return this.#findAmong(await this.volumeIds(), bucket);
    try {
      return await this.#findAmong(ids, bucket);
    } catch (error) {
      if (!isStorageError(error, 'NoSuchBucket', 'InvalidApiKey')) throw error;
      const present = await this.volumeIds();
      if (String(present) === String(ids)) throw error;
      return this.#findAmong(present, bucket);
    }
  }

  async #findAmong(volumes: readonly string[], bucket: string): Promise<string> {
    const [only] = volumes;
    if (volumes.length === 1 && only !== undefined) {
      // The call itself fails if the only volume does not have the bucket. Another volume can be
      // added and get it, so this is not remembered for longer than the list.
      await this.#unsureMemory().set(bucket, only);
      return only;
    }
    const answers = await Promise.all(volumes.map((id) => this.#knows(id, bucket)));
    const failed = answers.findIndex(({ failure }) => failure !== undefined);
    const claims = volumes.filter((_, index) => answers[index]?.isThere);
    if (claims.length > 0) {
      const isOne = claims.length === 1;
      const volume = (isOne && claims[0]) || (await this.#confirmed(bucket, claims));
      const memory = isOne && failed >= 0 ? this.#unsureMemory() : this.#memory;
      await memory.set(bucket, volume);
      return volume;
    }
    if (failed >= 0) throw namedError(volumes[failed] ?? '', answers[failed]?.failure);
    const [first] = answers;
    // No volume accepts the caller's key
    const isKeyWrong = answers.every(({ refusal }) => isStorageError(refusal, 'InvalidApiKey'));
    if (first !== undefined && isKeyWrong) throw first.refusal;
    throw new StorageError(
      'NoSuchBucket',
      `Bucket ${bucket} does not exist at any of the ${volumes.length} volumes, or the caller has ` +
        'no right to it.',
    );
  }

  #unsureMemory(): VolumeMemory {
    const nowMs = performance.now();
    if (nowMs >= this.#unsure.untilMs) {
      this.#unsure = { memory: programVolumeMemory(), untilMs: nowMs + unsureMs };
    }
    return this.#unsure.memory;
  }

  async #knows(canisterId: string, bucket: string): Promise<VolumeAnswer> {
    try {
      await this.at(canisterId).buckets.get(bucket);
      return { isThere: true };
    } catch (error) {
      if (isStorageError(error, 'NoSuchBucket', 'InvalidApiKey', 'Unauthorized')) {
        return { isThere: false, refusal: error };
      }
      // The volume has the bucket, but shows no record to this caller
      const isThere = isStorageError(error, 'AccessDenied');
      return isThere ? { isThere } : { isThere, failure: error };
    }
  }

  /** Decides between volumes by their signed answers: a node can falsely claim any bucket. */
  async #confirmed(bucket: string, claims: readonly string[]): Promise<string> {
    for (const canisterId of claims) {
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

/** Returns the error with the volume's id. */
export function namedError(canisterId: string, error: unknown): unknown {
  if (!isStorageError(error)) return error;
  const { code, message, status, isRetryable } = error;
  const words = `The volume ${canisterId}: ${message}`;
  const details = { ...error.details, volume: canisterId };
  return new StorageError(code, words, { status, isRetryable, details, cause: error });
}

function movedError(bucket: string, volume: string, cause: unknown): StorageError {
  const words = `Bucket ${bucket} is now at the volume ${volume}: repeat the operation.`;
  return new StorageError('ServiceUnavailable', words, { isRetryable: true, cause });
}
