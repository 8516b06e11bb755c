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
import type { ServiceVolume } from './types/service.ts';

type PlacesOptions = Omit<ActorStorageOptions, 'canisterId' | 'linkUrl'> & {
  readonly front: string;
};

/** The volumes of a service, and which of them has a bucket. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #storages = new Map<string, Storage>();
  /** The volumes of buckets that were found. */
  readonly #found = new Map<string, string>();
  /** Calls of the front about its volumes. */
  readonly calls: () => Promise<VolumeCalls>;

  constructor(options: PlacesOptions) {
    this.#options = options;
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

/** Returns the error with the volume's id. */
export function namedError(canisterId: string, error: unknown): unknown {
  if (!isStorageError(error)) return error;
  const { code, message, status, isRetryable } = error;
  const words = `The volume ${canisterId}: ${message}`;
  return new StorageError(code, words, { status, isRetryable, cause: error });
}
