// Reading an age file: its header once, then any of its pieces. What comes out was in the file:
// every piece is checked as it is opened, and the last by its mark, which shows that the file is
// whole.

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

/** Bytes of the age file, in whichever way they come. */
export interface SealedFile {
  readonly size: number;
  /** [start, end), within the size. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** What a file begins with; its payload follows. */
export interface FilePrefix {
  readonly header: Uint8Array;
  readonly nonce: Uint8Array;
}

/** For three recipients or one with a post-quantum key. */
const firstReadBytes = 4_096;

/** Reads no more than a few kilobytes of a header of usual length. */
export async function readPrefix(file: SealedFile): Promise<FilePrefix> {
  for (let length = firstReadBytes; ; length *= 4) {
    const bytes = await file.read(0, Math.min(length, file.size));
    const end = headerEnd(bytes);
    const payloadStart = (end ?? 0) + payloadNonceBytes;
    if (end !== undefined && payloadStart <= bytes.length) {
      return { header: bytes.slice(0, end), nonce: bytes.slice(end, payloadStart) };
    }
    if (length >= file.size) throw damaged('It ends within its header.');
    if (length > 4 * headerBytesMax) throw damaged('Its header has no end.');
  }
}

/** What is known of a file whose header was opened. */
export interface OpenedAge {
  readonly payload: PayloadKey;
  /** Where the payload begins in the file. */
  readonly payloadStart: number;
  /** Of what is in it. */
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

/** Pieces [first, beyond). */
interface PieceRange {
  readonly first: number;
  readonly beyond: number;
}

/** Where the pieces that cover a range of what is in it are in the file. */
interface CoveringPieces extends PieceRange {
  readonly start: number;
  readonly end: number;
}

/** Of [start, end), which is within the size. */
export function coveringPieces(file: OpenedAge, start: number, end: number): CoveringPieces {
  const first = Math.floor(start / pieceBytes);
  const beyond = Math.max(first + 1, Math.ceil(end / pieceBytes));
  const at = (piece: number) => file.payloadStart + startOfPiece(file, piece);
  return { first, beyond, start: at(first), end: at(beyond) };
}

/** In the payload; of the one beyond the last, where it ends. */
function startOfPiece({ size }: OpenedAge, piece: number): number {
  return Math.min(piece * sealedPieceBytes, sealedBytesOf(size));
}

/**
 * Opens pieces of a file as their bytes come in order; IntegrityError if one is missing. Of the
 * first piece the bytes that are known are not among those that come.
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
    // A copy, so that it alone is held.
    if (!isCut) rest = others.slice(whole);
    yield* opened(others.subarray(0, whole));
  }
  function* takeEnd(): Generator<Uint8Array> {
    yield* opened(rest);
    if (next !== beyond) throw damaged(`It is cut: of ${count} pieces ${next} came.`);
  }
  return madeOf(sealed, take, takeEnd);
}

/** A range of what is in it, within its size: the pieces that cover it are read, and no others. */
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
