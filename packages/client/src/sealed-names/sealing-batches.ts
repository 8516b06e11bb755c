// Batches in buckets that seal names: a path that cannot be sealed does not stop the others.

import { groupsOf } from '../files/remove-all.ts';
import type { Deletion, DeletionAnswer, FileSwitch } from '../operations/files.ts';
import type { ArgumentOf, BatchName, ResultOf } from '../operations/operation.ts';
import type { Operations } from '../operations/table.ts';
import type { BatchedFile, FileBatch, FilesRequest, WholeFile } from '../operations/transfers.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { FileRecord, RemovedFile } from '../types/files.ts';

import type { PathNames } from './bucket-names.ts';
import { inClear, inClearResult, shown } from './shown-paths.ts';

const missingResult = new StorageError('HttpError', 'The response lacks a part of the result.');

/**
 * Functions that seal batches. They return undefined if the argument is not a batch; its row then
 * says how it is sealed.
 */
export const batches: {
  readonly [Name in BatchName<Operations>]: (
    names: PathNames,
    argument: ArgumentOf<Operations[Name]>,
    send: (argument: ArgumentOf<Operations[Name]>) => Promise<ResultOf<Operations[Name]>>,
  ) => Promise<ResultOf<Operations[Name]>> | undefined;
} = {
  putFiles,
  readFiles,
  deleteFiles: (names, { paths, ...others }, send) =>
    paths && deletePaths(names, { ...others, paths }, send),
  switchFiles: refuseDeletes,
};

function refuseDeletes(names: PathNames, { bucket, deletes }: FileSwitch): undefined {
  if (!names.isSealing || deletes === undefined) return undefined;
  throw new StorageError(
    'InvalidArgument',
    `Bucket ${bucket} seals names, and switchAll deletes no files there: omit \`deletes\`, and use removeAll.`,
  );
}

async function putFiles(
  names: PathNames,
  { bucket, files }: FileBatch,
  send: (batch: FileBatch) => Promise<readonly (FileRecord | StorageError)[]>,
): Promise<readonly (FileRecord | StorageError)[]> {
  const paths = files.map(({ path }) => path);
  const sealed = eachSealed(names, paths);
  const asked = files.flatMap((file, index): BatchedFile[] => {
    const path = sealed[index];
    return typeof path === 'string' ? [{ ...file, path }] : [];
  });
  const results = asked.length === 0 ? [] : await send({ bucket, files: asked });
  let next = 0;
  return sealed.map((path, index) => {
    if (typeof path !== 'string') return path;
    const result = results[next++] ?? missingResult;
    return isStorageError(result)
      ? inClear(names, result, paths.slice(index, index + 1))
      : shown(names, result);
  });
}

/** The service reads the files of the first paths, as many as fit; each result is in its order. */
async function readFiles(
  names: PathNames,
  { paths, ...others }: FilesRequest,
  send: (request: FilesRequest) => Promise<readonly (WholeFile | StorageError)[]>,
): Promise<readonly (WholeFile | StorageError)[]> {
  const sealed = eachSealed(names, paths);
  const asked = sealed.filter((path) => typeof path === 'string');
  const answered = asked.length === 0 ? [] : await send({ ...others, paths: asked });
  const results: (WholeFile | StorageError)[] = [];
  let next = 0;
  for (const [index, path] of sealed.entries()) {
    const result = typeof path === 'string' ? answered[next++] : path;
    if (result === undefined) break;
    const isRefused = isStorageError(result) && typeof path === 'string';
    results.push(isRefused ? inClear(names, result, paths.slice(index, index + 1)) : result);
  }
  return results;
}

/** Sealed paths are longer, so they are divided into batches again. */
async function deletePaths(
  names: PathNames,
  { paths, ...others }: Deletion & { readonly paths: readonly string[] },
  send: (deletion: Deletion) => Promise<DeletionAnswer>,
): Promise<DeletionAnswer> {
  const results: RemovedFile[] = [];
  const sealed: string[] = [];
  for (const [index, path] of eachSealed(names, paths).entries()) {
    if (typeof path === 'string') sealed.push(path);
    else results.push({ path: paths[index] ?? '', error: path });
  }
  for await (const group of groupsOf(sealed)) {
    const answer = await send({ ...others, paths: group });
    results.push(...answer.results.map((result) => inClearResult(names, result)));
  }
  return { results, nextCursor: undefined };
}

/** Seals each path; an error takes the place of a path that cannot be sealed. */
function eachSealed(
  names: PathNames,
  paths: readonly string[],
): readonly (string | StorageError)[] {
  return paths.map((path) => {
    try {
      return names.seal(path);
    } catch (error) {
      if (isStorageError(error)) return error;
      throw error;
    }
  });
}
