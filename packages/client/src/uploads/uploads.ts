// Sessions for who brings a file's parts one by one, in any order and several at a time.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { encodeHex } from '../bytes/bytes.ts';
import { etagOf } from '../bytes/digest.ts';
import { openSource, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { checkedConcurrency } from '../connection/parallel.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { FileName, FileRecord, UserMetadata } from '../types/files.ts';
import type { TransferOptions, UploadOptions, UploadSession } from '../types/transfers.ts';
import { beginSession, metadataOf, requestBytes, requireSame } from './upload.ts';
import { sendChunks } from './upload-chunks.ts';

export interface SessionRef extends CallOptions {
  readonly bucket: string;
  readonly path?: string | undefined;
  readonly uploadId: string;
}

/** What an upload of several parts is begun with. */
export interface SessionOptions
  extends FileName,
    CallOptions,
    Pick<
      UploadOptions,
      'contentType' | 'tags' | 'headers' | 'sha256' | 'ifMatch' | 'ifNoneMatch' | 'chunkBytes'
    > {
  readonly metadata?: UserMetadata | undefined;
  /** Bytes of the whole file; where it is not told, what has come at completion. */
  readonly size?: number | undefined;
}

export interface PartOptions extends FileName, TransferOptions {
  readonly uploadId: string;
  /** Where in the file the part begins: so many whole chunks. */
  readonly offset: number;
  /** Of whole chunks but for the file's last one. */
  readonly source: UploadInput;
  /** Bytes of a stream, where they are known. */
  readonly size?: number | undefined;
  /** The session's `chunkSize`; without it the service is asked. */
  readonly chunkBytes?: number | undefined;
}

/** What a part has brought; may be kept as JSON. */
export interface WrittenPart {
  readonly offset: number;
  readonly size: number;
  /** SHA-256 of its chunks, in hexadecimal. */
  readonly digests: readonly string[];
}

export interface CompletionOptions extends FileName, CallOptions {
  readonly uploadId: string;
  /** All of them, in any order: what is stored is compared with what was read. */
  readonly parts?: readonly WrittenPart[] | undefined;
  /** Beside that of the beginning, and in place of what has the same name. */
  readonly metadata?: UserMetadata | undefined;
  /** Of the whole file, in hexadecimal: checked by the service, up to 19,000,000 bytes. */
  readonly sha256?: string | undefined;
  /** Beside those of the beginning. */
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** Not in end-to-end buckets, whose files are encrypted in order: those refuse it, Unsupported. */
export interface Uploads {
  /** Returns how long chunks may be so that the line takes each in time. Measures a new line. */
  longestChunkBytes(): Promise<number>;
  begin(options: SessionOptions): Promise<UploadSession>;
  /**
   * May be repeated, also with other bytes, until the session is completed. Resolves when all has
   * arrived; nothing of it is to be seen before completion.
   */
  write(part: PartOptions): Promise<WrittenPart>;
  status(session: SessionRef): Promise<UploadSession>;
  /**
   * The file is there, whole. May be repeated for a day: it then answers the same, whatever else is
   * told. Fails with IntegrityError where `parts` are not what is stored.
   */
  complete(completion: CompletionOptions): Promise<FileRecord>;
  cancel(session: SessionRef): Promise<void>;
}

export function uploadsOf(connection: Connection): Uploads {
  const { transport } = connection;
  return {
    longestChunkBytes: () => requestBytes(connection, chunkBytesMax),
    begin: (options) => begin(connection, options),
    write: (part) => write(connection, part),
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
  const name = { bucket, path, uploadId };
  const concurrency = checkedConcurrency(part.concurrency);
  const chunkSize = part.chunkBytes ?? (await uploadsOf(connection).status(part)).chunkSize;
  const first = offset / chunkSize;
  if (!Number.isSafeInteger(first) || first < 0) {
    throw new StorageError(
      'InvalidArgument',
      `A part begins where a chunk does: its offset is a multiple of ${chunkSize}; got ${offset}.`,
    );
  }
  const source = await openSource(part.source, { size: part.size, bufferedBytesMax: chunkSize });
  const { digests, bytes: size } = await sendChunks({
    ...{ connection, name, source, signal, concurrency, chunkSize, first },
    // What is there may be of an earlier attempt with other bytes.
    isMissing: () => true,
    report: (progress) => onProgress?.(progress),
  });
  return { offset, size, digests: digests.map(encodeHex) };
}

async function complete(
  connection: Connection,
  { parts, signal, ...completion }: CompletionOptions,
): Promise<FileRecord> {
  const digests = parts && digestsOf(parts);
  const record = await trying(connection, signal, () =>
    connection.transport.completeUpload(completion, signal),
  );
  if (digests !== undefined) requireSame(record.etag, await etagOf(digests));
  return record;
}

/** Of the chunks of all parts, which must be one behind the other. */
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
    const reason = 'The parts are not those that write() gave, one behind the other from 0 on.';
    throw new StorageError('InvalidArgument', reason);
  }
  return digests.map((text) =>
    Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
  );
}
