// What a client does with files, by whichever way of transport. Imports nothing of Node.

import type { UploadInput } from '../bytes/upload-source.ts';
import type { Connection } from '../connection/connection.ts';
import { trying } from '../connection/connection.ts';
import { downloadFile } from '../downloads/download.ts';
import { type Links, linksOf } from '../links/links.ts';
import { isStorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type {
  CopyFileOptions,
  CopyOptions,
  CopyTarget,
  FileChange,
  FileName,
  FileRecord,
  MoveAllOptions,
  MovedFiles,
  RemoveAllOptions,
  RemovedFile,
  RemoveOptions,
  StatOptions,
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
  DownloadOptions,
  FileToUpload,
  UploadAllOptions,
  UploadedFile,
  UploadListOptions,
  UploadOptions,
  UploadSession,
} from '../types/transfers.ts';
import { requireVersionNumber } from '../types/version-number.ts';
import type {
  EraseOptions,
  FileVersion,
  RestoreOptions,
  VersionListOptions,
} from '../types/versions.ts';
import { uploadFile } from '../uploads/upload.ts';
import { uploadAll } from '../uploads/upload-all.ts';
import { type SessionRef, type Uploads, uploadsOf } from '../uploads/uploads.ts';
import { copyFile, moveAll, moveFile } from './copies.ts';
import { listFiles, listFolder } from './file-list.ts';
import { removeAll } from './remove-all.ts';
import { eraseVersions, listVersions, restoreVersion } from './versions.ts';

/** Files and what belongs to them: what both ways of transport can do. */
export interface FileStorage {
  /** Resolves when the file is stored and its digest is that of what was read. */
  upload(source: UploadInput, options: UploadOptions): Promise<FileRecord>;
  /** Small files go together, all or none of a request. Each is told of when it has ended. */
  uploadAll(
    files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
    options: UploadAllOptions,
  ): AsyncIterable<UploadedFile>;
  download(file: FileName, options?: DownloadOptions): Promise<Download>;
  /**
   * All files, page by page. By name nothing that stays is skipped or comes twice; by date what is
   * stored or removed meanwhile may shift others.
   */
  list(options: ListOptions): AsyncIterable<FileRecord>;
  /** One page of what is directly below a prefix, by name: files, and with a delimiter folders. */
  listFolder(options: FolderOptions): Promise<FolderPage>;
  /** How many files begin with the prefix, and their bytes. */
  usage(options: UsageOptions): Promise<Usage>;
  stat(file: FileName, options?: StatOptions): Promise<FileRecord>;
  /** With `ifMatch` only while the file has one of these entity tags. */
  remove(file: FileName, options?: RemoveOptions): Promise<void>;
  /** By paths or by a prefix; one that cannot be removed keeps none of the others. */
  removeAll(options: RemoveAllOptions): AsyncIterable<RemovedFile>;
  /** In no longer time for a large file; what is not said of its type and tags comes along. */
  copy(from: FileName, to: CopyTarget, options?: CopyFileOptions): Promise<FileRecord>;
  move(from: FileName, to: CopyTarget, options?: CopyOptions): Promise<FileRecord>;
  /** All files of a prefix, a thousand a request, in place of what is at their new paths. */
  moveAll(options: MoveAllOptions): Promise<MovedFiles>;
  /** Of what is noted with a file and served with it; its bytes and their entity tag stay. */
  change(file: FileName, change: FileChange): Promise<FileRecord>;
  /** Former ones: by path, the oldest first. */
  listVersions(options: VersionListOptions): AsyncIterable<FileVersion>;
  /** The version is the file again; what was there becomes a former one. */
  restore(options: RestoreOptions): Promise<FileRecord>;
  eraseVersions(options: EraseOptions): Promise<{ readonly erased: number }>;
  getUpload(session: SessionRef): Promise<UploadSession>;
  cancelUpload(session: SessionRef): Promise<void>;
  /** The open ones of a bucket, oldest first: for its owners, or by a key with every permission. */
  listUploads(options: UploadListOptions): Promise<readonly UploadSession[]>;
  /** For who brings a file's parts one by one, in any order, several at a time. */
  readonly uploads: Uploads;
  /** Addresses by which whoever has one reads a file, of a private bucket too. */
  readonly links: Links;
  status(options?: CallOptions): Promise<ServiceStatus>;
}

export function fileStorage(connection: Connection): FileStorage {
  const { transport } = connection;
  const uploads = uploadsOf(connection);
  return {
    upload: (source, uploadOptions) => uploadFile(connection, source, uploadOptions),
    uploadAll: (files, allOptions) => uploadAll(connection, files, allOptions),
    download: (file, downloadOptions) => downloadFile(connection, file, downloadOptions),
    list: (listOptions) => listFiles(connection, listOptions),
    listFolder: (folderOptions) => listFolder(connection, folderOptions),
    usage: (usageOptions) =>
      trying(connection, usageOptions.signal, () => transport.usage(usageOptions)),
    async stat(file, { version, signal } = {}) {
      requireVersionNumber(version);
      return trying(connection, signal, () => transport.getFile(file, signal, version));
    },
    remove: (file, removeOptions = {}) => removeFile(connection, file, removeOptions),
    removeAll: (allOptions) => removeAll(connection, allOptions),
    copy: (from, to, options = {}) => copyFile(connection, { from, to, options }),
    move: (from, to, options = {}) => moveFile(connection, { from, to, options }),
    moveAll: (moveOptions) => moveAll(connection, moveOptions),
    change: (file, change) =>
      trying(connection, change.signal, () => transport.changeFile(file, change)),
    listVersions: (versionOptions) => listVersions(connection, versionOptions),
    restore: (restoreOptions) => restoreVersion(connection, restoreOptions),
    eraseVersions: (eraseOptions) => eraseVersions(connection, eraseOptions),
    getUpload: uploads.status,
    cancelUpload: uploads.cancel,
    listUploads: ({ bucket, signal }) =>
      trying(connection, signal, () => transport.listUploads(bucket, signal)),
    uploads,
    links: linksOf(connection),
    status: ({ signal } = {}) => trying(connection, signal, () => transport.status(signal)),
  };
}

/** A repeated removal finds nothing more where the answer to the first was lost. */
async function removeFile(
  connection: Connection,
  file: FileName,
  { ifMatch, signal }: RemoveOptions,
): Promise<void> {
  await trying(connection, signal, async (attempt) => {
    try {
      await connection.transport.deleteFile(file, signal, ifMatch);
    } catch (error) {
      if (attempt === 1 || !isStorageError(error, 'NoSuchFile')) throw error;
    }
  });
}
