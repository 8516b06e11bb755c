// Former versions of files. A repeated call may find that an attempt whose answer was lost has been
// carried out: the version is no longer among the former ones then.

import { folderPageMax } from '../../../wire/src/limits.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type {
  EraseOptions,
  FileVersion,
  RestoreOptions,
  VersionListOptions,
  VersionPage,
} from '../types/versions.ts';
import { findFile } from './copies.ts';

export async function* listVersions(
  connection: Connection,
  { signal, ...wanted }: VersionListOptions,
): AsyncGenerator<FileVersion> {
  let cursor: string | undefined;
  do {
    const request = { ...wanted, cursor, limit: folderPageMax };
    const page: VersionPage = await trying(connection, signal, () =>
      connection.transport.listVersions(request, signal),
    );
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The version is looked at before, as the source of a move is. */
export async function restoreVersion(
  connection: Connection,
  { signal, ...restoration }: RestoreOptions,
): Promise<FileRecord> {
  const { transport } = connection;
  const former = await findVersion(connection, { signal, ...restoration });
  return trying(connection, signal, async () => {
    try {
      return await transport.restoreVersion(restoration, signal);
    } catch (error) {
      if (former === undefined || !isStorageError(error, 'NoSuchFile')) throw error;
      const found = await findFile(connection, restoration, signal);
      const isRestored = found?.etag === former.etag && found.contentType === former.contentType;
      if (!isRestored) throw error;
      return found;
    }
  });
}

/** Undefined where there is none: the service says so better. */
async function findVersion(
  connection: Connection,
  { bucket, path, version, signal }: RestoreOptions,
): Promise<FileVersion | undefined> {
  for await (const former of listVersions(connection, { bucket, path, signal })) {
    if (former.version === version) return former;
  }
  return undefined;
}

/** How many; those of a lost answer are not counted, but for one version. */
export async function eraseVersions(
  connection: Connection,
  { signal, ...erasure }: EraseOptions,
): Promise<{ readonly erased: number }> {
  let erased = 0;
  for (let isDone = false; !isDone; ) {
    const answer = await trying(connection, signal, async (attempt) => {
      try {
        return await connection.transport.eraseVersions(erasure, signal);
      } catch (error) {
        const isOne = erasure.version !== undefined && isStorageError(error, 'NoSuchFile');
        if (attempt === 1 || !isOne) throw error;
        return { erased: 1, isDone: true };
      }
    });
    erased += answer.erased;
    isDone = answer.isDone;
  }
  return { erased };
}
