// Former versions of files. Restoring or erasing a version removes it from the former ones: if the
// response is lost, the retry gets NoSuchFile although the first attempt succeeded.

import { folderPageMax } from '../../../wire/src/limits.ts';
import { type Connection, perform, trying } from '../connection/connection.ts';
import { allItems } from '../connection/pages.ts';
import type { ErasureAnswer } from '../operations/versions.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { Download, DownloadOptions } from '../types/transfers.ts';
import type {
  EraseOptions,
  FileVersion,
  RestoreOptions,
  VersionListOptions,
  VersionName,
} from '../types/versions.ts';
import { findFile } from './copies.ts';

export interface ErasedVersions {
  readonly erased: number;
  /** Versions that stay because they are held. */
  readonly held: number;
}

/** Former versions of files, which a bucket stores for `keepVersionsDays` days. */
export interface Versions {
  /**
   * Lists former versions, by path and oldest first.
   *
   * @example
   * ```ts
   * for await (const { version, retiredAt } of storage.versions.list({ bucket: 'demo' })) {
   *   console.log(version, retiredAt);
   * }
   * ```
   */
  list(options: VersionListOptions): AsyncIterable<FileVersion>;
  /**
   * Makes a former version the file again; the present file becomes a former version.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * for await (const { version } of storage.versions.list(file)) {
   *   await storage.versions.restore({ ...file, version });
   *   break;
   * }
   * ```
   */
  restore(options: RestoreOptions): Promise<FileRecord>;
  /**
   * Erases versions permanently, and returns their number and that of versions which stay because
   * they are held.
   *
   * @example
   * ```ts
   * const { erased } = await storage.versions.erase({ bucket: 'demo', path: 'notes/hello.txt' });
   * console.log(erased);
   * ```
   */
  erase(options: EraseOptions): Promise<ErasedVersions>;
  /**
   * Downloads one version, the present or a former one.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * for await (const { version } of storage.versions.list(file)) {
   *   const download = await storage.versions.download({ ...file, version });
   *   console.log((await download.bytes()).length);
   * }
   * ```
   */
  download(version: VersionName, options?: DownloadOptions): Promise<Download>;
}

type DownloadVersion = (file: FileName, options?: DownloadOptions) => Promise<Download>;

/** Returns the operations on versions; `download` reads a file, or one version of it. */
export function versionsOf(connection: Connection, download: DownloadVersion): Versions {
  return {
    list: ({ signal, ...wanted }) =>
      allItems((cursor) => {
        const request = { ...wanted, cursor, limit: folderPageMax };
        return perform(connection, 'listVersions', request, signal);
      }),
    restore: (options) => restoreVersion(connection, options),
    erase: (options) => eraseVersions(connection, options),
    download: ({ version, ...file }, options) => download(file, { ...options, version }),
  };
}

/**
 * Reads the version's record first, because a retry after a lost response compares the file with
 * it.
 */
async function restoreVersion(
  connection: Connection,
  { signal, ...restoration }: RestoreOptions,
): Promise<FileRecord> {
  const { transport } = connection;
  const { version } = restoration;
  const former = await trying(connection, signal, () =>
    findFile(connection, restoration, signal, version),
  );
  return trying(connection, signal, async () => {
    try {
      return await transport.restoreVersion(restoration, signal);
    } catch (error) {
      if (former === undefined || !isStorageError(error, 'NoSuchFile')) throw error;
      const found = await findFile(connection, restoration, signal);
      const isSame = found?.etag === former.etag && found.contentType === former.contentType;
      // A restored file has a new number.
      if (!isSame || found.version === version) throw error;
      return found;
    }
  });
}

/**
 * Erases versions and returns their number. Versions erased by a request whose response was lost
 * are not counted, except for a single version.
 */
async function eraseVersions(
  connection: Connection,
  { signal, ...erasure }: EraseOptions,
): Promise<ErasedVersions> {
  let erased = 0;
  let held = 0;
  let cursor: string | undefined;
  for (let isOver = false; !isOver; ) {
    const answer = await trying(connection, signal, async (attempt) => {
      try {
        return await connection.transport.eraseVersions({ ...erasure, cursor }, signal);
      } catch (error) {
        const isOne = erasure.version !== undefined && isStorageError(error, 'NoSuchFile');
        if (attempt === 1 || !isOne) throw error;
        const answer: ErasureAnswer = { erased: 1, isDone: true };
        return answer;
      }
    });
    erased += answer.erased;
    held += answer.held ?? 0;
    cursor = answer.nextCursor;
    isOver = cursor === undefined && answer.isDone;
  }
  return { erased, held };
}
