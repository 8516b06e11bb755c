// Removes many files, up to a thousand per request.

import { deletedFileCountMax, deletionBytesMax } from '../../../wire/src/limits.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { isEarlierService } from '../connection/earlier-service.ts';
import type { Deletion, DeletionAnswer } from '../operations/files.ts';
import { isStorageError } from '../storage-error.ts';
import type { RemoveAllOptions, RemovedFile } from '../types/files.ts';
import { pathsOf } from './file-list.ts';

/** Limit for the bytes of a request besides its paths. */
const requestRestBytes = 4_096;
const utf8 = new TextEncoder();

/** Yields each result; throws if a whole request is refused, such as for lack of a right. */
export async function* removeAll(
  connection: Connection,
  options: RemoveAllOptions,
): AsyncGenerator<RemovedFile> {
  const { bucket, bypassGovernance, signal } = options;
  if ('paths' in options) {
    for await (const paths of groupsOf(options.paths)) {
      yield* removePaths(connection, { bucket, paths, bypassGovernance }, signal);
    }
    return;
  }
  const { prefix } = options;
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; ) {
    isFirst = false;
    const answer = await remove(connection, { bucket, prefix, cursor, bypassGovernance }, signal);
    cursor = answer.nextCursor;
    yield* answer.results;
  }
}

/**
 * A call deletes at least one file. If files have many chunks or links, it leaves the rest to the
 * next call.
 */
async function* removePaths(
  connection: Connection,
  { paths, ...named }: Deletion & { readonly paths: readonly string[] },
  signal: AbortSignal | undefined,
): AsyncGenerator<RemovedFile> {
  for (let left = paths; left.length > 0; ) {
    const { results } = await remove(connection, { ...named, paths: left }, signal);
    const later = results.filter(({ error }) => isStorageError(error, 'SlowDown'));
    const isStuck = later.length === left.length;
    yield* isStuck ? results : results.filter((result) => !later.includes(result));
    left = isStuck ? [] : later.map(({ path }) => path);
  }
}

/** Groups paths within the limits of one request. */
export async function* groupsOf(
  paths: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<readonly string[]> {
  let group: string[] = [];
  let bytes = 0;
  for await (const path of paths) {
    const own = utf8.encode(JSON.stringify(path)).length + 1;
    const isFull = bytes + own > deletionBytesMax - requestRestBytes;
    if (group.length === deletedFileCountMax || (isFull && group.length > 0)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(path);
    bytes += own;
  }
  if (group.length > 0) yield group;
}

/**
 * If the response to the first removal was lost, a retry finds no files, which counts as success.
 */
function remove(
  connection: Connection,
  deletion: Deletion,
  signal: AbortSignal | undefined,
): Promise<DeletionAnswer> {
  return trying(connection, signal, async (attempt) => {
    const answer = await deleteFiles(connection, deletion, signal);
    if (attempt === 1) return answer;
    const results = answer.results.map(({ path, error }) => ({
      path,
      error: isStorageError(error, 'NoSuchFile') ? undefined : error,
    }));
    return { ...answer, results };
  });
}

async function deleteFiles(
  connection: Connection,
  deletion: Deletion,
  signal: AbortSignal | undefined,
): Promise<DeletionAnswer> {
  try {
    return await connection.transport.deleteFiles(deletion, signal);
  } catch (error) {
    if (!(await isEarlierService(connection, error, signal))) throw error;
    const { bucket, prefix, paths } = deletion;
    const named = paths ?? (await pathsOf(connection, { bucket, prefix, signal }));
    const { deleteEach } = await import('../connection/earlier-operations.ts');
    return deleteEach(connection, deletion, named, signal);
  }
}
