// The source of an upload's bytes: slices in any order, or a stream. Holds one slice in memory.

import { StorageError } from '../storage-error.ts';
import { piecesOf } from './byte-stream.ts';
import { concatBytes, emptyBytes } from './bytes.ts';

/** A source of known size with random access, such as an open file. */
export interface UploadSource {
  readonly size: number;
  /** Returns the bytes [start, end). */
  slice(start: number, end: number): Promise<Uint8Array>;
  /** Returns the same bytes as a Blob, which browsers send without loading it into memory. */
  blob?(start: number, end: number): Blob;
  /** Returns a buffer for data derived from the slices, such as ciphertext. */
  buffer?(length: number): Uint8Array;
  /** Called when a slice or a buffer is no longer read. */
  release?(slice: Uint8Array): void;
  /** Called when the service has received a slice, or the data derived from it. */
  sent?(): void;
  /** The source's own media type, if it has one. */
  readonly contentType?: string | undefined;
}

/** A source that may not know its size: only its last slice is short, and later ones are empty. */
export interface OpenedSource extends Omit<UploadSource, 'size'> {
  readonly size: number | undefined;
  /** Whether its slices can be read only once, in order. */
  readonly isStream?: boolean;
}

export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
export type UploadInput = UploadSource | Blob | Uint8Array | ByteStream;

export interface SourceOptions {
  /** The length of a stream, if known. */
  readonly size: number | undefined;
  /**
   * Bytes of a stream of unknown size to read ahead; the size of a shorter stream is then known.
   */
  readonly bufferedBytesMax: number;
}

/** Returns a source over `input`; an input that is already a source is returned as it is. */
export async function openSource(
  input: UploadInput | OpenedSource,
  options: SourceOptions,
): Promise<OpenedSource> {
  if (input instanceof Uint8Array) return bytesSource(input);
  if (typeof Blob !== 'undefined' && input instanceof Blob) return blobSource(input);
  if (isStream(input)) return streamSource(input, options);
  return input as OpenedSource;
}

/** Returns the number of bytes; undefined for a stream. */
export function sizeOf(input: UploadInput): number | undefined {
  return input instanceof Uint8Array ? input.length : (input as { readonly size?: number }).size;
}

function isStream(input: object): input is ByteStream {
  return 'getReader' in input || Symbol.asyncIterator in input;
}

function bytesSource(bytes: Uint8Array): UploadSource {
  return { size: bytes.length, slice: async (start, end) => bytes.subarray(start, end) };
}

function blobSource(blob: Blob): UploadSource {
  return {
    size: blob.size,
    contentType: blob.type === '' ? undefined : blob.type,
    slice: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
    blob: (start, end) => blob.slice(start, end),
  };
}

async function streamSource(stream: ByteStream, options: SourceOptions): Promise<OpenedSource> {
  const reader = new OrderedReader(stream);
  const { size } = options;
  if (size !== undefined) {
    // An upload of an empty file reads no slice, so the end is checked here.
    if (size === 0) await reader.requireEnd();
    const slice = (start: number, end: number) => sliceOfKnownSize(reader, size, { start, end });
    return { size, isStream: true, slice };
  }
  const limit = options.bufferedBytesMax;
  const bytes = await reader.read(limit + 1);
  if (bytes.length <= limit) return bytesSource(bytes);
  reader.putBack(bytes);
  return {
    size: undefined,
    isStream: true,
    slice: (start, end) => reader.sliceToEnd(start, end),
  };
}

/** Reads a slice. After the last one the stream must end, or the stored file would be truncated. */
async function sliceOfKnownSize(
  reader: OrderedReader,
  size: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const bytes = await reader.slice(start, end);
  if (end >= size) await reader.requireEnd();
  return bytes;
}

class OrderedReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = emptyBytes;
  #position = 0;

  constructor(stream: ByteStream) {
    this.#pieces =
      'getReader' in stream
        ? piecesOf(stream)[Symbol.asyncIterator]()
        : stream[Symbol.asyncIterator]();
  }

  putBack(bytes: Uint8Array): void {
    this.#rest = concatBytes(bytes, this.#rest);
    this.#position -= bytes.length;
  }

  /** Returns fewer bytes only at the end. */
  sliceToEnd(start: number, end: number): Promise<Uint8Array> {
    if (start === this.#position) return this.read(end - start);
    throw new StorageError('InvalidArgument', 'A stream can be read only once, in order.');
  }

  async slice(start: number, end: number): Promise<Uint8Array> {
    const bytes = await this.sliceToEnd(start, end);
    if (bytes.length < end - start) {
      throw new StorageError(
        'InvalidArgument',
        `The stream ended after ${this.#position} bytes, before its given size.`,
      );
    }
    return bytes;
  }

  async requireEnd(): Promise<void> {
    const size = this.#position;
    const beyond = await this.read(1);
    if (beyond.length === 0) return;
    await this.stop();
    throw new StorageError(
      'InvalidArgument',
      `The stream has more bytes than its given size of ${size}.`,
    );
  }

  /** Ends the stream, so that its writer does not wait for a reader. */
  async stop(): Promise<void> {
    await this.#pieces.return?.();
  }

  /** Returns fewer bytes only at the end. */
  async read(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let missing = length;
    while (missing > 0) {
      const piece = this.#rest.length > 0 ? this.#rest : await this.#next();
      if (piece === undefined) break;
      const part = piece.subarray(0, missing);
      this.#rest = piece.subarray(part.length);
      parts.push(part);
      missing -= part.length;
    }
    const bytes = concatBytes(...parts);
    this.#position += bytes.length;
    return bytes;
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#pieces.next();
    return done ? undefined : value;
  }
}
