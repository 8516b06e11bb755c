// What is to be encrypted, as the source of an upload: gives the bytes of the age file. The same
// header gives the same bytes again, so that an upload goes on where it stopped.

import { joinPieces } from '../byte-stream.ts';
import { emptyBytes } from '../bytes.ts';
import type { OpenedSource } from '../upload-source.ts';
import type { FileHeader } from './header.ts';
import {
  type PayloadKey,
  payloadKeyOf,
  payloadNonceBytes,
  pieceBytes,
  sealedBytesOf,
  sealedPieceBytes,
  sealPiece,
} from './payload.ts';
import type { PieceCipher } from './piece-cipher.ts';

/** Of a source that gives its bytes in order only, slices are asked for in order too. */
export async function sealedSource(
  plain: OpenedSource,
  header: FileHeader,
  cipher: PieceCipher,
): Promise<OpenedSource> {
  const { prefix, fileKey } = header;
  const nonce = prefix.subarray(prefix.length - payloadNonceBytes);
  const payload = { cipher, key: await payloadKeyOf(fileKey, nonce) };
  const reader = new PieceReader(plain);
  const { size } = plain;
  /** The piece that the former slice has cut. */
  let cut: SealedPieces | undefined;
  return {
    size: size === undefined ? undefined : prefix.length + sealedBytesOf(size),
    contentType: plain.contentType,
    async slice(start, end) {
      const parts = [prefix.subarray(start, Math.min(end, prefix.length))];
      let from = Math.max(0, start - prefix.length);
      const to = end - prefix.length;
      if (to <= 0) return joinPieces(parts);
      if (cut !== undefined && from >= cut.start && from < cut.end) {
        const part = bytesOf(cut, from, to);
        parts.push(part);
        from += part.length;
      }
      if (from < to && !reader.isOver) {
        const sealed = await sealPieces(payload, reader, { from, to });
        parts.push(...sealed.map((piece) => bytesOf(piece, from, to)));
        cut = sealed.at(-1) ?? cut;
      }
      return joinPieces(parts.filter((part) => part.length > 0));
    },
  };
}

/** Bytes of the payload, and where they are in it. */
interface SealedPieces {
  readonly start: number;
  readonly end: number;
  readonly bytes: Uint8Array;
}

function bytesOf({ start, bytes }: SealedPieces, from: number, to: number): Uint8Array {
  return bytes.subarray(Math.max(0, from - start), Math.max(0, to - start));
}

/** Those that have a byte of the bounds. */
async function sealPieces(
  payload: PayloadKey,
  reader: PieceReader,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<SealedPieces[]> {
  const first = Math.floor(from / sealedPieceBytes);
  const count = Math.ceil(to / sealedPieceBytes) - first;
  const { bytes, isEnd } = await reader.read(first, count);
  const sealed: SealedPieces[] = [];
  // Of an empty file there is one piece.
  for (let at = 0; at < bytes.length || (at === 0 && first === 0); at += pieceBytes) {
    const index = first + at / pieceBytes;
    const piece = bytes.subarray(at, at + pieceBytes);
    const isLast = isEnd && at + pieceBytes >= bytes.length;
    const start = index * sealedPieceBytes;
    const own = sealPiece(payload, { index, isLast }, piece);
    sealed.push({ start, end: start + own.length, bytes: own });
  }
  reader.release(bytes);
  return sealed;
}

/** Reads whole pieces, and knows which is the last, also where nobody knows the size ahead. */
class PieceReader {
  readonly #source: OpenedSource;
  /** Read ahead of a stream whose size is not known, to see whether more comes. */
  #ahead: Uint8Array = emptyBytes;
  /** There is nothing after what was read. */
  isOver = false;

  constructor(source: OpenedSource) {
    this.#source = source;
  }

  async read(first: number, count: number): Promise<{ bytes: Uint8Array; isEnd: boolean }> {
    const { size } = this.#source;
    const start = first * pieceBytes;
    const end = start + count * pieceBytes;
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
