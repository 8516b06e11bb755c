// Opens the paths of results and errors.

import { StorageError } from '../storage-error.ts';
import type { ShownPath } from '../types/files.ts';
import { type PathNames, plainNames } from './bucket-names.ts';

export function shown<T extends ShownPath & { readonly path: string }>(
  names: PathNames,
  record: T,
): T {
  if (names === plainNames) return record;
  const name = 'name' in record ? { name: names.open(String(record.name)).path } : {};
  return { ...record, ...name, ...names.open(record.path) };
}

export function inClear(
  names: PathNames,
  error: StorageError,
  paths: readonly string[],
): StorageError {
  const message = names.openText(error.message, paths);
  return message === error.message ? error : new StorageError(error.code, message, error);
}

export function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  if (one.path === other.path) return 0;
  return one.path < other.path ? -1 : 1;
}

export function found<T extends ShownPath & { readonly path: string }>(
  names: PathNames,
  records: readonly T[],
  prefix: string,
): readonly T[] {
  const all = names === plainNames ? records : records.map((record) => shown(names, record));
  return names.isSealing ? all.filter(({ path }) => path.startsWith(prefix)) : all;
}

export function inClearResult<
  T extends { readonly path: string; readonly error?: StorageError | undefined },
>(names: PathNames, result: T): T {
  const { error } = result;
  const clear = shown(names, result);
  return error === undefined ? clear : { ...clear, error: inClear(names, error, [clear.path]) };
}
