// End-to-end buckets: what is encrypted before it is sent, and opened where it is read. Here is
// what asks whether a bucket is one; all else is loaded when one is (age/end-to-end-files.ts).

import type { Issuer } from './age/bucket-keys.ts';
import type { EndToEndFiles } from './age/end-to-end-files.ts';
import { type Connection, trying } from './connection/connection.ts';
import { checkedConcurrency } from './connection/parallel.ts';
import type { Signal, ToldMode } from './connection/transport.ts';
import { downloadFile } from './downloads/download.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { namesOf } from './sealed-names/bucket-names.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { EndToEndRecord } from './types/end-to-end.ts';
import { ageType, type EndToEndOptions } from './types/end-to-end.ts';
import { requireVersionNumber } from './types/version-number.ts';
import type { PartOptions, SessionOptions, Uploads } from './uploads/uploads.ts';

/** Makes a storage in place of one that knows nothing of end-to-end buckets. */
export type EndToEndLayer = (connection: Connection, issuer?: Issuer | undefined) => FileStorage;

/** So long a bucket is taken to be what it was; one that holds files cannot change. */
const modeKnownMs = 300_000;

/** For `createHttpStorage` and `createStorage`, the latter of which has it without being told. */
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
    return {
      ...files,
      async upload(source, uploadOptions) {
        const { bucket, signal } = uploadOptions;
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
          // Of each, as the service would say it, but nothing of it is sent.
          for await (const { path } of all) yield { path, error: mode };
          return;
        }
        yield* mode === undefined
          ? files.uploadAll(all, allOptions)
          : (await load()).uploadAll(all, allOptions, mode);
      },
      async download(name, downloadOptions = {}) {
        const { signal, range, version } = downloadOptions;
        checkedConcurrency(downloadOptions.concurrency);
        requireVersionNumber(version);
        const file = await trying(connection, signal, () =>
          connection.transport.openFile(name, { wantsFirst: range === undefined, version, signal }),
        );
        // What is of this type in another bucket is given as it is.
        const mode = file.contentType === ageType ? await modes.ofReader(name.bucket) : undefined;
        if (mode === undefined) return downloadFile(connection, name, downloadOptions, file);
        return (await load()).download(name, { file, options: downloadOptions }, mode);
      },
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

/** A file is sealed from its first byte to its last. */
function wholeOnly(uploads: Uploads, modes: BucketModes): Uploads {
  const refuseIn = async ({ bucket, signal }: PartOptions | SessionOptions) => {
    if ((await modes.of(bucket, signal)) === undefined) return;
    throw new StorageError(
      'Unsupported',
      `Bucket ${bucket} is end-to-end: its files are encrypted in order, and brought whole by upload().`,
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

/** What a bucket that nobody may ask about is taken for where its files are of age's type. */
const unknownMode: EndToEndRecord = {
  usesVetKeys: false,
  sealsNames: false,
  recipients: [],
  serial: '0',
  epochs: [],
};

export function modeOf({ endToEnd }: ToldMode): EndToEndRecord | undefined {
  if (!endToEnd || 'epochs' in endToEnd) return endToEnd ?? undefined;
  const { epoch, ...mode } = endToEnd;
  return { ...mode, serial: '0', epochs: epoch ? [epoch] : [] };
}

interface KnownMode {
  readonly mode: Promise<EndToEndRecord | undefined>;
  readonly untilMs: number;
}

/** Of buckets, as the service told them some minutes ago at most. */
class BucketModes {
  readonly #connection: Connection;
  readonly #known = new Map<string, KnownMode>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Undefined of a bucket that is not end-to-end. */
  async of(bucket: string, signal?: Signal): Promise<EndToEndRecord | undefined> {
    const known = this.#known.get(bucket);
    if (known !== undefined && Date.now() < known.untilMs) return known.mode;
    const { transport } = this.#connection;
    const told = trying(this.#connection, signal, () => transport.getEndToEnd(bucket, signal));
    const forgiving = told.then(modeOf).catch((error) => {
      this.#known.delete(bucket);
      // A service of an earlier version has no such request, and no such buckets.
      if (isStorageError(error) && hasNoSuchRequest(error.code)) return undefined;
      throw error;
    });
    this.#known.set(bucket, { mode: forgiving, untilMs: Date.now() + modeKnownMs });
    return forgiving;
  }

  /** Whoever reads a public bucket may not ask for its record. */
  async ofReader(bucket: string): Promise<EndToEndRecord | undefined> {
    return this.of(bucket).catch(() => unknownMode);
  }

  /** The bucket has become end-to-end meanwhile: it is asked for again the next time. */
  forgetIfNew(bucket: string, error: unknown): unknown {
    if (isStorageError(error, 'NotEncrypted')) this.#known.delete(bucket);
    return error;
  }
}

function refusalOf(error: unknown): StorageError {
  if (isStorageError(error) && error.code !== 'Aborted') return error;
  throw error;
}

function hasNoSuchRequest(code: string): boolean {
  return code === 'NoSuchFile' || code === 'MethodNotAllowed';
}
