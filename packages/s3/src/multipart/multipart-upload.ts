// One multipart upload. Parts of one length go directly to their places in a session of the
// service, several at a time. A part whose place depends on missing parts, or that has another
// length, waits in the spool until completion. So do all parts for an end-to-end encrypted bucket,
// because they are encrypted in order.

import { isStorageError } from '../../../client/src/storage-error.ts';
import { chunkCountMax } from '../../../wire/src/limits.ts';
import type { Account } from '../account.ts';
import type { Digests } from '../body/body-check.ts';
import { chunkSource } from '../chunk-source.ts';
import { S3Error } from '../s3-error.ts';
import { type CompletionWish, completeUpload } from './completion.ts';
import { hasPlace, layoutOf } from './part-layout.ts';
import { PartLength, type SizedPart } from './part-length.ts';
import type { PartWork } from './part-work.ts';
import type { Spool } from './spool.ts';
import type { Completed, PartSession, StoredPart, UploadLog, UploadState } from './upload-log.ts';

export interface NewPart extends SizedPart {
  readonly stream: AsyncIterable<Uint8Array>;
  /** Must be called after the last byte of the stream. */
  digests(): Digests;
}

export class MultipartUpload {
  readonly #log: UploadLog;
  readonly #spool: Spool;
  readonly #length: PartLength;
  /** The latest transfer of each part number. */
  readonly #turns = new Map<number, Turn>();
  #session: Promise<PartSession> | undefined;
  #completion: Promise<Completed> | undefined;
  #isAborted = false;

  constructor(log: UploadLog, spool: Spool) {
    this.#log = log;
    this.#spool = spool;
    this.#length = new PartLength(log.state.parts.values());
  }

  get state(): UploadState {
    return this.#log.state;
  }

  /**
   * Stores the part, replacing a former one with the same number and ending its running transfer.
   * Throws errors of the stream, NoSuchUpload, OperationAborted, and errors of the service.
   */
  async putPart(work: PartWork, part: NewPart): Promise<StoredPart> {
    const turn = await this.#takeTurn(part.number, work.signal);
    try {
      this.#requireOpen();
      this.#requirePlaces(part);
      this.#length.note(part);
      const own = { ...work, signal: turn.signal };
      const session = await this.#sessionFor(own, part);
      const place = await (session === undefined
        ? this.#intoSpool(own, part)
        : this.#intoSession(own, part, session));
      return await this.#keep(own, part, place);
    } finally {
      turn.end();
    }
  }

  /**
   * Completes the upload. A repeated call returns the same result, also while the first one is
   * running.
   */
  complete(work: PartWork, wish: CompletionWish): Promise<Completed> {
    if (this.state.completed !== undefined) return Promise.resolve(this.state.completed);
    this.#requireNotAborted();
    this.#completion ??= this.#complete(work, wish).finally(() => {
      this.#completion = undefined;
    });
    return this.#completion;
  }

  async #complete(work: PartWork, wish: CompletionWish): Promise<Completed> {
    const log = this.#log;
    const completed = await completeUpload({ ...work, log, spool: this.#spool }, wish);
    await log.append({ kind: 'completed', completed });
    await this.#emptySpool();
    return completed;
  }

  /** Deletes the parts here and in the service. */
  async abort({ storage }: Account): Promise<void> {
    this.#requireNotCompleted();
    this.#isAborted = true;
    for (const turn of this.#turns.values()) turn.abort(noSuchUpload());
    const { start, session, wholeSession } = this.state;
    const { bucket, path } = start;
    for (const uploadId of [session?.sessionId, wholeSession]) {
      if (uploadId === undefined) continue;
      await storage.uploads.cancel({ bucket, path, uploadId }).catch(unlessEnded);
    }
    await this.#emptySpool();
  }

  async #emptySpool(): Promise<void> {
    for (const { file } of this.state.parts.values()) {
      if (file !== undefined) await this.#spool.remove(file);
    }
  }

  #requireOpen(): void {
    this.#requireNotCompleted();
    this.#requireNotAborted();
  }

  #requireNotAborted(): void {
    if (this.#isAborted) throw noSuchUpload();
  }

  #requireNotCompleted(): void {
    if (this.state.completed !== undefined) throw noSuchUpload();
    if (this.#completion === undefined) return;
    throw new S3Error('OperationAborted', 'The upload is being completed.');
  }

  async #takeTurn(number: number, signal: AbortSignal): Promise<Turn> {
    const former = this.#turns.get(number);
    const turn = new Turn(signal, () => {
      if (this.#turns.get(number) === turn) this.#turns.delete(number);
    });
    this.#turns.set(number, turn);
    former?.abort(
      new S3Error('OperationAborted', 'The part was sent again, which ends the first transfer.'),
    );
    await former?.ended;
    return turn;
  }

  /** Returns undefined for a part that goes into the spool. */
  async #sessionFor(work: PartWork, part: NewPart): Promise<PartSession | undefined> {
    if (work.isSealed) return undefined;
    const session = this.state.session ?? (await this.#begunSession(work));
    if (session === undefined) return undefined;
    const { partBytes, chunkBytes } = session;
    const isTooLong = this.#length.total > chunkCountMax * chunkBytes;
    if (isTooLong || !hasPlace(session, part.number, part.size)) throw beyondTheLast(session);
    if (part.size !== partBytes) return undefined;
    const hasKnownPlace = await this.#length.isAllBefore(part.number, partBytes, work.signal);
    return hasKnownPlace ? session : undefined;
  }

  /** Refuses a part of another length if later parts are stored: their chunks cannot be moved. */
  #requirePlaces({ number, size }: NewPart): void {
    const { session, parts } = this.state;
    if (session === undefined || size === session.partBytes) return;
    for (const other of parts.values()) {
      if (other.number <= number || other.digests === undefined) continue;
      throw new S3Error(
        'InvalidRequest',
        `Part ${number} has ${size} bytes, but later parts were stored for a length of ` +
          `${session.partBytes} bytes: send it with that length, or start a new upload.`,
      );
    }
  }

  async #begunSession({ account, signal }: PartWork): Promise<PartSession | undefined> {
    const partBytes = await this.#length.settled(signal);
    const longest = await account.storage.uploads.longestChunkBytes();
    const layout = layoutOf(partBytes ?? 0, longest);
    if (layout === undefined) return undefined;
    this.#session ??= this.#beginSession(account, layout).finally(() => {
      this.#session = undefined;
    });
    return this.state.session ?? this.#session;
  }

  async #beginSession(
    { storage }: Account,
    layout: Omit<PartSession, 'sessionId'>,
  ): Promise<PartSession> {
    const { bucket, path, description } = this.state.start;
    const { contentType, headers, tags } = description;
    const { chunkBytes } = layout;
    const request = { bucket, path, contentType, headers, tags, chunkBytes };
    const { uploadId } = await storage.uploads.begin(request);
    const session = { ...layout, sessionId: uploadId };
    // Log the session before its use: a session missing in the log would be lost until the service
    // ends it.
    await this.#log.append({ kind: 'session', session });
    return session;
  }

  async #intoSession(
    { account, concurrency, memory, signal }: PartWork,
    part: NewPart,
    { sessionId, partBytes, chunkBytes }: PartSession,
  ): Promise<Pick<StoredPart, 'digests'>> {
    const { bucket, path } = this.state.start;
    const { number } = part;
    // From here on the stored part is incomplete, so a completion must not use it.
    if (this.state.parts.get(number)?.digests)
      await this.#log.append({ kind: 'replacing', number });
    const source = chunkSource({ length: part.size, stream: part.stream }, memory, signal);
    try {
      const { digests } = await account.storage.uploads.write({
        ...{ bucket, path, uploadId: sessionId, offset: (number - 1) * partBytes },
        ...{ source, chunkBytes, concurrency, signal },
      });
      return { digests };
    } finally {
      source.close();
    }
  }

  async #intoSpool(
    { signal }: PartWork,
    { size, stream }: NewPart,
  ): Promise<Pick<StoredPart, 'file'>> {
    const { uploadId } = this.state.start;
    return { file: await this.#spool.write(uploadId, until(signal, stream), size) };
  }

  async #keep(
    { signal }: PartWork,
    { number, size, digests }: NewPart,
    place: Pick<StoredPart, 'digests' | 'file'>,
  ): Promise<StoredPart> {
    try {
      signal.throwIfAborted();
      this.#requireOpen();
    } catch (error) {
      if (place.file !== undefined) await this.#spool.remove(place.file);
      throw error;
    }
    const former = this.state.parts.get(number)?.file;
    const { md5, checksum } = digests();
    const part: StoredPart = {
      ...{ number, size, md5: Buffer.from(md5).toString('hex') },
      ...(checksum && { checksum }),
      storedAt: new Date().toISOString(),
      ...place,
    };
    await this.#log.append({ kind: 'part', part });
    if (former !== undefined) await this.#spool.remove(former);
    return part;
  }
}

/** The transfer of one part by one request. */
class Turn {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
  end: () => void = () => {};

  constructor(signal: AbortSignal, over: () => void) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.ended = new Promise((resolve) => {
      this.end = () => {
        over();
        resolve();
      };
    });
  }

  abort(reason: S3Error): void {
    this.#controller.abort(reason);
  }
}

async function* until(
  signal: AbortSignal,
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    signal.throwIfAborted();
    yield piece;
  }
}

/** The service itself ends the sessions of a key that lost its rights. */
function unlessEnded(error: unknown): void {
  const ended = ['NoSuchUpload', 'UploadExpired', 'UploadCancelled', 'UploadCompleted'];
  if (!isStorageError(error, ...ended, 'InvalidApiKey', 'AccessDenied')) throw error;
}

function beyondTheLast({ partBytes, chunkBytes }: PartSession): S3Error {
  const partsMax = Math.floor((chunkCountMax * chunkBytes) / partBytes);
  return new S3Error(
    'EntityTooLarge',
    `With parts of ${partBytes} bytes an object can have at most ${partsMax} parts; with parts of ` +
      '9,500,000 bytes it can have 19 GB.',
  );
}

export function noSuchUpload(): S3Error {
  return new S3Error(
    'NoSuchUpload',
    'The upload does not exist: it was completed, aborted or has expired.',
  );
}
