// One run of the command: its configuration, its storages, and the signal of Ctrl-C.

import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import type { BucketSecrets } from '../../../client/src/bucket-secrets.ts';
import { canisterAddress } from '../../../client/src/connection/canister-address.ts';
import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { forgetMode } from './bucket-memories.ts';
import { type Configuration, serviceName } from './config.ts';
import {
  openAsStored,
  openCode,
  openLister,
  openManager,
  openSecrets,
  openServiceAdmin,
  openStorage,
} from './open-storage.ts';
import { retryNotes } from './retry-notes.ts';
import { volumeMemory } from './volume-memory.ts';

export interface Run {
  /** A storage for files. */
  readonly storage: () => Promise<Storage>;
  /** A storage that manages buckets and keys. */
  readonly manager: () => Promise<Storage>;
  /** The same, which transfers files of end-to-end buckets as they are stored. */
  readonly asStored: () => Promise<Storage>;
  /** The same for lists, which wait less for a stopped canister than writes do. */
  readonly lister: () => Promise<Storage>;
  /** A storage with the identity, if any, because owners see more fields of the status. */
  readonly serviceAdmin: () => Promise<Storage>;
  /** Secrets of end-to-end buckets for this caller; requests each bucket's mode once. */
  readonly secrets: () => Promise<BucketSecrets>;
  /** Secrets for operations of owners. */
  readonly ownSecrets: () => Promise<BucketSecrets>;
  /** Returns the storage of one canister of the service. */
  readonly canister: (canisterId: string) => Promise<Storage>;
  /** Returns the storage of the service with this front. */
  readonly serviceAt: (front: string) => Promise<ServiceStorage>;
  /** Calls by which controllers manage canisters. */
  readonly code: () => Promise<CanisterCode>;
  /** Returns the address of the buckets' volume; undefined for a service of one canister. */
  readonly addressOf: (storage: Storage, buckets: readonly string[]) => Promise<string | undefined>;
  /** Records that this run has removed the bucket, or has made it one that is not end-to-end. */
  readonly forgetMode: (bucket: string) => Promise<void>;
  readonly service: string;
  readonly canisterId: string | undefined;
  readonly front: string | undefined;
  /** The address of the agent endpoint. */
  readonly host: string | undefined;
  /** The HTTP address, if known. */
  readonly url: string | undefined;
  readonly signal: AbortSignal;
  readonly isQuiet: boolean;
}

/** The part of a run that transfers of a folder use, whose service may be another one. */
export interface FolderRun extends Pick<Run, 'service' | 'signal' | 'isQuiet'> {
  /** Undefined for a folder's link: its files are compared by their times only. */
  readonly secrets: () => Promise<BucketSecrets | undefined>;
}

export function startRun(configuration: Configuration, isQuiet: boolean): Run {
  const { url, host, transport } = configuration;
  const address = transport === 'actor' ? host : url;
  const onRetry = isQuiet ? undefined : retryNotes(`${address ?? host}`);
  const watched = { ...configuration, onRetry, volumeMemory: volumeMemory(configuration) };
  const controller = new AbortController();
  let secrets: Promise<BucketSecrets> | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Error(name));
      // A second Ctrl-C ends the process at once.
    });
  }
  return {
    storage: () => openStorage(watched),
    manager: () => openManager(watched),
    asStored: () => openAsStored(watched),
    lister: () => openLister(watched),
    serviceAdmin: () => openServiceAdmin(watched),
    secrets() {
      secrets ??= openSecrets(watched, 'files');
      return secrets;
    },
    ownSecrets: () => openSecrets(watched, 'manager'),
    canister: (canisterId) =>
      openManager({ ...watched, front: undefined, url: undefined, canisterId }),
    async serviceAt(front) {
      const place = { front, url: undefined, canisterId: front, volumeMemory: undefined };
      return (await openManager({ ...watched, ...place })) as ServiceStorage;
    },
    code: () => openCode(watched),
    async addressOf(storage, [bucket]) {
      if (!('volumeOf' in storage) || bucket === undefined || host === undefined) return undefined;
      const canisterId = await (storage as ServiceStorage).volumeOf(bucket);
      return canisterAddress({ host, canisterId });
    },
    forgetMode: (bucket) => forgetMode(configuration, bucket),
    service: serviceName(configuration),
    url: configuration.url,
    canisterId: configuration.canisterId,
    front: configuration.front,
    host,
    signal: controller.signal,
    isQuiet,
  };
}
