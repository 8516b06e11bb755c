// The layer for end-to-end buckets: encrypts files before they are sent and decrypts downloads.
// This file asks whether a bucket is end-to-end; age/end-to-end-files.ts does the rest and is
// loaded for the first such bucket.

import type { Issuer } from './age/bucket-keys.ts';
import type { EndToEndFiles } from './age/end-to-end-files.ts';
import { type Connection, perform } from './connection/connection.ts';
import { checkedConcurrency } from './connection/parallel.ts';
import type { Signal } from './connection/transport.ts';
import { downloadFile } from './downloads/download.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { versionsOf } from './files/versions.ts';
import type { BucketMode } from './operations/service.ts';
import { namesOf } from './sealed-names/bucket-names.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { EndToEndRecord } from './types/end-to-end.ts';
import { ageType, type EndToEndOptions } from './types/end-to-end.ts';
import { requireVersionNumber } from './types/version-number.ts';
import { measureBefore } from './uploads/upload.ts';
import type { PartOptions, SessionOptions, Uploads } from './uploads/uploads.ts';

/** Returns a storage that encrypts and decrypts files of end-to-end buckets. */
export type EndToEndLayer = (connection: Connection, issuer?: Issuer | undefined) => FileStorage;

/** Cache time of a bucket's mode; the mode of a bucket that has files cannot change. */
const modeKnownMs = 300_000;

/**
 * Returns the end-to-end layer for `createHttpStorage` and `createStorage`. With the actor,
 * `createStorage` has one by default.
 *
 * @example
 * ```ts
 * import { createHttpStorage, endToEnd } from '@encrypted-file-storage/client';
 *
 * const storage = createHttpStorage({
 *   url: 'https://<canister id>.icp.net',
 *   apiKey: '<API key>',
 *   endToEnd: endToEnd({ passphrases: ['correct horse battery staple'] }),
 * });
 * await storage.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/hello.txt' });
 * ```
 */
export function endToEnd(options: EndToEndOptions = {}): EndToEndLayer {
  return (outer, issuer) => {
    const modes = new BucketModes(outer);
    let loaded: Promise<EndToEndFiles> | undefined;
    const load = () => {
      loaded ??= import('./age/end-to-end-files.ts').then(({ openEndToEnd }) =>
        openEndToEnd({ files, connection, issuer, options }),
      );
      return loaded;
    };
    const names = namesOf({
      hasIssuer: issuer !== undefined,
      mode: (bucket, signal) => modes.of(bucket, signal),
      keys: async () => (await load()).keys,
    });
    const connection = { ...outer, transport: sealingTransport(outer.transport, names) };
    const files = fileStorage(connection);
    const download: FileStorage['download'] = async (name, downloadOptions = {}) => {
      const { signal, range, version } = downloadOptions;
      checkedConcurrency(downloadOptions.concurrency);
      requireVersionNumber(version);
      const { bucket, path } = name;
      const request = { bucket, path, version, wantsFirst: range === undefined };
      const file = await perform(connection, 'openFile', request, signal);
      // In other buckets, files of this type are returned unchanged.
      const mode = file.contentType === ageType ? await modes.ofReader(name.bucket) : undefined;
      if (mode === undefined) return downloadFile(connection, name, downloadOptions, file);
      return (await load()).download(name, { file, options: downloadOptions }, mode);
    };
    return {
      ...files,
      async upload(source, uploadOptions) {
        const { bucket, signal } = uploadOptions;
        // The upload begins with both answers.
        measureBefore(connection, source, uploadOptions);
        const mode = await modes.of(bucket, signal);
        if (mode !== undefined) return (await load()).upload(source, uploadOptions, mode);
        return files.upload(source, uploadOptions).catch((error) => {
          throw modes.forgetIfNew(bucket, error);
        });
      },
      async *uploadAll(all, allOptions) {
        const { bucket, signal } = allOptions;
        const mode = await modes.of(bucket, signal).catch(refusalOf);
        if (isStorageError(mode)) {
          // Reports the refusal for each file, as the service would, but sends none of them.
          for await (const { path } of all) yield { path, error: mode };
          return;
        }
        yield* mode === undefined
          ? files.uploadAll(all, allOptions)
          : (await load()).uploadAll(all, allOptions, mode);
      },
      download,
      versions: versionsOf(connection, download),
      uploads: wholeOnly(files.uploads, modes),
      links: {
        ...files.links,
        async create(request) {
          const link = await files.links.create(request);
          const { contentType } = await files.stat(request, { signal: request.signal });
          const mode = contentType === ageType ? await modes.ofReader(request.bucket) : undefined;
          return mode === undefined ? link : (await load()).openingLink(request, link, mode);
        },
      },
    };
  };
}

/**
 * Refuses sessions whose parts come in any order: a file is encrypted from its first byte to its
 * last.
 */
function wholeOnly(uploads: Uploads, modes: BucketModes): Uploads {
  const refuseIn = async ({ bucket, signal }: PartOptions | SessionOptions) => {
    if ((await modes.of(bucket, signal)) === undefined) return;
    throw new StorageError(
      'Unsupported',
      `Bucket ${bucket} is end-to-end encrypted, so its files cannot be uploaded in parts; use upload().`,
    );
  };
  return {
    ...uploads,
    async begin(options) {
      await refuseIn(options);
      return uploads.begin(options);
    },
    async write(part) {
      await refuseIn(part);
      return uploads.write(part);
    },
  };
}

/** The mode assumed for files of age's type when the caller may not ask for the bucket's mode. */
const unknownMode: EndToEndRecord = {
  usesVetKeys: false,
  sealsNames: false,
  recipients: [],
  serial: '0',
  epochs: [],
};

export function modeOf({ endToEnd }: BucketMode): EndToEndRecord | undefined {
  if (!endToEnd || 'epochs' in endToEnd) return endToEnd ?? undefined;
  const { epoch, ...mode } = endToEnd;
  return { ...mode, serial: '0', epochs: epoch ? [epoch] : [] };
}

interface KnownMode {
  readonly mode: Promise<EndToEndRecord | undefined>;
  readonly untilMs: number;
}

/** Caches the mode of each bucket for some minutes. */
class BucketModes {
  readonly #connection: Connection;
  readonly #known = new Map<string, KnownMode>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns undefined if the bucket is not end-to-end. */
  async of(bucket: string, signal?: Signal): Promise<EndToEndRecord | undefined> {
    const known = this.#known.get(bucket);
    if (known !== undefined && Date.now() < known.untilMs) return known.mode;
    const told = perform(this.#connection, 'getEndToEnd', bucket, signal);
    const forgiving = told.then(modeOf).catch((error) => {
      this.#known.delete(bucket);
      // Services of version 0.1.0 have neither this request nor end-to-end buckets.
      if (isStorageError(error, 'Unsupported')) return undefined;
      throw error;
    });
    this.#known.set(bucket, { mode: forgiving, untilMs: Date.now() + modeKnownMs });
    return forgiving;
  }

  /** Readers of a public bucket may have no right to ask for its record. */
  async ofReader(bucket: string): Promise<EndToEndRecord | undefined> {
    return this.of(bucket).catch(() => unknownMode);
  }

  /** Drops the cached mode if the bucket has become end-to-end since, and returns the error. */
  forgetIfNew(bucket: string, error: unknown): unknown {
    if (isStorageError(error, 'NotEncrypted')) this.#known.delete(bucket);
    return error;
  }
}

function refusalOf(error: unknown): StorageError {
  if (isStorageError(error) && error.code !== 'Aborted') return error;
  throw error;
}
