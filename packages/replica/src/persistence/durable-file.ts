// Files whose content is complete or absent, even after a power cut, and complete reads and writes
// at a position. Only their owner can read them, because they contain secrets.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { dirname } from 'node:path';

export const folderMode = 0o700;
export const fileMode = 0o600;
export const temporarySuffix = '.tmp';
const bytesPerCallMax = 2 ** 28;

/** Replaces the file at `path` atomically. */
export function writeFileDurably(path: string, parts: readonly Uint8Array[]): void {
  const temporary = `${path}${temporarySuffix}`;
  const file = openSync(temporary, 'w', fileMode);
  try {
    let position = 0;
    for (const part of parts) {
      writeFully(file, { source: part, position });
      position += part.length;
    }
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}

/** Makes the names in a folder durable. */
export function syncDirectory(path: string): void {
  // Node cannot flush a folder on Windows, whose file systems journal names themselves.
  if (process.platform === 'win32') return;
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function writeFully(
  file: number,
  what: { readonly source: Uint8Array; readonly position: number },
): void {
  const { source, position } = what;
  let done = 0;
  while (done < source.length) {
    const length = Math.min(source.length - done, bytesPerCallMax);
    done += writeSync(file, source, done, length, position + done);
  }
}

/** Writes the parts one after another; `length`: their total. */
export function writePartsFully(
  file: number,
  what: {
    readonly parts: readonly Uint8Array[];
    readonly length: number;
    readonly position: number;
  },
): void {
  const { parts, length, position } = what;
  const done = writevSync(file, parts, position);
  if (done === length) return;
  writeFully(file, { source: Buffer.concat(parts).subarray(done), position: position + done });
}

/**
 * Fills `target` from `position` on; returns the number of bytes read, fewer at the end of the
 * file.
 */
export function readFully(
  file: number,
  what: { readonly target: Uint8Array; readonly position: number },
): number {
  const { target, position } = what;
  let done = 0;
  while (done < target.length) {
    const length = Math.min(target.length - done, bytesPerCallMax);
    const count = readSync(file, target, done, length, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}
