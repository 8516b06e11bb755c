// `efs tree`: prints a folder and everything below it as a tree.

import type { Storage } from '../../../client/src/storage.ts';
import type { Run } from '../config/run.ts';
import { folderPrefix, nameOf, parseLocation } from '../output/location.ts';
import { printJson, printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { entriesOf, isFile } from '../transfers/folder-entries.ts';

export interface TreeFlags {
  /** Depth of shown folders: 1 shows only direct children. */
  readonly level?: number;
  readonly json?: boolean;
}

/** Children by name. The name of a folder ends in a slash; the value of a file is undefined. */
type Folder = Map<string, Folder | undefined>;

interface Place {
  readonly storage: Storage;
  readonly bucket: string;
  readonly signal: AbortSignal;
}

export async function tree(run: Run, text: string, { level, json }: TreeFlags): Promise<void> {
  const location = parseLocation(text);
  const { bucket } = location;
  const prefix = folderPrefix(location);
  const place = { storage: await run.storage(), bucket, signal: run.signal };
  const root: Folder = new Map();
  if (level === undefined) await fillWhole(place, prefix, root);
  else await fill(place, { prefix, folder: root, levels: level });
  if (json) {
    printJson(jsonOf(root));
    return;
  }
  printLine(printable(nameOf({ bucket, path: prefix })));
  const counts = { folders: 0, files: 0 };
  draw(root, '', counts);
  printLine(`\n${counted(counts.folders, 'folder')}, ${counted(counts.files, 'file')}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Reads the list of all files, which needs fewer requests than one list per folder. */
async function fillWhole(
  { storage, bucket, signal }: Place,
  prefix: string,
  root: Folder,
): Promise<void> {
  for await (const { path } of storage.list({ bucket, prefix, signal })) {
    const names = path.slice(prefix.length).split('/');
    const file = names.pop() ?? '';
    const folder = names.reduce((outer, name) => {
      const inner = outer.get(`${name}/`) ?? new Map();
      outer.set(`${name}/`, inner);
      return inner;
    }, root);
    folder.set(file, undefined);
  }
}

/** Reads folder by folder, up to the requested depth. */
async function fill(
  place: Place,
  { prefix, folder, levels }: { prefix: string; folder: Folder; levels: number },
): Promise<void> {
  const { storage, bucket, signal } = place;
  for await (const entry of entriesOf(storage, { bucket, prefix, signal })) {
    const inner: Folder | undefined = isFile(entry) ? undefined : new Map();
    folder.set(entry.path.slice(prefix.length), inner);
    if (inner !== undefined && levels > 1) {
      await fill(place, { prefix: entry.path, folder: inner, levels: levels - 1 });
    }
  }
}

function draw(folder: Folder, indent: string, counts: { folders: number; files: number }): void {
  let left = folder.size;
  for (const [name, inner] of folder) {
    left -= 1;
    printLine(`${indent}${left === 0 ? '└── ' : '├── '}${printable(name)}`);
    if (inner === undefined) {
      counts.files += 1;
    } else {
      counts.folders += 1;
      draw(inner, `${indent}${left === 0 ? '    ' : '│   '}`, counts);
    }
  }
}

/** Returns names of files, and folders with their contents. */
function jsonOf(folder: Folder): object[] {
  return [...folder].map(([name, inner]) =>
    inner === undefined ? { name } : { name, entries: jsonOf(inner) },
  );
}
