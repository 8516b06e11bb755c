// Upload sessions for callers that send a file's parts in any order and several at a time.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { encodeHex } from '../bytes/bytes.ts';
import { etagOf, requireSame } from '../bytes/digest.ts';
import { openSource, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { checkedConcurrency } from '../connection/parallel.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { FileName, FileRecord, UserMetadata } from '../types/files.ts';
import type {
  TransferOptions,
  UploadListOptions,
  UploadOptions,
  UploadSession,
} from '../types/transfers.ts';
import { beginSession, requestBytes } from './begin-session.ts';
import { metadataOf } from './upload.ts';
import { putInSession, sendChunks } from './upload-chunks.ts';

export interface SessionRef extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  readonly uploadId: string;
}

/** The options of a new session. */
export interface SessionOptions
  extends FileName,
    CallOptions,
    Pick<
      UploadOptions,
      'contentType' | 'tags' | 'headers' | 'sha256' | 'ifMatch' | 'ifNoneMatch' | 'chunkBytes'
    > {
  readonly metadata?: UserMetadata | undefined;
  /** The size of the whole file; by default, the number of bytes received at completion. */
  readonly size?: number | undefined;
}

export interface PartOptions extends FileName, TransferOptions {
  readonly uploadId: string;
  /** The part's offset in the file: a multiple of the chunk length. */
  readonly offset: number;
  /** Consists of whole chunks, except for the file's last one. */
  readonly source: UploadInput;
  /** The length of a stream, if known. */
  readonly size?: number | undefined;
  /** The session's `chunkSize`; without it the service is queried. */
  readonly chunkBytes?: number | undefined;
}

/** The result of one part; can be stored as JSON. */
export interface WrittenPart {
  readonly offset: number;
  readonly size: number;
  /** SHA-256 of each chunk of the part, in hexadecimal. */
  readonly digests: readonly string[];
}

export interface CompletionOptions extends FileName, CallOptions {
  readonly uploadId: string;
  /** All parts, in any order; the stored file is compared with them. */
  readonly parts?: readonly WrittenPart[] | undefined;
  /** Added to the metadata given to begin(); replaces values of the same name. */
  readonly metadata?: UserMetadata | undefined;
  /** SHA-256 of the whole file in hexadecimal; the service checks files up to 19,000,000 bytes. */
  readonly sha256?: string | undefined;
  /**
   * Checked in addition to the conditions given to begin().
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { etag } = await storage.stat(file);
   * const { uploadId } = await storage.uploads.begin(file);
   * const source = new Blob(['changed']);
   * await storage.uploads.write({ ...file, uploadId, offset: 0, source });
   * await storage.uploads.complete({ ...file, uploadId, ifMatch: etag });
   * ```
   */
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/**
 * Upload sessions whose parts come in any order. End-to-end buckets refuse them with Unsupported,
 * because their files are encrypted in order.
 */
export interface Uploads {
  /**
   * Returns the length of the longest chunk that the network line can send in time; measures the
   * line unless its rate is known.
   *
   * @example
   * ```ts
   * const chunkBytes = await storage.uploads.longestChunkBytes();
   * console.log(chunkBytes);
   * ```
   */
  longestChunkBytes(): Promise<number>;
  /**
   * Begins a session.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'parts.bin' };
   * const options = { size: 100_000, metadata: { author: 'Ada' } };
   * const { uploadId, chunkSize } = await storage.uploads.begin({ ...file, ...options });
   * console.log(chunkSize);
   * await storage.uploads.cancel({ ...file, uploadId });
   * ```
   */
  begin(options: SessionOptions): Promise<UploadSession>;
  /**
   * Writes one part. It may be written again, also with other bytes, until the session is
   * completed. Resolves when all bytes have arrived; readers see none of them before completion.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'parts.bin', chunkBytes: 65_536 };
   * const { uploadId } = await storage.uploads.begin(file);
   * const parts = await Promise.all(
   *   [0, 65_536].map((offset) =>
   *     storage.uploads.write({ ...file, uploadId, offset, source: new Uint8Array(65_536) }),
   *   ),
   * );
   * await storage.uploads.complete({ ...file, uploadId, parts });
   * ```
   */
  write(part: PartOptions): Promise<WrittenPart>;
  /**
   * Lists the open sessions of a bucket, oldest first. Requires an owner, or a key with every
   * permission.
   *
   * @example
   * ```ts
   * for (const { uploadId, bucketId: bucket } of await storage.uploads.list({ bucket: 'demo' })) {
   *   await storage.uploads.cancel({ bucket, uploadId });
   * }
   * ```
   */
  list(options: UploadListOptions): Promise<readonly UploadSession[]>;
  /**
   * Returns the state of a session.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'parts.bin' };
   * const { uploadId } = await storage.uploads.begin({ ...file, size: 5 });
   * const { status, missing } = await storage.uploads.status({ ...file, uploadId });
   * console.log(status, missing); // active [ 0 ]
   * await storage.uploads.cancel({ ...file, uploadId });
   * ```
   */
  status(session: SessionRef): Promise<UploadSession>;
  /**
   * Stores the file. A repeated call returns the same record for a day, whatever its arguments.
   * Throws BadDigest if `parts` differ from the received bytes, and stores nothing; throws
   * IntegrityError if an earlier call has stored other bytes.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/sent-in-parts.txt' };
   * const { uploadId } = await storage.uploads.begin(file);
   * const source = new Blob(['hello']).stream();
   * await storage.uploads.write({ ...file, uploadId, offset: 0, source, size: 5 });
   * const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
   * const metadata = { author: 'Ada' };
   * await storage.uploads.complete({ ...file, uploadId, sha256, metadata, ifNoneMatch: '*' });
   * ```
   */
  complete(completion: CompletionOptions): Promise<FileRecord>;
  /**
   * Ends a session and discards its chunks.
   *
   * @example
   * ```ts
   * const { uploadId } = await storage.uploads.begin({ bucket: 'demo', path: 'parts.bin' });
   * await storage.uploads.cancel({ bucket: 'demo', uploadId });
   * ```
   */
  cancel(session: SessionRef): Promise<void>;
}

export function uploadsOf(connection: Connection): Uploads {
  const { transport } = connection;
  return {
    longestChunkBytes: () => requestBytes(connection, chunkBytesMax),
    begin: (options) => begin(connection, options),
    write: (part) => write(connection, part),
    list: ({ bucket, signal }) =>
      trying(connection, signal, () => transport.listUploads(bucket, signal)),
    status: ({ signal, path = '', ...name }) =>
      trying(connection, signal, () => transport.getUpload({ ...name, path }, signal)),
    complete: (completion) => complete(connection, completion),
    cancel: ({ signal, path = '', ...name }) =>
      trying(connection, signal, () => transport.cancelUpload({ ...name, path }, signal)),
  };
}

async function begin(connection: Connection, options: SessionOptions): Promise<UploadSession> {
  const { size, chunkBytes, signal } = options;
  const metadata = metadataOf(connection, {}, options);
  return beginSession(connection, { metadata, size, chunkBytes, signal });
}

async function write(connection: Connection, part: PartOptions): Promise<WrittenPart> {
  const { bucket, path, uploadId, offset, signal, onProgress } = part;
  const concurrency = checkedConcurrency(part.concurrency);
  const chunkSize = part.chunkBytes ?? (await uploadsOf(connection).status(part)).chunkSize;
  const first = offset / chunkSize;
  if (!Number.isSafeInteger(first) || first < 0) {
    throw new StorageError(
      'InvalidArgument',
      `A part's offset must be a multiple of ${chunkSize}; got ${offset}.`,
    );
  }
  const source = await openSource(part.source, { size: part.size, bufferedBytesMax: chunkSize });
  const { digests, bytes: size } = await sendChunks({
    ...{ connection, source, signal, concurrency, chunkSize, first },
    put: putInSession(connection, { bucket, path, uploadId }),
    // Stored chunks may come from an earlier attempt with other bytes.
    isMissing: () => true,
    report: (progress) => onProgress?.(progress),
  });
  return { offset, size, digests: digests.map(encodeHex) };
}

async function complete(
  connection: Connection,
  { parts, signal, ...completion }: CompletionOptions,
): Promise<FileRecord> {
  const etag = parts && (await etagOf(digestsOf(parts)));
  const record = await trying(connection, signal, () =>
    connection.transport.completeUpload({ ...completion, etag }, signal),
  );
  if (etag !== undefined) requireSame(record.etag, etag);
  return record;
}

/** Returns the digests of all chunks; the parts must follow one another without gaps. */
function digestsOf(parts: readonly WrittenPart[]): Uint8Array[] {
  const inOrder = parts.toSorted((one, other) => one.offset - other.offset);
  const digests = inOrder.flatMap((part) => part.digests);
  let end = 0;
  const isWhole = inOrder.every(({ offset, size }) => {
    const isNext = offset === end;
    end += size;
    return isNext;
  });
  if (!isWhole || !digests.every((text) => /^[0-9a-f]{64}$/.test(text))) {
    const reason = 'The parts must be results of write() that follow one another from offset 0.';
    throw new StorageError('InvalidArgument', reason);
  }
  return digests.map((text) =>
    Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
  );
}
