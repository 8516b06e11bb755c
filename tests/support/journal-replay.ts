// The files that the journal alone tells of: what a reader who only follows its entries knows.

import { encodeHex } from '../../src/lib/hex.ts';
import type { NotedChange } from './memory-stores.ts';

export interface ReplayedFile {
  readonly version: number | undefined;
  readonly digest: string;
}

/** Returns the files by bucket and path, separated by a space. */
export function replayed(changes: readonly NotedChange[]): Map<string, ReplayedFile> {
  const files = new Map<string, ReplayedFile>();
  for (const { bucket, kind, subject, version, digest } of changes) {
    const [path, former] = subject.split('\0');
    const name = `${bucket} ${path}`;
    if (kind === 'bucket.deleted') {
      for (const key of files.keys()) if (key.startsWith(`${bucket} `)) files.delete(key);
    }
    if (kind === 'file.deleted') files.delete(name);
    if (kind === 'version.erased' && files.get(name)?.version === version) files.delete(name);
    if (!['file.stored', 'file.moved', 'file.changed', 'file.restored'].includes(kind)) continue;
    if (kind === 'file.moved') files.delete(`${bucket} ${former}`);
    files.set(name, { version, digest: encodeHex(digest ?? new Uint8Array()) });
  }
  return files;
}
