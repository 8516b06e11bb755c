// Uploads and downloads whose code is loaded with the first one, so that pages show lists before.

import type { UploadInput } from '../bytes/upload-source.ts';
import type { Connection } from '../connection/connection.ts';
import { onDemand } from '../connection/on-demand.ts';
import type { FileDownloads } from '../downloads/download-all.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import type { FileName } from '../types/files.ts';
import type {
  DownloadAllOptions,
  DownloadedFile,
  DownloadOptions,
  FilesToDownload,
  FileToUpload,
  UploadAllOptions,
  UploadedFile,
  UploadOptions,
} from '../types/transfers.ts';
import type { Uploads } from '../uploads/uploads.ts';

const forDownload = () => import('../downloads/download.ts');
const forUpload = () => import('../uploads/upload.ts');
const forBeginning = () => import('../uploads/begin-session.ts');

export function lazyTransfers(connection: Connection) {
  return {
    /** `opened` is the file if the caller has opened it already. */
    download: async (name: FileName, options?: DownloadOptions, opened?: OpenedFile) =>
      (await forDownload()).downloadFile(connection, name, options, opened),
    async *downloadAll(
      files: FilesToDownload,
      options: DownloadAllOptions,
      downloads: FileDownloads,
    ): AsyncGenerator<DownloadedFile> {
      const { downloadAll } = await import('../downloads/download-all.ts');
      yield* downloadAll(connection, { files, options }, downloads);
    },
    upload: async (source: UploadInput, options: UploadOptions) =>
      (await forUpload()).uploadFile(connection, source, options),
    async *uploadAll(
      files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
      options: UploadAllOptions,
    ): AsyncGenerator<UploadedFile> {
      yield* (await import('../uploads/upload-all.ts')).uploadAll(connection, files, options);
    },
    uploads: lazyUploads(connection),
    /** Begins the measurement of the line that an upload waits for; a failure is ignored. */
    measureBefore(source: UploadInput, options: UploadOptions): void {
      forBeginning().then(
        ({ measureBefore }) => measureBefore(connection, source, options),
        () => {},
      );
    },
  };
}

function lazyUploads(connection: Connection): Uploads {
  const open = onDemand(async () => (await import('../uploads/uploads.ts')).uploadsOf(connection));
  return {
    longestChunkBytes: async () => (await open()).longestChunkBytes(),
    begin: async (options) => (await open()).begin(options),
    write: async (part) => (await open()).write(part),
    list: async (options) => (await open()).list(options),
    status: async (session) => (await open()).status(session),
    complete: async (completion) => (await open()).complete(completion),
    cancel: async (session) => (await open()).cancel(session),
  };
}
