// The source of an encrypted upload, which returns the bytes of the age file. The same header gives
// the same bytes again, so that an upload can be resumed.

import { joinPieces } from '../bytes/byte-stream.ts';
import { emptyBytes } from '../bytes/bytes.ts';
import type { OpenedSource } from '../bytes/upload-source.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';
import type { FileHeader } from './header.ts';
import {
  type PayloadKey,
  payloadKeyOf,
  payloadNonceBytes,
  sealedBytesOf,
  sealedSegmentBytes,
  sealSegment,
  segmentBytes,
} from './payload.ts';

/** Encrypts a source. The slices of a stream must be requested in order. */
export async function sealedSource(
  plain: OpenedSource,
  header: FileHeader,
  cipher: SegmentCipher,
): Promise<OpenedSource> {
  const { prefix, fileKey } = header;
  const nonce = prefix.subarray(prefix.length - payloadNonceBytes);
  const payload = { cipher, key: await payloadKeyOf(fileKey, nonce) };
  const reader = new SegmentReader(plain);
  const { size } = plain;
  /** The segment that the previous slice ended in. */
  let cut: PlacedBytes | undefined;
  return {
    size: size === undefined ? undefined : prefix.length + sealedBytesOf(size),
    contentType: plain.contentType,
    isStream: plain.isStream === true,
    ...(plain.buffer && { release: (slice) => plain.release?.(slice) }),
    ...(plain.sent && { sent: () => plain.sent?.() }),
    async slice(start, end) {
      const known = [{ start: -prefix.length, bytes: prefix }, ...(cut ? [cut] : [])];
      const from = start - prefix.length;
      const to = end - prefix.length;
      const position = known.reduce(endOfCovered, from);
      const wanted = { position, to: reader.isOver ? position : to };
      // The slice's buffer is allocated only after its bytes have been read.
      const read = position < wanted.to ? await reader.readCovering(wanted) : undefined;
      const slice = new Slice(from, plain.buffer?.(end - start) ?? new Uint8Array(end - start));
      for (const one of known) slice.put(one);
      if (read !== undefined) {
        cut = sealInto(slice, payload, read);
        reader.release(read.bytes);
      }
      return slice.bytes();
    },
  };
}

/** Bytes with their offset in the payload; the header before it has negative offsets. */
interface PlacedBytes {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** Returns the end of the bytes if they cover the position; otherwise the position. */
function endOfCovered(position: number, { start, bytes }: PlacedBytes): number {
  const end = start + bytes.length;
  return start <= position && position < end ? end : position;
}

/** A slice that is filled in order. */
class Slice {
  readonly #start: number;
  readonly #bytes: Uint8Array;
  #filled = 0;

  constructor(start: number, buffer: Uint8Array) {
    this.#start = start;
    this.#bytes = buffer;
  }

  put({ start, bytes }: PlacedBytes): void {
    const from = this.#start + this.#filled - start;
    if (from < 0 || from >= bytes.length) return;
    const part = bytes.subarray(from, from + this.#bytes.length - this.#filled);
    this.#bytes.set(part, this.#filled);
    this.#filled += part.length;
  }

  /** Returns the filled bytes, fewer at the end of a source of unknown size. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#filled);
  }
}

/** Segments from `first` on, before encryption. */
interface PlainSegments {
  readonly first: number;
  readonly bytes: Uint8Array;
  readonly isEnd: boolean;
}

/** Encrypts segments into the slice, and returns the last one. */
function sealInto(
  slice: Slice,
  payload: PayloadKey,
  { first, bytes, isEnd }: PlainSegments,
): PlacedBytes | undefined {
  let last: PlacedBytes | undefined;
  // An empty file has one segment.
  for (let at = 0; at < bytes.length || (at === 0 && first === 0); at += segmentBytes) {
    const index = first + at / segmentBytes;
    const segment = bytes.subarray(at, at + segmentBytes);
    const isLast = isEnd && at + segmentBytes >= bytes.length;
    const sealed = sealSegment(payload, { index, isLast }, segment);
    last = { start: index * sealedSegmentBytes, bytes: sealed };
    slice.put(last);
  }
  return last;
}

interface Covered {
  readonly position: number;
  readonly to: number;
}

/** Reads whole segments and detects the last one, also if the size is unknown. */
class SegmentReader {
  readonly #source: OpenedSource;
  /** Read ahead of a stream of unknown size, to see whether it continues. */
  #ahead: Uint8Array = emptyBytes;
  isOver = false;

  constructor(source: OpenedSource) {
    this.#source = source;
  }

  /** Reads the segments that contain bytes of the payload's [position, to). */
  async readCovering({ position, to }: Covered): Promise<PlainSegments> {
    const first = Math.floor(position / sealedSegmentBytes);
    const count = Math.ceil(to / sealedSegmentBytes) - first;
    return { first, ...(await this.#read(first * segmentBytes, count * segmentBytes)) };
  }

  async #read(start: number, length: number): Promise<{ bytes: Uint8Array; isEnd: boolean }> {
    const { size } = this.#source;
    const end = start + length;
    if (size === undefined) return this.#readOn(start, end);
    const bytes = start < size ? await this.#source.slice(start, Math.min(end, size)) : emptyBytes;
    return { bytes, isEnd: end >= size };
  }

  async #readOn(start: number, end: number): Promise<{ bytes: Uint8Array; isEnd: boolean }> {
    const rest = await this.#source.slice(start + this.#ahead.length, end);
    const bytes = this.#ahead.length === 0 ? rest : joinPieces([this.#ahead, rest]);
    const isCut = bytes.length < end - start;
    this.#ahead = isCut ? emptyBytes : await this.#source.slice(end, end + 1);
    this.isOver = this.#ahead.length === 0;
    return { bytes, isEnd: this.isOver };
  }

  release(bytes: Uint8Array): void {
    if (this.#source.size !== undefined && bytes.length > 0) this.#source.release?.(bytes);
  }
}
