// A zip of several files, built while their bytes arrive.

import { downloadZip } from 'client-zip';
import { asTheyEnd } from '../../../packages/client/src/connection/parallel.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Session } from '../session.ts';
import type { Entry } from './folder.ts';
import { isSealed, storedName } from './sealed.ts';

export interface ZipSource {
  readonly session: Session;
  readonly bucket: string;
  /** The folder that names in the zip are relative to. */
  readonly prefix: string;
}

export function zipOf(source: ZipSource, entries: readonly Entry[]): Response {
  return downloadZip(partsOf(source, entries));
}

/** Files that are opened at the same time, because the record of each takes an update. */
const openedAhead = 8;

async function* partsOf({ session, bucket, prefix }: ZipSource, entries: readonly Entry[]) {
  const { storage, kind } = session;
  async function open(file: FileRecord) {
    const { path, updatedAt } = file;
    // A tag lists files of several folders, which can have one base name.
    const name = path.slice(prefix.length);
    const isStored = kind === 'key' && isSealed(file);
    const { body, size } = await storage.download({ bucket, path });
    const lastModified = new Date(updatedAt);
    return { name: isStored ? storedName(name) : name, lastModified, size, input: body };
  }
  async function* tasks() {
    for await (const found of filesOf({ storage, bucket }, entries)) {
      yield () => open(found).catch((error) => ({ error }));
    }
  }
  for await (const part of asTheyEnd(tasks(), openedAhead)) {
    if ('error' in part) throw part.error;
    yield part;
  }
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
