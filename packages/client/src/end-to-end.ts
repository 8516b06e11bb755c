// The layer for end-to-end buckets: encrypts files before they are sent and decrypts downloads.
// bucket-modes.ts finds out whether a bucket is end-to-end; age/end-to-end-files.ts does the rest
// and is loaded for the first such bucket. end-to-end-operations.ts has what few pages need.

import type { PathOpener } from './administration/journal.ts';
import type { BucketKeys, Issuer } from './age/bucket-keys.ts';
import type { EndToEndFiles } from './age/end-to-end-files.ts';
import { type Connection, perform } from './connection/connection.ts';
import { onDemand } from './connection/on-demand.ts';
import { checkedConcurrency } from './connection/parallel.ts';
import type { Signal } from './connection/transport.ts';
import { certifiedBy } from './downloads/certified-by.ts';
import type { FileDownloads } from './downloads/download-all.ts';
import type { Layer, Modes } from './end-to-end-operations.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { lazyTransfers } from './files/lazy-transfers.ts';
import { versionsOf } from './files/versions.ts';
import { type NamesOf, namesOf } from './sealed-names/bucket-names.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import {
  ageType,
  type EndToEndOptions,
  type EndToEndRecord,
  type SegmentCipher,
} from './types/end-to-end.ts';
import type { LinkRequest, NewLink } from './types/links.ts';
import { requireVersionNumber } from './types/version-number.ts';
import type { PartOptions, SessionOptions, Uploads } from './uploads/uploads.ts';

export interface LayeredFiles {
  readonly files: FileStorage;
  /** Drops the cached mode of a bucket that this program may have changed. */
  forget?(bucket: string): void;
  /** Opens paths of buckets that seal names. */
  readonly openerOf?: PathOpener;
  /** For links to folders. */
  readonly sealing?: SealingParts;
}

/** The parts of the layer that links to folders use. */
export interface SealingParts {
  /** The mode for writing, undefined if the bucket is not end-to-end. */
  mode(bucket: string, signal: Signal): Promise<EndToEndRecord | undefined>;
  readonly names: NamesOf;
  keys(): Promise<BucketKeys>;
  /** With plain names, without encryption. */
  readonly files: FileStorage;
  readonly connection: Connection;
  readonly cipher?: SegmentCipher | undefined;
}

const operations = () => import('./end-to-end-operations.ts');

/** Returns a storage that encrypts and decrypts files of end-to-end buckets. */
export type EndToEndLayer = (connection: Connection, issuer?: Issuer | undefined) => LayeredFiles;

/**
 * Returns the end-to-end layer for `createStorage` and `createHttpStorage`. With the actor,
 * `createStorage` uses the layer by default; with `url`, the layer loads the agent to get a
 * bucket's recipients in a reply that the network signs. `createHttpStorage` cannot verify
 * recipients: without `pinnedRecipients`, it refuses uploads with Untrusted.
 *
 * @example
 * ```ts
 * import { createStorage, endToEnd } from '@encrypted-file-storage/client';
 *
 * const storage = createStorage({
 *   url: 'https://<canister id>.icp.net',
 *   apiKey: '<API key>',
 *   endToEnd: endToEnd({ passphrases: ['correct horse battery staple'] }),
 * });
 * await storage.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/hello.txt' });
 * ```
 */
export function endToEnd(options: EndToEndOptions = {}): EndToEndLayer {
  return (outer, issuer) => {
    const modes = lazyModes(outer, options);
    const load = onDemand(
      (): Promise<EndToEndFiles> =>
        import('./age/end-to-end-files.ts').then(({ openEndToEnd }) =>
          openEndToEnd({ files, connection, issuer, options }),
        ),
    );
    const names = namesOf({
      hasIssuer: issuer !== undefined,
      mode: (...asked) => modes.forNames(...asked),
      keys: async () => (await load()).keys,
    });
    const connection = { ...outer, transport: sealingTransport(outer.transport, names) };
    const files = fileStorage(connection);
    const transfers = lazyTransfers(connection);
    const open: FileDownloads['open'] = async (name, downloadOptions, file) => {
      // In other buckets, files of this type are returned unchanged.
      const mode = file.contentType === ageType ? await modes.ofAgeFile(name.bucket) : undefined;
      if (mode === undefined) return transfers.download(name, downloadOptions, file);
      return (await load()).download(name, { file, options: downloadOptions }, mode);
    };
    const download = certifiedBy(connection, async (name, downloadOptions = {}) => {
      const { signal, range, version } = downloadOptions;
      checkedConcurrency(downloadOptions.concurrency);
      requireVersionNumber(version);
      const { bucket, path } = name;
      const request = { bucket, path, version, wantsFirst: range === undefined };
      const file = await perform(connection, 'openFile', request, signal);
      return open(name, downloadOptions, file);
    });
    const layer = { files, modes, load };
    const encrypting: FileStorage = {
      ...files,
      async upload(source, uploadOptions) {
        const { bucket, signal } = uploadOptions;
        // Measures the line while the mode is requested.
        transfers.measureBefore(source, uploadOptions);
        const mode = await modes.of(bucket, signal);
        if (mode !== undefined) return (await load()).upload(source, uploadOptions, mode);
        return files.upload(source, uploadOptions).catch((error) => {
          // The bucket has become end-to-end since.
          if (isStorageError(error, 'NotEncrypted')) modes.forget(bucket);
          throw error;
        });
      },
      async *uploadAll(all, allOptions) {
        yield* (await operations()).uploadAll(layer, all, allOptions);
      },
      download,
      downloadAll: (all, allOptions) => transfers.downloadAll(all, allOptions, { download, open }),
      versions: versionsOf(connection, download),
      uploads: wholeOnly(files.uploads, modes),
      thumbnails: {
        put: async (...given) => (await operations()).putThumbnail(layer, ...given),
        read: async (given) => (await operations()).readThumbnails(layer, given),
      },
      links: { ...files.links, create: (request) => createLink(layer, request) },
    };
    const openerOf: PathOpener = async (bucket, signal) => {
      const { open: openPath } = await names(bucket, 'find', signal);
      return (path) => openPath(path).path;
    };
    const keys = async () => (await load()).keys;
    const sealing = { mode: modes.of, names, keys, files, connection, cipher: options.cipher };
    return { files: encrypting, forget: modes.forget, openerOf, sealing };
  };
}

async function createLink({ files, modes, load }: Layer, request: LinkRequest): Promise<NewLink> {
  const { bucket, title, signal } = request;
  const modeOf = async () => {
    const { contentType } = await files.stat(request, { signal });
    return contentType === ageType ? modes.ofAgeFile(bucket) : undefined;
  };
  // The service would store the title in plain text, and its page cannot decrypt the file
  if (title !== undefined && (await modeOf()) !== undefined) {
    const words = `Bucket ${bucket} is end-to-end: its links have no title. Omit title.`;
    throw new StorageError('InvalidArgument', words);
  }
  const link = await files.links.create(request);
  const mode = await modeOf();
  return mode === undefined ? link : (await load()).openingLink(request, link, mode);
}

/** The modes of buckets; loads their module with the first call. */
function lazyModes(connection: Connection, options: EndToEndOptions): Modes {
  const modes = onDemand(() =>
    import('./bucket-modes.ts').then(({ BucketModes }) => new BucketModes(connection, options)),
  );
  return {
    of: async (...asked) => (await modes()).of(...asked),
    ofAgeFile: async (...asked) => (await modes()).ofAgeFile(...asked),
    forNames: async (...asked) => (await modes()).forNames(...asked),
    // Later calls wait for the same module, so they find the mode forgotten.
    forget: (bucket) => void modes().then((found) => found.forget(bucket), ignore),
  };
}

/** Refuses sessions with parts in any order, because a file is encrypted from start to end. */
function wholeOnly(uploads: Uploads, modes: Modes): Uploads {
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

function ignore(): void {}
