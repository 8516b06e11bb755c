// Where the bytes of an upload come from: something that gives any of its slices, or a stream that
// gives them in order. Holds one slice at a time.

import { StorageError } from '../storage-error.ts';
import { piecesOf } from './byte-stream.ts';
import { concatBytes, emptyBytes } from './bytes.ts';

/** Anything that has a size and gives its bytes [start, end): an open file, for one. */
export interface UploadSource {
  readonly size: number;
  slice(start: number, end: number): Promise<Uint8Array>;
  /** The same bytes by reference, where there is one: browsers send them without holding them. */
  blob?(start: number, end: number): Blob;
  /** Where something of that length that is made of its slices may be put. */
  buffer?(length: number): Uint8Array;
  /** Told of a slice, or a buffer, that is not read any more. */
  release?(slice: Uint8Array): void;
  /** Told of each slice when the service has it, or what was made of it. */
  sent?(): void;
  /** Its media type, when it has one of its own. */
  readonly contentType?: string | undefined;
}

/** One that may not know its size: then a slice is short at the end only, and empty after it. */
export interface OpenedSource extends Omit<UploadSource, 'size'> {
  readonly size: number | undefined;
}

export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
export type UploadInput = UploadSource | Blob | Uint8Array | ByteStream;

export interface SourceOptions {
  /** Of a stream, if it is known. */
  readonly size: number | undefined;
  /** Up to so many bytes a stream of unknown size is read ahead: a shorter one has a size then. */
  readonly bufferedBytesMax: number;
}

export async function openSource(
  input: UploadInput | OpenedSource,
  options: SourceOptions,
): Promise<OpenedSource> {
  if (input instanceof Uint8Array) return bytesSource(input);
  if (typeof Blob !== 'undefined' && input instanceof Blob) return blobSource(input);
  if (isStream(input)) return streamSource(input, options);
  return input as OpenedSource;
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
    // No slice of an empty file may be asked for.
    if (size === 0) await reader.requireEnd();
    return { size, slice: (start, end) => sliceOfTold(reader, size, { start, end }) };
  }
  const limit = options.bufferedBytesMax;
  const bytes = await reader.read(limit + 1);
  if (bytes.length <= limit) return bytesSource(bytes);
  reader.putBack(bytes);
  return { size: undefined, slice: (start, end) => reader.sliceToEnd(start, end) };
}

/** With the last slice the stream must end: what is longer would be stored cut. */
async function sliceOfTold(
  reader: OrderedReader,
  size: number,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const bytes = await reader.slice(start, end);
  if (end >= size) await reader.requireEnd();
  return bytes;
}

/** Slices of a stream, asked for in their order. */
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

  /** What was read last is read again. */
  putBack(bytes: Uint8Array): void {
    this.#rest = concatBytes(bytes, this.#rest);
    this.#position -= bytes.length;
  }

  /** Fewer bytes at the end only. */
  sliceToEnd(start: number, end: number): Promise<Uint8Array> {
    if (start === this.#position) return this.read(end - start);
    throw new StorageError('InvalidArgument', 'A stream gives its bytes once, in order.');
  }

  async slice(start: number, end: number): Promise<Uint8Array> {
    const bytes = await this.sliceToEnd(start, end);
    if (bytes.length < end - start) {
      throw new StorageError(
        'InvalidArgument',
        `The stream ended after ${this.#position} bytes: its size was told wrongly.`,
      );
    }
    return bytes;
  }

  async requireEnd(): Promise<void> {
    const told = this.#position;
    const beyond = await this.read(1);
    if (beyond.length === 0) return;
    await this.stop();
    throw new StorageError(
      'InvalidArgument',
      `The stream has more than the ${told} bytes that were told.`,
    );
  }

  /** Its writer is not kept waiting for a reader. */
  async stop(): Promise<void> {
    await this.#pieces.return?.();
  }

  /** Fewer bytes at the end only. */
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
