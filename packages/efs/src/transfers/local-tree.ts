// All files below a local folder that match a filter.

import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderRun } from '../config/run.ts';
import { printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import type { Filter } from './filters.ts';
import { isPartName } from './safe-path.ts';

export interface LocalFile {
  readonly file: string;
  /** Path relative to the folder, with slashes. */
  readonly path: string;
  readonly size: number;
}

export interface LocalTree {
  /** Sorted by name, folder by folder. */
  readonly files: LocalFile[];
  /** Paths that are neither files nor folders: links to folders, pipes. */
  readonly skipped: string[];
}

export interface TreeReading {
  readonly run: FolderRun;
  readonly filter: Filter;
  /** Runs the work on one file; an unreadable file does not stop the others. */
  readonly attempt: (file: string, work: () => Promise<void>) => Promise<void>;
}

/** Whether the path is one of the names, or below one. */
export function isBelow(path: string, names: readonly string[]): boolean {
  return names.some((name) => path === name || path.startsWith(`${name}/`));
}

/** Follows links to files, but not to folders, because such a link may lead to a parent folder. */
export async function readTree(reading: TreeReading, folder: string): Promise<LocalTree> {
  const tree: LocalTree = { files: [], skipped: [] };
  await addFolder(reading, tree, { file: folder, path: '' });
  return tree;
}

async function addFolder(
  reading: TreeReading,
  tree: LocalTree,
  { file: folder, path: prefix }: Pick<LocalFile, 'file' | 'path'>,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const file = join(folder, entry.name);
    const path = prefix + entry.name;
    await reading.attempt(file, () => addEntry(reading, tree, { entry, file, path }));
  }
}

async function addEntry(
  reading: TreeReading,
  tree: LocalTree,
  { entry, file, path }: { readonly entry: Dirent; readonly file: string; readonly path: string },
): Promise<void> {
  const { filter, run } = reading;
  if (entry.isDirectory()) {
    if (!filter.isClosed(path)) await addFolder(reading, tree, { file, path: `${path}/` });
    return;
  }
  // A partial download is not a complete file.
  if (!filter.isWanted(path) || isPartName(entry.name)) return;
  const stats = await statsOf(entry, file);
  if (stats?.isFile()) {
    tree.files.push({ file, path, size: stats.size });
    return;
  }
  tree.skipped.push(path);
  if (!run.isQuiet) printNote(`${printable(file)} is skipped: it is not a regular file.`);
}

async function statsOf(entry: Dirent, file: string): Promise<Stats | undefined> {
  if (entry.isFile()) return stat(file);
  // The link may be broken.
  return entry.isSymbolicLink() ? stat(file).catch(() => undefined) : undefined;
}
