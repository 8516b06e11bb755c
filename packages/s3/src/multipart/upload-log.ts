// What the door must know of an upload in parts when it starts anew: a file of lines for each, one
// added and on the disk before what it tells of is answered.
//
//   <uploadId>.log    JSON, a line each: the start first, then what has come to it. A line that was
//                     cut by a crash was never answered: it is taken away.

import { constants, type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChecksumAlgorithm } from '../body/checksum.ts';
import type { Description } from '../object-headers.ts';
import { S3Error } from '../s3-error.ts';
import type { Layout } from './part-layout.ts';

const version = 1;
const ownerOnlyFile = 0o600;

export interface UploadStart {
  readonly uploadId: string;
  /** The access key that began it: no other may go on with it. */
  readonly holder: string;
  readonly bucket: string;
  readonly path: string;
  readonly key: string;
  /** ISO 8601. */
  readonly begunAt: string;
  readonly description: Description;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly isOfWhole: boolean };
}

/** The session of the service that takes the parts of one length. */
export interface PartSession extends Layout {
  readonly sessionId: string;
}

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  /** In hexadecimal digits. */
  readonly md5: string;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly value: string };
  /** ISO 8601. */
  readonly storedAt: string;
  /** Of a part in the session: those of its chunks. */
  readonly digests?: readonly string[];
  /** Of any other: the file of the spool that has it. */
  readonly file?: string;
}

/** What a completion has answered, and does again. */
export interface Completed {
  readonly etag: string;
  readonly checksum?: string;
}

export interface UploadState {
  readonly start: UploadStart;
  readonly session?: PartSession;
  readonly parts: ReadonlyMap<number, StoredPart>;
  /** The session that the whole spool goes into at completion. */
  readonly wholeSession?: string;
  readonly completed?: Completed;
}

interface GrowingState extends UploadState {
  session?: PartSession;
  readonly parts: Map<number, StoredPart>;
  wholeSession?: string;
  completed?: Completed;
}

type Entry =
  | { readonly kind: 'session'; readonly session: PartSession }
  | { readonly kind: 'part'; readonly part: StoredPart }
  /** The part's bytes are being replaced: what was there is not whole any more. */
  | { readonly kind: 'replacing'; readonly number: number }
  | { readonly kind: 'whole'; readonly sessionId: string }
  | { readonly kind: 'completed'; readonly completed: Completed };

export function logPath(folder: string, uploadId: string): string {
  return join(folder, `${uploadId}.log`);
}

export class UploadLog {
  readonly #path: string;
  readonly #state: GrowingState;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, state: GrowingState) {
    this.#path = path;
    this.#state = state;
  }

  /** The file must not be there yet. */
  static async create(folder: string, start: UploadStart): Promise<UploadLog> {
    const path = logPath(folder, start.uploadId);
    const handle = await open(path, 'wx', ownerOnlyFile);
    await writeLine(handle, { version, ...start });
    await syncFolder(folder);
    return new UploadLog(path, emptyState(start));
  }

  /** Undefined where there is none. Throws InternalError for a file that cannot be read. */
  static async open(folder: string, uploadId: string): Promise<UploadLog | undefined> {
    const path = logPath(folder, uploadId);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (text === undefined) return undefined;
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
    return new UploadLog(path, readState(whole, path));
  }

  get state(): UploadState {
    return this.#state;
  }

  /** Resolves when it is on the disk; from then on the state has it. */
  append(entry: Entry): Promise<void> {
    const appended = this.#last.then(async () => {
      // An upload that is gone stays so: nothing makes the file anew.
      const handle = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
      await writeLine(handle, entry);
      addEntry(this.#state, entry);
    });
    this.#last = appended.catch(() => {});
    return appended;
  }
}

function emptyState(start: UploadStart): GrowingState {
  return { start, parts: new Map() };
}

function addEntry(state: GrowingState, entry: Entry): void {
  switch (entry.kind) {
    case 'session':
      state.session = entry.session;
      return;
    case 'part':
      state.parts.set(entry.part.number, entry.part);
      return;
    case 'replacing':
      state.parts.delete(entry.number);
      return;
    case 'whole':
      state.wholeSession = entry.sessionId;
      return;
    case 'completed':
      state.completed = entry.completed;
  }
}

/** Every line was written by this door; one of another version is not guessed at. */
function readState(text: string, path: string): GrowingState {
  try {
    const [first, ...rest] = text.split('\n').filter((line) => line !== '');
    const { version: own, ...start } = JSON.parse(first ?? '');
    if (own !== version) throw new Error(`it is of version ${own}`);
    const state = emptyState(start);
    for (const line of rest) addEntry(state, JSON.parse(line));
    return state;
  } catch (cause) {
    throw new S3Error('InternalError', `${path} cannot be read: begin the upload anew.`, { cause });
  }
}

async function writeLine(handle: FileHandle, value: object): Promise<void> {
  try {
    await handle.writeFile(`${JSON.stringify(value)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** So that a name outlives the machine too; what has no such call has it anyway. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
