// The log of a multipart upload, which a restarted server reads: one file per upload, one entry per
// line. A line is on the disk before the request that it records is answered.
//
//   <uploadId>.log    one JSON text per line: first the start, then the events. A line that a crash
//                     truncated was never answered, so it is removed.

import { constants, open, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../client/src/node/replace-file.ts';
import type { Retention } from '../../../client/src/types/retention.ts';
import type { ChecksumAlgorithm } from '../body/checksum.ts';
import { ownerOnlyFile, writeAndClose } from '../durable-files.ts';
import type { Description } from '../object-headers.ts';
import { S3Error } from '../s3-error.ts';
import type { Layout } from './part-layout.ts';

const version = 1;

export interface UploadStart {
  readonly uploadId: string;
  /** The access key that began it; only this one may continue it. */
  readonly holder: string;
  readonly bucket: string;
  readonly path: string;
  readonly key: string;
  /** ISO 8601. */
  readonly begunAt: string;
  readonly description: Description;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly isOfWhole: boolean };
  /** Set as soon as the object is stored. */
  readonly lock?: Retention;
}

/** The session of the service for the parts of one length. */
export interface PartSession extends Layout {
  readonly sessionId: string;
}

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  /** Hexadecimal. */
  readonly md5: string;
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly value: string };
  /** ISO 8601. */
  readonly storedAt: string;
  /** The digests of the chunks of a part in the session. */
  readonly digests?: readonly string[];
  /** The file in the spool with any other part. */
  readonly file?: string;
}

/** The result of a completion, which a repetition returns again. */
export interface Completed {
  readonly etag: string;
  readonly checksum?: string;
  readonly versionId?: string;
}

export interface UploadState {
  readonly start: UploadStart;
  readonly session?: PartSession;
  readonly parts: ReadonlyMap<number, StoredPart>;
  /** The session into which completion uploads the whole spool. */
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
  /** The part's bytes are being replaced, so the former part is incomplete. */
  | { readonly kind: 'replacing'; readonly number: number }
  | { readonly kind: 'whole'; readonly sessionId: string }
  | { readonly kind: 'completed'; readonly completed: Completed };

export function logPath(folder: string, uploadId: string): string {
  return join(folder, `${uploadId}.log`);
}

/** Names of an upload's files begin with its id. */
export function uploadOf(name: string): string {
  return name.slice(0, name.indexOf('.'));
}

export class UploadLog {
  readonly #path: string;
  readonly #state: GrowingState;
  /** Number of bytes of complete lines. */
  #length: number;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, state: GrowingState, length: number) {
    this.#path = path;
    this.#state = state;
    this.#length = length;
  }

  /** The file must not exist yet. */
  static async create(folder: string, start: UploadStart): Promise<UploadLog> {
    const path = logPath(folder, start.uploadId);
    const line = lineOf({ version, ...start });
    await writeAndClose(await open(path, 'wx', ownerOnlyFile), line);
    await syncFolder(folder);
    return new UploadLog(path, emptyState(start), Buffer.byteLength(line));
  }

  /** Returns undefined if no such upload is recorded; throws InternalError for a damaged file. */
  static async open(folder: string, uploadId: string): Promise<UploadLog | undefined> {
    const path = logPath(folder, uploadId);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (text === undefined) return undefined;
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const length = Buffer.byteLength(whole);
    if (whole.length < text.length) await truncate(path, length);
    return new UploadLog(path, readState(whole), length);
  }

  get state(): UploadState {
    return this.#state;
  }

  /** Resolves when the entry is on the disk; from then on the state includes it. */
  append(entry: Entry): Promise<void> {
    const appended = this.#last.then(() => this.#write(entry));
    this.#last = appended.catch(() => {});
    return appended;
  }

  async #write(entry: Entry): Promise<void> {
    // Removes the rest of a failed append, such as half a line on a full disk.
    await truncate(this.#path, this.#length);
    const line = lineOf(entry);
    // Never creates a file, so that a removed upload stays removed.
    await writeAndClose(await open(this.#path, constants.O_WRONLY | constants.O_APPEND), line);
    this.#length += Buffer.byteLength(line);
    addEntry(this.#state, entry);
  }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
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

/** Rejects entries of another version instead of guessing. */
function readState(text: string): GrowingState {
  try {
    const [first, ...rest] = text.split('\n').filter((line) => line !== '');
    const { version: own, ...start } = JSON.parse(first ?? '');
    if (own !== version) throw new Error(`it is of version ${own}`);
    const state = emptyState(start);
    for (const line of rest) addEntry(state, JSON.parse(line));
    return state;
  } catch (cause) {
    const words = 'The log of this upload cannot be read: start a new upload.';
    throw new S3Error('InternalError', words, { cause });
  }
}
