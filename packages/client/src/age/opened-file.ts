// Reads an age file: its header once, then any of its segments. Each segment is authenticated when
// it is opened; the mark of the last one shows that the file is complete.

import { madeOf, type Pieces } from '../bytes/byte-stream.ts';
import { concatBytes, emptyBytes } from '../bytes/bytes.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';
import { type HeaderOpener, headerBytesMax, headerEnd } from './header.ts';
import {
  damaged,
  openSegment,
  openSegments,
  type PayloadKey,
  payloadKeyOf,
  payloadNonceBytes,
  plainBytesOf,
  sealedBytesOf,
  sealedSegmentBytes,
  segmentBytes,
  segmentCountOf,
} from './payload.ts';

/** Random access to the bytes of an age file. */
export interface SealedFile {
  readonly size: number;
  /** Returns the bytes [start, end), which are within the size. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** The beginning of a file; its payload follows. */
export interface FilePrefix {
  readonly header: Uint8Array;
  readonly nonce: Uint8Array;
}

/** Enough for forty recipients, or one with a post-quantum key. */
const firstReadBytes = 4_096;

/** Reads the header; usually only the first 4,096 bytes of the file. */
export async function readPrefix(
  file: SealedFile,
  bytesMax = 4 * headerBytesMax,
): Promise<FilePrefix> {
  for (let length = firstReadBytes; ; length *= 4) {
    const bytes = await file.read(0, Math.min(length, file.size));
    const end = headerEnd(bytes);
    const payloadStart = (end ?? 0) + payloadNonceBytes;
    if (end !== undefined && payloadStart <= bytes.length) {
      return { header: bytes.slice(0, end), nonce: bytes.slice(end, payloadStart) };
    }
    if (length >= file.size) throw damaged('It ends inside its header.');
    if (length >= bytesMax) throw damaged('Its header is too long.');
  }
}

export interface OpenedAge {
  readonly payload: PayloadKey;
  readonly payloadStart: number;
  /** The size of the plaintext. */
  readonly size: number;
  readonly segmentCount: number;
}

export async function openedAge(
  file: { readonly prefix: FilePrefix; readonly size: number; readonly fileKey: Uint8Array },
  cipher: SegmentCipher,
): Promise<OpenedAge> {
  const { header, nonce } = file.prefix;
  const payloadStart = header.length + payloadNonceBytes;
  const size = plainBytesOf(file.size - payloadStart);
  const payload = { cipher, key: await payloadKeyOf(file.fileKey, nonce) };
  return { payload, payloadStart, size, segmentCount: segmentCountOf(size) };
}

/** Segments [first, beyond). */
interface SegmentRange {
  readonly first: number;
  readonly beyond: number;
}

/** The segments that cover a range of the plaintext, and their bytes in the file. */
interface CoveringSegments extends SegmentRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the segments that cover [start, end), which is within the size. */
export function coveringSegments(file: OpenedAge, start: number, end: number): CoveringSegments {
  const first = Math.floor(start / segmentBytes);
  const beyond = Math.max(first + 1, Math.ceil(end / segmentBytes));
  const at = (segment: number) => file.payloadStart + startOfSegment(file, segment);
  return { first, beyond, start: at(first), end: at(beyond) };
}

/** Returns a segment's offset in the payload; for the one after the last, the payload's end. */
function startOfSegment({ size }: OpenedAge, segment: number): number {
  return Math.min(segment * sealedSegmentBytes, sealedBytesOf(size));
}

/**
 * Opens segments as their bytes arrive in order; throws IntegrityError if one is missing. `known`
 * is the beginning of the first segment, which the stream does not repeat.
 */
export function openStream(
  file: OpenedAge,
  { first, beyond }: SegmentRange,
  sealed: AsyncIterable<Uint8Array>,
  known: Uint8Array = emptyBytes,
): Pieces {
  const { payload, segmentCount: count } = file;
  let left = startOfSegment(file, beyond) - startOfSegment(file, first) - known.length;
  let next = first;
  let rest = known;
  function* opened(bytes: Uint8Array): Generator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += sealedSegmentBytes) {
      const segment = bytes.subarray(start, start + sealedSegmentBytes);
      next += 1;
      yield openSegment(payload, { index: next - 1, isLast: next === count }, segment);
    }
  }
  function* take(bytes: Uint8Array): Generator<Uint8Array> {
    left -= bytes.length;
    const missing = rest.length === 0 ? 0 : sealedSegmentBytes - rest.length;
    const isCut = bytes.length < missing && left > 0;
    if (missing > 0) {
      const segment = concatBytes(rest, bytes.subarray(0, missing));
      rest = isCut ? segment : emptyBytes;
      if (!isCut) yield* opened(segment);
    }
    const others = bytes.subarray(missing);
    const whole = left <= 0 ? others.length : others.length - (others.length % sealedSegmentBytes);
    // A copy, so that the larger array is released.
    if (!isCut) rest = others.slice(whole);
    yield* opened(others.subarray(0, whole));
  }
  function* takeEnd(): Generator<Uint8Array> {
    yield* opened(rest);
    if (next !== beyond) throw damaged(`It is truncated: ${next} of ${count} segments arrived.`);
  }
  return madeOf(sealed, take, takeEnd);
}

/**
 * Decrypts a whole age file; `opener` returns the key for its header: openerByKey() for whoever has
 * only the file's key.
 */
export async function openWhole(
  bytes: Uint8Array,
  opener: HeaderOpener,
  cipher: SegmentCipher,
): Promise<Uint8Array> {
  const { length: size } = bytes;
  const file = { size, read: async (start: number, end: number) => bytes.subarray(start, end) };
  const prefix = await readPrefix(file);
  const fileKey = await opener(prefix.header);
  const age = await openedAge({ prefix, size, fileKey }, cipher);
  return readOpened(age, file, { start: 0, end: age.size });
}

/** Reads a range of the plaintext, by the segments that cover it. */
export async function readOpened(
  age: OpenedAge,
  file: SealedFile,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const { first, beyond: _, ...bounds } = coveringSegments(age, start, end);
  const sealed = await file.read(bounds.start, bounds.end);
  const opened = openSegments(age.payload, { first, count: age.segmentCount, sealed });
  return opened.subarray(start - first * segmentBytes, end - first * segmentBytes);
}
