// Downloads end-to-end files. A whole file is verified by its digest and decrypted while it
// arrives; for a range, only the header and the covering segments are read.

import { joinPieces, mapped, type Pieces, piecesOf } from '../bytes/byte-stream.ts';
import { concatBytes } from '../bytes/bytes.ts';
import { type OpenedSource, openSource } from '../bytes/upload-source.ts';
import { type Connection, perform } from '../connection/connection.ts';
import { downloadFile } from '../downloads/download.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { StorageError } from '../storage-error.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';
import type { FileName } from '../types/files.ts';
import type { Download, DownloadOptions, Progress } from '../types/transfers.ts';
import type { BucketKeys, EndToEndBucket } from './bucket-keys.ts';
import {
  coveringSegments,
  type FilePrefix,
  type OpenedAge,
  openedAge,
  openStream,
  readPrefix,
} from './opened-file.ts';
import { damaged, sealedSegmentBytes, segmentBytes } from './payload.ts';
import { sealedSource } from './sealed-source.ts';
import { isThumbnailNonce } from './thumbnails.ts';

/** Number of cached headers: players request one range after another. */
const keptFilesMax = 32;

interface Unsealed {
  readonly prefix: FilePrefix;
  readonly fileKey: Uint8Array;
  readonly age: OpenedAge;
}

interface Opened {
  readonly file: OpenedFile;
  readonly options: DownloadOptions;
}

interface Source {
  readonly name: FileName;
  readonly file: OpenedFile;
  readonly unsealed: Unsealed;
}

export type FileKeys = Pick<BucketKeys, 'fileKeyOf'>;

export class FileOpener {
  readonly #connection: Connection;
  readonly #keys: FileKeys;
  readonly #cipher: SegmentCipher;
  readonly #kept = new Map<string, Unsealed>();

  constructor(connection: Connection, keys: FileKeys, cipher: SegmentCipher) {
    this.#connection = connection;
    this.#keys = keys;
    this.#cipher = cipher;
  }

  async download(name: FileName, opened: Opened, bucket?: EndToEndBucket): Promise<Download> {
    const { file, options } = opened;
    const unsealed = await this.#unseal(name, opened, bucket);
    const source = { name, file, unsealed };
    if (options.range !== undefined) return this.#range(source, options);
    return this.#whole(source, options);
  }

  async fileKeyOf(name: FileName, bucket?: EndToEndBucket): Promise<Uint8Array> {
    const { bucket: id, path } = name;
    const request = { bucket: id, path, wantsFirst: false };
    const file = await perform(this.#connection, 'openFile', request, undefined);
    return (await this.#unseal(name, { file, options: {} }, bucket)).fileKey;
  }

  async #unseal(
    { bucket: id, path }: FileName,
    { file, options }: Opened,
    bucket: EndToEndBucket | undefined,
  ): Promise<Unsealed> {
    const keptName = JSON.stringify([id, path, file.etag]);
    const kept = this.#kept.get(keptName);
    if (kept !== undefined) return kept;
    const { signal } = options;
    const { etag, isAnonymous, version, first, size } = file;
    const prefix = await readPrefix({
      size,
      read: async (start, end) => {
        if (first !== undefined && first.length >= end) return first.subarray(start, end);
        const asked = { bucket: id, path, version, start, end };
        const part = { ...asked, etag, isAnonymous, isChunk: false };
        return perform(this.#connection, 'readPart', part, signal);
      },
    });
    const fileKey = await this.#keys.fileKeyOf(bucket, prefix.header);
    if (await isThumbnailNonce(fileKey, prefix.nonce)) throw damaged('It is only its thumbnail.');
    const age = await openedAge({ prefix, size, fileKey }, this.#cipher);
    const unsealed = { prefix, fileKey, age };
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= keptFilesMax && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(keptName, unsealed);
    return unsealed;
  }

  async #range({ name, file, unsealed }: Source, options: DownloadOptions): Promise<Download> {
    const { age } = unsealed;
    const { start, end: asked = age.size } = options.range ?? { start: 0 };
    const end = Math.min(asked, age.size);
    if (!(start >= 0 && start < end)) {
      throw new StorageError(
        'InvalidRange',
        `The range is not within the file's ${age.size} bytes.`,
      );
    }
    const { first, beyond, ...range } = coveringSegments(age, start, end);
    const progress = new OpenedProgress(options, { doneBytes: start, totalBytes: end });
    const own = { ...options, range, resume: undefined, onProgress: progress.onSealed };
    const inner = await downloadFile(this.#connection, name, own, file);
    const bytes = progress.of(
      within(openStream(age, { first, beyond }, piecesOf(inner.body)), {
        from: start - first * segmentBytes,
        length: end - start,
      }),
    );
    return this.#downloadOf({ name, file, unsealed }, { start, bytes });
  }

  async #whole(source: Source, options: DownloadOptions): Promise<Download> {
    const { name, file, unsealed } = source;
    const { age } = unsealed;
    const received = await this.#received(unsealed, options);
    const resume = received && {
      etag: options.resume?.etag ?? '',
      received: { size: received.size, slice: received.source.slice },
    };
    const progress = new OpenedProgress(options, { doneBytes: 0, totalBytes: age.size });
    const own = { ...options, resume, onProgress: progress.onSealed };
    const inner = await downloadFile(this.#connection, name, own, file);
    const sealedStart = Math.max(0, inner.start - age.payloadStart);
    const first = Math.floor(sealedStart / sealedSegmentBytes);
    const segmentStart = age.payloadStart + first * sealedSegmentBytes;
    const start = first * segmentBytes;
    // The part of the first segment that was received before.
    const known =
      received !== undefined && inner.start > segmentStart
        ? await received.source.slice(segmentStart, inner.start)
        : undefined;
    const skipped = Math.max(0, age.payloadStart - inner.start);
    const sealed = without(piecesOf(inner.body), skipped);
    const pieces = openStream(age, { first, beyond: age.segmentCount }, sealed, known);
    progress.resumeAt(start);
    const bytes = progress.of(pieces);
    return this.#downloadOf(source, { start, bytes });
  }

  /** Encrypts the whole segments of an earlier download again, except the file's last one. */
  async #received({ prefix, fileKey, age }: Unsealed, { resume }: DownloadOptions) {
    if (resume === undefined) return undefined;
    const sourceOptions = { size: undefined, bufferedBytesMax: Number.MAX_SAFE_INTEGER };
    const plain = await openSource(resume.received, sourceOptions);
    const pieces = Math.min(Math.floor((plain.size ?? 0) / segmentBytes), age.segmentCount - 1);
    const whole: OpenedSource = { size: age.size, slice: (from, to) => plain.slice(from, to) };
    const header = { prefix: concatBytes(prefix.header, prefix.nonce), fileKey };
    const source = await sealedSource(whole, header, this.#cipher);
    return { source, size: age.payloadStart + pieces * sealedSegmentBytes };
  }

  #downloadOf(
    { name, file, unsealed }: Source,
    { start, bytes }: { readonly start: number; readonly bytes: Pieces },
  ): Download {
    let body: ReadableStream<Uint8Array> | undefined;
    return {
      etag: file.etag,
      size: unsealed.age.size,
      contentType: this.#connection.contentTypeOf(name.path) ?? 'application/octet-stream',
      start,
      get body() {
        body ??= streamOf(bytes);
        return body;
      },
      async bytes() {
        const pieces: Uint8Array[] = [];
        for await (const piece of bytes) pieces.push(piece);
        return joinPieces(pieces);
      },
    };
  }
}

function streamOf(bytes: Pieces): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const { done, value } = await bytes.next();
        if (done) sink.close();
        else sink.enqueue(value);
      },
      cancel: async () => {
        await bytes.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The bytes [from, from + length) of a stream. */
function within(
  stream: Pieces,
  { from, length }: { readonly from: number; readonly length: number },
): Pieces {
  let position = 0;
  return mapped(stream, (bytes) => {
    const start = Math.max(0, from - position);
    const part = bytes.subarray(start, Math.max(0, from + length - position));
    position += bytes.length;
    return part;
  });
}

/** Skips the first bytes of a stream. */
function without(stream: Pieces, skipped: number): Pieces {
  let left = skipped;
  return mapped(stream, (bytes) => {
    const part = bytes.subarray(left);
    left = Math.max(0, left - bytes.length);
    return part;
  });
}

interface OpenedBytes {
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** Converts progress from encrypted to decrypted bytes. */
class OpenedProgress {
  readonly #onProgress: DownloadOptions['onProgress'];
  readonly #totalBytes: number;
  #resumedBytes: number;
  #doneBytes: number;
  /** Received, but not decrypted yet. */
  #aheadBytes = 0;

  constructor({ onProgress }: DownloadOptions, { doneBytes, totalBytes }: OpenedBytes) {
    this.#onProgress = onProgress;
    this.#totalBytes = totalBytes;
    this.#resumedBytes = doneBytes;
    this.#doneBytes = doneBytes;
  }

  resumeAt(bytes: number): void {
    this.#resumedBytes = bytes;
    this.#doneBytes = bytes;
  }

  readonly onSealed = ({ movedBytes, doneBytes }: Progress): void => {
    this.#aheadBytes = movedBytes - doneBytes;
    if (this.#aheadBytes > 0) this.#report();
  };

  of(opened: Pieces): Pieces {
    return mapped(opened, (bytes) => {
      this.#doneBytes += bytes.length;
      this.#report();
      return bytes;
    });
  }

  #report(): void {
    const [doneBytes, totalBytes] = [this.#doneBytes, this.#totalBytes];
    // Encryption adds bytes, so the sum can exceed the total.
    const movedBytes = Math.min(doneBytes + this.#aheadBytes, totalBytes);
    this.#onProgress?.({ doneBytes, movedBytes, totalBytes, resumedBytes: this.#resumedBytes });
  }
}
