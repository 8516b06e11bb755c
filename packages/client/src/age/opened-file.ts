// Reads an age file: its header once, then any of its segments. Each segment is authenticated when
// it is opened; the mark of the last one shows that the file is complete.

import { madeOf, type Pieces } from '../bytes/byte-stream.ts';
import { concatBytes, emptyBytes } from '../bytes/bytes.ts';
import type { PieceCipher } from '../types/end-to-end.ts';
import { headerBytesMax, headerEnd } from './header.ts';
import {
  damaged,
  openPiece,
  openPieces,
  type PayloadKey,
  payloadKeyOf,
  payloadNonceBytes,
  pieceBytes,
  pieceCountOf,
  plainBytesOf,
  sealedBytesOf,
  sealedPieceBytes,
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

/** Enough for three recipients, or one with a post-quantum key. */
const firstReadBytes = 4_096;

/** Reads the header; for one of usual length, only a few kilobytes. */
export async function readPrefix(file: SealedFile): Promise<FilePrefix> {
  for (let length = firstReadBytes; ; length *= 4) {
    const bytes = await file.read(0, Math.min(length, file.size));
    const end = headerEnd(bytes);
    const payloadStart = (end ?? 0) + payloadNonceBytes;
    if (end !== undefined && payloadStart <= bytes.length) {
      return { header: bytes.slice(0, end), nonce: bytes.slice(end, payloadStart) };
    }
    if (length >= file.size) throw damaged('It ends inside its header.');
    if (length > 4 * headerBytesMax) throw damaged('Its header is too long.');
  }
}

/** A file whose header was opened. */
export interface OpenedAge {
  readonly payload: PayloadKey;
  /** The offset of the payload in the file. */
  readonly payloadStart: number;
  /** The size of the plaintext. */
  readonly size: number;
  readonly pieceCount: number;
}

export async function openedAge(
  file: { readonly prefix: FilePrefix; readonly size: number; readonly fileKey: Uint8Array },
  cipher: PieceCipher,
): Promise<OpenedAge> {
  const { header, nonce } = file.prefix;
  const payloadStart = header.length + payloadNonceBytes;
  const size = plainBytesOf(file.size - payloadStart);
  const payload = { cipher, key: await payloadKeyOf(file.fileKey, nonce) };
  return { payload, payloadStart, size, pieceCount: pieceCountOf(size) };
}

/** Segments [first, beyond). */
interface PieceRange {
  readonly first: number;
  readonly beyond: number;
}

/** The segments that cover a range of the plaintext, and their bytes in the file. */
interface CoveringPieces extends PieceRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the segments that cover [start, end), which is within the size. */
export function coveringPieces(file: OpenedAge, start: number, end: number): CoveringPieces {
  const first = Math.floor(start / pieceBytes);
  const beyond = Math.max(first + 1, Math.ceil(end / pieceBytes));
  const at = (piece: number) => file.payloadStart + startOfPiece(file, piece);
  return { first, beyond, start: at(first), end: at(beyond) };
}

/** Returns a segment's offset in the payload; for the one after the last, the payload's end. */
function startOfPiece({ size }: OpenedAge, piece: number): number {
  return Math.min(piece * sealedPieceBytes, sealedBytesOf(size));
}

/**
 * Opens segments as their bytes arrive in order; throws IntegrityError if one is missing. `known`
 * is the beginning of the first segment, which the stream does not repeat.
 */
export function openStream(
  file: OpenedAge,
  { first, beyond }: PieceRange,
  sealed: AsyncIterable<Uint8Array>,
  known: Uint8Array = emptyBytes,
): Pieces {
  const { payload, pieceCount: count } = file;
  let left = startOfPiece(file, beyond) - startOfPiece(file, first) - known.length;
  let next = first;
  let rest = known;
  function* opened(bytes: Uint8Array): Generator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += sealedPieceBytes) {
      const piece = bytes.subarray(start, start + sealedPieceBytes);
      next += 1;
      yield openPiece(payload, { index: next - 1, isLast: next === count }, piece);
    }
  }
  function* take(bytes: Uint8Array): Generator<Uint8Array> {
    left -= bytes.length;
    const missing = rest.length === 0 ? 0 : sealedPieceBytes - rest.length;
    const isCut = bytes.length < missing && left > 0;
    if (missing > 0) {
      const piece = concatBytes(rest, bytes.subarray(0, missing));
      rest = isCut ? piece : emptyBytes;
      if (!isCut) yield* opened(piece);
    }
    const others = bytes.subarray(missing);
    const whole = left <= 0 ? others.length : others.length - (others.length % sealedPieceBytes);
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

/** Reads a range of the plaintext, by the segments that cover it. */
export async function readOpened(
  age: OpenedAge,
  file: SealedFile,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const { first, beyond: _, ...bounds } = coveringPieces(age, start, end);
  const sealed = await file.read(bounds.start, bounds.end);
  const opened = openPieces(age.payload, { first, count: age.pieceCount, sealed });
  return opened.subarray(start - first * pieceBytes, end - first * pieceBytes);
}
