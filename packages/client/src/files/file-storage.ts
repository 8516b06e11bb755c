// All operations on files, over either transport. Imports nothing of Node.

import type { UploadInput } from '../bytes/upload-source.ts';
import { type Connection, perform } from '../connection/connection.ts';
import { certifiedBy } from '../downloads/certified-by.ts';
import { type Links, linksOf } from '../links/links.ts';
import { type UploadLinks, uploadLinksOf } from '../links/upload-links.ts';
import type { CallOptions } from '../types/call-options.ts';
import type {
  CopyFileOptions,
  CopyTarget,
  FileChange,
  FileName,
  FileRecord,
  MoveAllOptions,
  MovedFiles,
  MoveOptions,
  RemoveAllOptions,
  RemovedFile,
  RemoveOptions,
  StatOptions,
  SwitchedFiles,
  SwitchOptions,
} from '../types/files.ts';
import type {
  FolderOptions,
  FolderPage,
  ListOptions,
  Usage,
  UsageOptions,
} from '../types/listings.ts';
import type { ServiceStatus } from '../types/service.ts';
import type {
  Download,
  DownloadAllOptions,
  DownloadedFile,
  DownloadOptions,
  FilesToDownload,
  FileToUpload,
  UploadAllOptions,
  UploadedFile,
  UploadOptions,
  UploadSession,
} from '../types/transfers.ts';
import { requireVersionNumber } from '../types/version-number.ts';
import type { SessionRef, Uploads } from '../uploads/uploads.ts';
import { copyFile, moveAll, moveFile } from './copies.ts';
import { listFiles, listFolder } from './file-list.ts';
import { lazyTransfers } from './lazy-transfers.ts';
import { removeAll } from './remove-all.ts';
import { type RetentionGroup, retentionOf } from './retention.ts';
import { type Thumbnails, thumbnailsOf } from './thumbnails.ts';
import { type Versions, versionsOf } from './versions.ts';

/** The operations on files, which both transports support. */
export interface FileStorage {
  /**
   * Uploads a file. Resolves when it is stored with the digest of the bytes that were read.
   *
   * @example
   * ```ts
   * const file = new Blob(['hello'], { type: 'text/plain' });
   * const record = await storage.upload(file, { bucket: 'demo', path: 'notes/hello.txt' });
   * console.log(record.size, record.etag);
   * ```
   */
  upload(source: UploadInput, options: UploadOptions): Promise<FileRecord>;
  /**
   * Uploads many files and yields each result as it ends, in any order. Files of up to 100 kB share
   * requests of up to 200 files; one failure does not stop the others.
   *
   * @example
   * ```ts
   * const files = ['a', 'b'].map((text) => ({ path: `${text}.txt`, source: new Blob([text]) }));
   * for await (const { path, error } of storage.uploadAll(files, { bucket: 'demo' })) {
   *   if (error !== undefined) console.error(path, error.message);
   * }
   * ```
   */
  uploadAll(
    files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
    options: UploadAllOptions,
  ): AsyncIterable<UploadedFile>;
  /**
   * Downloads a file, a range of it, or a former version, and verifies whole files.
   *
   * @example
   * ```ts
   * const download = await storage.download({ bucket: 'demo', path: 'notes/hello.txt' });
   * console.log(await new Response(download.body).text());
   * ```
   */
  download(file: FileName, options?: DownloadOptions): Promise<Download>;
  /**
   * Downloads many files and yields each as it arrives, in any order. Files of up to 100 kB share
   * requests of up to 200 files, which one node of the network answers; one failure does not stop
   * the others. Pass records of a list, whose sizes show which files are small.
   *
   * @example
   * ```ts
   * const files = storage.list({ bucket: 'demo', prefix: 'notes/' });
   * for await (const { path, download, error } of storage.downloadAll(files, { bucket: 'demo' })) {
   *   if (download) console.log(path, (await download.bytes()).length);
   *   else console.error(path, error.message);
   * }
   * ```
   */
  downloadAll(files: FilesToDownload, options: DownloadAllOptions): AsyncIterable<DownloadedFile>;
  /**
   * Lists all files. A list by name skips and repeats no file that stays; in a list by date, files
   * that are stored or removed meanwhile can shift others.
   *
   * @example
   * ```ts
   * for await (const { path, size } of storage.list({ bucket: 'demo', prefix: 'notes/' })) {
   *   console.log(path, size);
   * }
   * ```
   */
  list(options: ListOptions): AsyncIterable<FileRecord>;
  /**
   * Lists one page below a prefix, by name; with a delimiter, folders replace the files in them.
   *
   * @example
   * ```ts
   * const { items, folders } = await storage.listFolder({ bucket: 'demo', delimiter: '/' });
   * console.log([...folders, ...items].map(({ path }) => path));
   * ```
   */
  listFolder(options: FolderOptions): Promise<FolderPage>;
  /**
   * Returns the number of files below the prefix, and their bytes.
   *
   * @example
   * ```ts
   * const { files, bytes } = await storage.usage({ bucket: 'demo', prefix: 'notes/' });
   * console.log(files, bytes);
   * ```
   */
  usage(options: UsageOptions): Promise<Usage>;
  /**
   * Returns a file's record.
   *
   * @example
   * ```ts
   * const { etag, version } = await storage.stat({ bucket: 'demo', path: 'notes/hello.txt' });
   * console.log(etag, version);
   * ```
   */
  stat(file: FileName, options?: StatOptions): Promise<FileRecord>;
  /**
   * Removes a file; with `ifMatch`, only if it has one of these entity tags.
   *
   * @example
   * ```ts
   * await storage.remove({ bucket: 'demo', path: 'notes/hello.txt' });
   * ```
   */
  remove(file: FileName, options?: RemoveOptions): Promise<void>;
  /**
   * Removes files by paths or by a prefix, and yields each result; one failure does not stop the
   * others.
   *
   * @example
   * ```ts
   * for await (const { path, error } of storage.removeAll({ bucket: 'demo', prefix: 'notes/' })) {
   *   if (error !== undefined) console.error(path, error.message);
   * }
   * ```
   */
  removeAll(options: RemoveAllOptions): AsyncIterable<RemovedFile>;
  /**
   * Copies a file. Takes constant time; type and tags are copied unless overridden.
   *
   * @example
   * ```ts
   * const from = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.copy(from, { path: 'notes/copy.txt' }, { tags: ['copied'] });
   * ```
   */
  copy(from: FileName, to: CopyTarget, options?: CopyFileOptions): Promise<FileRecord>;
  /**
   * Moves a file. Takes constant time.
   *
   * @example
   * ```ts
   * const from = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.move(from, { path: 'notes/moved.txt' });
   * ```
   */
  move(from: FileName, to: CopyTarget, options?: MoveOptions): Promise<FileRecord>;
  /**
   * Moves all files below a prefix, up to a thousand per request; replaces files at the new paths.
   *
   * @example
   * ```ts
   * const prefixes = { fromPrefix: 'notes/', toPrefix: 'archive/' };
   * const { moved, failed } = await storage.moveAll({ bucket: 'demo', ...prefixes });
   * console.log(moved, failed.length);
   * ```
   */
  moveAll(options: MoveAllOptions): Promise<MovedFiles>;
  /**
   * Moves all files below a prefix to their places and deletes others, in one message: all or
   * nothing. For example publishes a site: visitors see it as before, or as afterwards. Moves at
   * most 2,000 files, fewer with many chunks or links.
   *
   * @example
   * ```ts
   * const prefixes = { fromPrefix: 'notes/', toPrefix: '' };
   * const { moved, deleted } = await storage.switchAll({ bucket: 'demo', ...prefixes });
   * console.log(moved, deleted);
   * ```
   */
  switchAll(options: SwitchOptions): Promise<SwitchedFiles>;
  /**
   * Changes a file's type, tags, headers or metadata; its bytes and ETag are unchanged.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.change(file, { tags: ['greeting'], metadata: { author: 'Ada' } });
   * ```
   */
  change(file: FileName, change: FileChange): Promise<FileRecord>;
  /** Former versions of files. */
  readonly versions: Versions;
  /** Retention and legal holds. */
  readonly retention: RetentionGroup;
  /** Small pictures of files. */
  readonly thumbnails: Thumbnails;
  /** @deprecated Use `uploads.status`. */
  getUpload(session: SessionRef): Promise<UploadSession>;
  /** @deprecated Use `uploads.cancel`. */
  cancelUpload(session: SessionRef): Promise<void>;
  /** Upload sessions whose parts come in any order, several at a time. */
  readonly uploads: Uploads;
  /** Share links: anyone with the address can read the file, also in a private bucket. */
  readonly links: Links;
  /** Upload links: anyone with the address can add files. */
  readonly uploadLinks: UploadLinks;
  /**
   * Returns the service's version, usage and budgets.
   *
   * @example
   * ```ts
   * const { version, files } = await storage.status();
   * console.log(version, files);
   * ```
   */
  status(options?: CallOptions): Promise<ServiceStatus>;
}

export function fileStorage(connection: Connection): FileStorage {
  const { upload, uploadAll, uploads, ...transfers } = lazyTransfers(connection);
  const download = certifiedBy(connection, transfers.download);
  return {
    upload,
    uploadAll,
    download,
    downloadAll: (files, options) =>
      transfers.downloadAll(files, options, { download, open: transfers.download }),
    list: (listOptions) => listFiles(connection, listOptions),
    listFolder: (folderOptions) => listFolder(connection, folderOptions),
    usage: (usageOptions) => perform(connection, 'usage', usageOptions, usageOptions.signal),
    async stat({ bucket, path }, { version, certified, signal } = {}) {
      requireVersionNumber(version);
      const operation = certified ? 'getCertifiedFile' : 'getFile';
      return perform(connection, operation, { bucket, path, version }, signal);
    },
    remove: ({ bucket, path }, { signal, ...options } = {}) =>
      perform(connection, 'deleteFile', { ...options, bucket, path }, signal),
    removeAll: (allOptions) => removeAll(connection, allOptions),
    copy: (from, to, options = {}) => copyFile(connection, { from, to, options }),
    move: (from, to, options = {}) => moveFile(connection, { from, to, options }),
    moveAll: (moveOptions) => moveAll(connection, moveOptions),
    switchAll: ({ signal, ...order }) => perform(connection, 'switchFiles', order, signal),
    change: ({ bucket, path }, { signal, ...change }) =>
      perform(connection, 'changeFile', { ...change, bucket, path }, signal),
    versions: versionsOf(connection, download),
    retention: retentionOf(connection),
    thumbnails: thumbnailsOf(connection),
    getUpload: uploads.status,
    cancelUpload: uploads.cancel,
    uploads,
    links: linksOf(connection),
    uploadLinks: uploadLinksOf(connection),
    status: ({ signal } = {}) => perform(connection, 'status', undefined, signal),
  };
}
