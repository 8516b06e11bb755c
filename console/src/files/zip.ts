// A zip of several files, built while their bytes arrive.

import { downloadZip } from 'client-zip';
import { asTheyEnd } from '../../../packages/client/src/connection/parallel.ts';
import { forbiddenCharacters } from '../../../packages/client/src/sealed-names/segment-fault.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Session } from '../session.ts';
import type { Entry } from './folder.ts';
import { isSealed, opensSealed, storedName } from './sealed.ts';

export interface ZipSource {
  readonly session: Session;
  readonly bucket: string;
  /** The folder that names in the zip are relative to. */
  readonly prefix: string;
  /** Called for each piece of a file that enters the zip, with its length in bytes. */
  onBytes?(byteCount: number): void;
  /** Called for each file that the zip lacks. */
  onLeftOut?(reason: LeftOut): void;
}

/** Added or replaced after sharing, or of a name that could leave the folder of the zip. */
export type LeftOut = 'later' | 'name';

/**
 * Whether a program that unpacks the zip could write elsewhere, or would show another name. Windows
 * takes backslashes for slashes.
 */
function isUnsafe(name: string): boolean {
  const leavesFolder = /(?:^|[\\/])\.{1,2}(?:[\\/]|$)|^[\\/]|\/(?:\/|$)/u;
  return leavesFolder.test(name) || forbiddenCharacters.test(name);
}

export function zipOf(source: ZipSource, entries: readonly Entry[]): Response {
  return downloadZip(partsOf(source, entries));
}

/** Files that are opened at the same time, because the record of each takes an update. */
const openedAhead = 8;

async function* partsOf(
  { session, bucket, prefix, onBytes, onLeftOut }: ZipSource,
  entries: readonly Entry[],
) {
  const { storage } = session;
  const counted = () =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, output) {
        onBytes?.(piece.length);
        output.enqueue(piece);
      },
    });
  async function open(file: FileRecord) {
    const { path, updatedAt } = file;
    // A tag lists files of several folders, which can have one base name.
    const name = path.slice(prefix.length);
    const isStored = !opensSealed(session) && isSealed(file);
    const { body, size } = await storage.download({ bucket, path });
    const lastModified = new Date(updatedAt);
    const input = body.pipeThrough(counted());
    return { name: isStored ? storedName(name) : name, lastModified, size, input };
  }
  async function* tasks() {
    for await (const found of filesOf({ storage, bucket }, entries)) {
      // The list of the folder marks files that its link does not open.
      const isLater = found.afterSharing !== undefined;
      if (isLater || isUnsafe(found.path.slice(prefix.length))) {
        onLeftOut?.(isLater ? 'later' : 'name');
        continue;
      }
      yield () => open(found).catch((error) => ({ error }));
    }
  }
  for await (const part of asTheyEnd(tasks(), openedAhead)) {
    if ('error' in part) throw part.error;
    yield part;
  }
}

/** Returns the bytes of the entries' files, without the zip's own. */
export async function sizeOfEntries(
  { session: { storage, shared }, bucket }: ZipSource,
  entries: readonly Entry[],
): Promise<number> {
  let bytes = 0;
  if (shared?.address.sealed !== undefined) {
    // The usage also counts later files, and the list of file keys
    for await (const { size, afterSharing } of filesOf({ storage, bucket }, entries)) {
      if (afterSharing === undefined) bytes += size;
    }
    return bytes;
  }
  const sizes = entries.map(
    async ({ path, file }) => file?.size ?? (await storage.usage({ bucket, prefix: path })).bytes,
  );
  for (const size of await Promise.all(sizes)) bytes += size;
  return bytes;
}

/** Yields the selected files and all files below the selected folders. */
async function* filesOf(
  { storage, bucket }: { readonly storage: Storage; readonly bucket: string },
  entries: readonly Entry[],
): AsyncGenerator<FileRecord> {
  for (const { path, file } of entries) {
    if (file !== undefined) yield file;
    else yield* storage.list({ bucket, prefix: path });
  }
}
