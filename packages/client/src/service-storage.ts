// The client of a service with several volumes. It finds the volume of each bucket, calls it as the
// client of one canister does, and combines what concerns all volumes.

import type { Access } from './administration/creators-and-rotation.ts';
import type { Journal } from './administration/journal.ts';
import { canisterAddress } from './connection/canister-address.ts';
import { copyBetween, moveBetween } from './service-copies.ts';
import { namedError, Places, type ServiceStorageOptions } from './service-places.ts';
import { type TopUps, topUpsOf } from './service-top-ups.ts';
import type { Storage } from './storage.ts';
import { StorageError } from './storage-error.ts';
import type { BucketRecord } from './types/buckets.ts';
import type { FolderLinks } from './types/folder-links.ts';
import type { ServiceStatus, ServiceVolume, VolumeChange } from './types/service.ts';

export interface ServiceStorage extends Storage {
  /** The canisters that store the service's buckets; changing the list requires a controller. */
  readonly volumes: Volumes;
  /** Cycles that the front sends to the volumes; requires a controller of the front. */
  readonly topUps: TopUps;
  /**
   * Returns the id of the canister that has the bucket, such as for the address of an API key.
   * Fails with NoSuchBucket if no volume has it, or the caller has no right to it.
   */
  volumeOf(bucket: string): Promise<string>;
  /**
   * Returns the client of one volume, such as for its status.
   *
   * @example
   * ```ts
   * const { stableBytes } = await service.volume(volumeId).status();
   * ```
   */
  volume(canisterId: string): Storage;
}

export interface Volumes {
  /** Lists the volumes, from a certificate of the network. */
  list(): Promise<readonly ServiceVolume[]>;
  /**
   * Adds a canister with the service's code to the front's list, and sets its front. Whoever may
   * create buckets there may then create them at the front. The caller controls both.
   *
   * @example
   * ```ts
   * await service.volumes.add(volumeId);
   * ```
   */
  add(canisterId: string): Promise<void>;
  /**
   * Closes a volume for new buckets, opens it again, or limits its size.
   *
   * @example
   * ```ts
   * await service.volumes.change(volumeId, { isClosed: true });
   * await service.volumes.change(volumeId, { isClosed: false, limitBytes: 400e9 });
   * ```
   */
  change(canisterId: string, change: VolumeChange): Promise<void>;
  /**
   * Removes a volume without buckets from the list; fails with BucketNotEmpty if it has any.
   *
   * @example
   * ```ts
   * import { isStorageError } from '@encrypted-file-storage/client';
   *
   * try {
   *   await service.volumes.remove(volumeId);
   * } catch (error) {
   *   console.log(isStorageError(error, 'BucketNotEmpty'));
   * }
   * ```
   */
  remove(canisterId: string): Promise<void>;
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
 * console.log(await service.volumeOf('albums'), await service.volumes.list());
 * ```
 */
export function createServiceStorage(options: ServiceStorageOptions): ServiceStorage {
  const places = new Places(options);
  const front = places.at(options.front);
  const routed = <Group extends object, Table extends Rows<Group>>(
    rows: Table,
    group: (storage: Storage) => Group,
  ) => routedGroup(places, rows, group);
  const buckets = routed(rows.buckets, (storage) => storage.buckets);
  return {
    ...routed(rows.files, (storage) => storage),
    copy: (from, to, copyOptions = {}) => copyBetween(places, { from, to, options: copyOptions }),
    move: (from, to, moveOptions = {}) => moveBetween(places, { from, to, options: moveOptions }),
    versions: routed(rows.versions, ({ versions }) => versions),
    retention: routed(rows.retention, ({ retention }) => retention),
    thumbnails: routed(rows.thumbnails, ({ thumbnails }) => thumbnails),
    uploads: {
      ...routed(rows.uploads, ({ uploads }) => uploads),
      longestChunkBytes: () => front.uploads.longestChunkBytes(),
    },
    links: routed(rows.links, ({ links }) => links),
    uploadLinks: routed(rows.uploadLinks, ({ uploadLinks }) => uploadLinks),
    keys: {
      ...routed(rows.keys, ({ keys }) => keys),
      create: (request) =>
        places.repeated(request.buckets, async () => {
          const volume = await places.volumeOfAll(request.buckets);
          return places.at(volume).keys.create(request);
        }),
      revoke: (id) => places.somewhere(({ keys }) => keys.revoke(id)),
    },
    folderLinks: folderLinksAt(places, options),
    rules: routed(rows.rules, (storage) => storage.rules),
    buckets: {
      ...buckets,
      async create(id, settings) {
        const record = await front.buckets.create(id, settings);
        await places.forget(id);
        return record;
      },
      async remove(id) {
        await buckets.remove(id);
        await places.forget(id);
      },
      list: () => listBuckets(places),
    },
    rotation: {
      ...routed(rows.rotation, ({ rotation }) => rotation),
      root: (source) => places.everywhere(({ rotation }) => rotation.root(source)),
    },
    journal: journalAt(routed(rows.journal, ({ journal }) => journal)),
    subscriptions: routed(rows.subscriptions, (storage) => storage.subscriptions),
    wellKnown: front.wellKnown,
    access: accessOf(places, front),
    code: front.code,
    status: () => statusOf(places),
    volumes: volumesOf(places),
    topUps: topUpsOf(options),
    volumeOf: (bucket) => places.volumeOf(bucket),
    volume: (canisterId) => places.at(canisterId),
  };
}

/** Each address begins at the front that the caller named, whatever the volume reports. */
function folderLinksAt(places: Places, { host, front }: ServiceStorageOptions): FolderLinks {
  const at = <T>(bucket: string, isOnce: boolean, call: (links: FolderLinks) => Promise<T>) =>
    places.run(bucket, isOnce, ({ folderLinks }) => call(folderLinks));
  return {
    async create(request) {
      const link = await at(request.bucket, true, (links) => links.create(request));
      const base = canisterAddress({ host, canisterId: front });
      return base === ''
        ? link
        : { ...link, url: `${base}/${link.url.slice(link.url.indexOf('#'))}` };
    },
    async refresh(url, options) {
      const { folderAddressOf } = await import('./links/folder-address.ts');
      const { bucket } = folderAddressOf(URL.canParse(url) ? new URL(url).hash : '');
      return at(bucket, false, (links) => links.refresh(url, options));
    },
    remove: (bucket, id, options) =>
      at(bucket, false, (links) => links.remove(bucket, id, options)),
  };
}

/** The front knows who may create buckets; each volume has budgets of its own. */
function accessOf(places: Places, front: Storage): Access {
  return {
    list: () => front.access.list(),
    async update({ allow, disallow, ...budgets }) {
      if (Object.values(budgets).some((budget) => budget !== undefined)) {
        await places.everywhere(async ({ access }) => void (await access.update(budgets)));
      }
      return front.access.update({ allow, disallow });
    },
  };
}

/** Each volume has a journal of its own. */
function journalAt(journal: Journal): Journal {
  return {
    ...journal,
    async verify(options = {}) {
      if (options.bucket !== undefined) return journal.verify(options);
      throw new StorageError(
        'InvalidArgument',
        'Each volume has a journal of its own: pass a bucket, or call ' +
          'volume(canisterId).journal.verify().',
      );
    },
  };
}

function volumesOf(places: Places): Volumes {
  return {
    list: () => places.volumes(),
    add: async (canisterId) => (await places.calls()).add(canisterId),
    change: async (canisterId, change) => (await places.calls()).change(canisterId, change),
    async remove(canisterId) {
      const { buckets } = await places.at(canisterId).status();
      if (buckets === 0) return (await places.calls()).remove(canisterId);
      throw new StorageError(
        'BucketNotEmpty',
        `The volume ${canisterId} has ${buckets} buckets: copy their files to buckets of other ` +
          'volumes, and delete them first.',
      );
    },
  };
}

/** The place of the bucket in a method's arguments, and how the method may be called. */
interface Row {
  /** The index of the argument that is the bucket's id or has it as `bucket`. */
  readonly argument: number;
  /** The method returns an async iterable. */
  readonly isList?: true;
  /** Its source may be readable only once, so the method is not called at another volume. */
  readonly isOnce?: true;
}

type Rows<Group> = { readonly [Name in keyof Group]?: Row };

const first = { argument: 0 } as const;
const list = { argument: 0, isList: true } as const;

const rows = {
  files: {
    upload: { argument: 1, isOnce: true },
    uploadAll: { argument: 1, isList: true, isOnce: true },
    download: first,
    downloadAll: { argument: 1, isList: true, isOnce: true },
    list,
    listFolder: first,
    usage: first,
    stat: first,
    remove: first,
    removeAll: list,
    moveAll: first,
    switchAll: first,
    change: first,
    getUpload: first,
    cancelUpload: first,
  },
  versions: { list, restore: first, erase: first, download: first },
  retention: { set: first, end: first, hold: first, release: first },
  thumbnails: { put: first, read: first },
  uploads: {
    begin: first,
    write: { argument: 0, isOnce: true },
    list: first,
    status: first,
    complete: first,
    cancel: first,
  },
  links: { create: first, list, remove: first },
  uploadLinks: { create: first, list, remove: first },
  keys: { list: first },
  rules: { list: first, set: first },
  buckets: {
    get: first,
    update: first,
    remove: first,
    rotateIdentity: first,
    recipientsDigest: first,
  },
  rotation: { bucket: first },
  journal: { list: first, entries: list, watch: list, verify: first, keep: first, redact: first },
  subscriptions: { add: first, list: first, update: first, remove: first },
} as const;

type AnyMethod = (...values: readonly unknown[]) => unknown;
type AnyGroup = Readonly<Record<string, AnyMethod>>;

/** Returns the group's methods of the table, each of which calls the volume of its bucket. */
function routedGroup<Group extends object, Table extends Rows<Group>>(
  places: Places,
  rowsOfGroup: Table,
  groupOf: (storage: Storage) => Group,
): Pick<Group, keyof Group & keyof Table> {
  const call = (storage: Storage, name: string, values: readonly unknown[]) =>
    (groupOf(storage) as unknown as AnyGroup)[name]?.(...values);
  const methods = Object.entries<Row>(rowsOfGroup as Record<string, Row>).map(([name, row]) => {
    const { argument, isList = false, isOnce = false } = row;
    const method = (...values: readonly unknown[]) =>
      places.run(bucketIn(values[argument]), isOnce, (storage) => call(storage, name, values));
    const items = (...values: readonly unknown[]) =>
      places.items(
        bucketIn(values[argument]),
        isOnce,
        (storage) => call(storage, name, values) as AsyncIterable<unknown>,
      );
    return [name, isList ? items : method];
  });
  return Object.fromEntries(methods) as Pick<Group, keyof Group & keyof Table>;
}

function bucketIn(value: unknown): string {
  return typeof value === 'string' ? value : (value as { readonly bucket: string }).bucket;
}

/** Yields the buckets of all volumes, and fails in the end if a volume did not answer. */
async function* listBuckets(places: Places): AsyncGenerator<BucketRecord> {
  const volumes = await places.volumeIds();
  const lists = await Promise.allSettled(
    volumes.map(async (canisterId) => {
      const buckets: BucketRecord[] = [];
      for await (const bucket of places.at(canisterId).buckets.list()) buckets.push(bucket);
      return buckets;
    }),
  );
  for (const list of lists) if (list.status === 'fulfilled') yield* list.value;
  const failed = lists.findIndex(({ status }) => status === 'rejected');
  const failure = lists[failed];
  if (failure?.status === 'rejected') {
    throw namedError(volumes[failed] ?? '', failure.reason);
  }
}

/** Returns the sums of all volumes. Cycles are reported only if all volumes report them. */
async function statusOf(places: Places): Promise<ServiceStatus> {
  const volumes = await places.volumeIds();
  const statuses = await Promise.all(
    volumes.map((canisterId) => {
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
  const areReported = statuses.every(({ cycles }) => cycles !== undefined);
  return {
    ...one,
    buckets: sum('buckets'),
    files: sum('files'),
    bytesStored: sum('bytesStored'),
    stableBytes: sum('stableBytes'),
    heapBytes: sum('heapBytes'),
    cycles: areReported ? statuses.reduce((total, { cycles = 0 }) => total + cycles, 0) : undefined,
    // Each canister has its own
    storageReservation: undefined,
    chargesCycles: statuses.some(({ chargesCycles }) => chargesCycles ?? true),
    encryption: {
      ...one.encryption,
      isKeyPresent: statuses.every(({ encryption }) => encryption.isKeyPresent),
      isRotating: statuses.some(({ encryption }) => encryption.isRotating),
    },
  };
}
