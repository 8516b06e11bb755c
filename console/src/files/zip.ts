// A zip of several files, built while their bytes arrive.

import { downloadZip } from 'client-zip';
import { asTheyEnd } from '../../../packages/client/src/connection/parallel.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Session } from '../session.ts';
import { nameOf } from '../words.ts';
import type { Entry } from './folder.ts';
import { isSealed, storedName } from './sealed.ts';

export function zipOf(session: Session, bucket: string, entries: readonly Entry[]): Response {
  return downloadZip(partsOf(session, bucket, entries));
}

/** Files that are opened at the same time, because the record of each takes an update. */
const openedAhead = 8;

async function* partsOf(session: Session, bucket: string, entries: readonly Entry[]) {
  const { storage, kind } = session;
  async function open({ file, name }: NamedFile) {
    const { path, updatedAt } = file;
    const isStored = kind === 'key' && isSealed(file);
    const { body, size } = await storage.download({ bucket, path }, { certified: true });
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

interface NamedFile {
  readonly file: FileRecord;
  readonly name: string;
}

/** Yields all files below the selected folders, named relative to the folder's parent. */
async function* filesOf(
  { storage, bucket }: { readonly storage: Storage; readonly bucket: string },
  entries: readonly Entry[],
): AsyncGenerator<NamedFile> {
  for (const { path, file } of entries) {
    if (file !== undefined) {
      yield { file, name: nameOf(path) };
      continue;
    }
    const parentLength = path.length - nameOf(path).length - 1;
    for await (const found of storage.list({ bucket, prefix: path })) {
      yield { file: found, name: found.path.slice(parentLength) };
    }
  }
}
