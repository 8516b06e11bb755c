// State of a mirror in the user's state folder: the last mirrored entry of the source's journal and
// the upload under way. Without the file, a mirror compares both buckets again.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import type { JournalCursor } from '../transfers/journal-changes.ts';
import { stateFolder } from '../transfers/transfer-state.ts';

export interface MirrorPair {
  /** Service and bucket, as the next one. */
  readonly source: string;
  readonly target: string;
}

export interface MirrorUpload {
  readonly path: string;
  readonly etag: string;
  readonly uploadId: string;
}

export interface MirrorState {
  readonly cursor?: JournalCursor | undefined;
  readonly upload?: MirrorUpload | undefined;
  readonly processId: number;
}

function statePath({ source, target }: MirrorPair): string {
  const digest = createHash('sha256').update(`${source}\0${target}`).digest('hex');
  return join(stateFolder(), `mirror-${digest}.json`);
}

/** Returns undefined if the file does not exist or is damaged. */
export async function loadMirror(pair: MirrorPair): Promise<MirrorState | undefined> {
  try {
    const state = JSON.parse(await readFile(statePath(pair), 'utf8'));
    return isWhole(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

function isWhole({ cursor, upload, processId }: MirrorState): boolean {
  const hasCursor =
    cursor === undefined || (Number.isSafeInteger(cursor.seq) && typeof cursor.salt === 'string');
  const texts = upload === undefined ? [] : [upload.path, upload.etag, upload.uploadId];
  const hasUpload = texts.every((text) => typeof text === 'string');
  return hasCursor && hasUpload && typeof processId === 'number';
}

export async function saveMirror(
  pair: MirrorPair,
  { cursor, upload }: Omit<MirrorState, 'processId'>,
): Promise<void> {
  const state = { ...pair, cursor, upload, processId: process.pid };
  await replaceFile(statePath(pair), `${JSON.stringify(state, null, 2)}\n`);
}
