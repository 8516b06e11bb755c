// The state folder: the marker file that identifies it, its creation and removal.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderMode, temporarySuffix, writeFileDurably } from './durable-file.ts';
import { lockFileName, lockFolder } from './folder-lock.ts';

const markerFileName = 'replica-state';
const markerOf = (format: number) =>
  `Internet Computer local replica, state folder, format ${format}\n`;
const marker = markerOf(2);

/** `former`: the layout without page checksums and heaps, which is converted. */
export type FolderFormat = 'former' | 'current';

/** Creates or checks the state folder; throws instead of writing among other files. */
export function prepareStateFolder(directory: string): FolderFormat {
  mkdirSync(directory, { recursive: true, mode: folderMode });
  if (existsSync(join(directory, markerFileName))) return readMarker(directory);
  const foreign = readdirSync(directory).filter((name) => !name.endsWith(temporarySuffix));
  if (foreign.length > 0) {
    throw new Error(
      `${directory} is not a replica's state folder and not empty (it holds ${foreign[0]}); ` +
        'name another folder with --state',
    );
  }
  writeMarker(directory);
  return 'current';
}

export function writeMarker(directory: string): void {
  writeFileDurably(join(directory, markerFileName), [Buffer.from(marker)]);
}

/** Deletes a replica's state with its secrets; throws for another folder and for one in use. */
export function removeState(directory: string): void {
  if (!existsSync(directory)) return;
  if (!existsSync(join(directory, markerFileName))) {
    if (readdirSync(directory).length === 0) return;
    throw new Error(`${directory} is not a replica's state folder: nothing was deleted`);
  }
  const unlock = lockFolder(directory);
  try {
    // The marker is deleted last, so that an interrupted removal can be repeated.
    for (const name of readdirSync(directory)) {
      if (name === markerFileName || name === lockFileName) continue;
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    rmSync(directory, { recursive: true, force: true });
  } finally {
    unlock();
  }
}

function readMarker(directory: string): FolderFormat {
  const found = readFileSync(join(directory, markerFileName), 'utf8');
  if (found === marker) return 'current';
  if (found === markerOf(1)) return 'former';
  throw new Error(
    `${directory} holds a replica's state of another format (${JSON.stringify(found.trim())}); ` +
      'use the version that wrote it, or start over with --clean',
  );
}
