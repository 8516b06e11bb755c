// Bodies of `aws-chunked`: chunks with their lengths, signed or not, followed by headers.
//
//   <length in hex>[;chunk-signature=<hex>]\r\n <bytes> \r\n …  0[;chunk-signature=<hex>]\r\n
//   [<name>:<value>\r\n … [x-amz-trailer-signature:<hex>\r\n]] \r\n
//
// Signers differ in the empty lines of the trailer, so empty lines there are ignored. Only the last
// line must be empty, which detects a truncated body.

import { createHash } from 'node:crypto';
import { S3Error } from '../s3-error.ts';
import type { ChunkSigner } from '../signature/chunk-signer.ts';
import { ByteReader } from './byte-reader.ts';

const chunkBytesMax = 16 * 1024 * 1024;
const lineBytesMax = 8 * 1024;
const trailerLinesMax = 16;
const trailerSignature = 'x-amz-trailer-signature';

interface Framing {
  readonly chunkSigner?: ChunkSigner;
  readonly hasTrailer: boolean;
}

export type Trailer = ReadonlyMap<string, string>;

/**
 * Yields the bytes of the chunks as they arrive, before their signatures are verified; returns the
 * trailing headers. If the generator throws an S3Error, none of the bytes may be stored.
 */
export async function* decodeChunks(
  incoming: AsyncIterable<Uint8Array>,
  framing: Framing,
): AsyncGenerator<Uint8Array, Trailer> {
  const reader = new ByteReader(incoming);
  try {
    while ((yield* readChunk(reader, framing)) > 0) {
      if ((await reader.line(lineBytesMax)) !== '\r') {
        throw malformed('A chunk must end with a line end.');
      }
    }
    return await readTrailer(reader, framing);
  } finally {
    await reader.close();
  }
}

async function* readChunk(
  reader: ByteReader,
  { chunkSigner }: Framing,
): AsyncGenerator<Uint8Array, number> {
  const line = await reader.line(lineBytesMax);
  const [, digits, signature] =
    /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?\r$/.exec(line) ?? [];
  if (digits === undefined) throw malformed('A chunk must begin with its length.');
  const length = Number.parseInt(digits, 16);
  if (length > chunkBytesMax) {
    throw new S3Error('InvalidChunkSizeError', `A chunk has at most ${chunkBytesMax} bytes.`);
  }
  const hash = chunkSigner === undefined ? undefined : createHash('sha256');
  for (let left = length; left > 0; ) {
    const piece = await reader.some(left);
    if (piece === undefined) throw new S3Error('IncompleteBody', 'The body ends within a chunk.');
    hash?.update(piece);
    left -= piece.length;
    yield piece;
  }
  requireChunkSignature(chunkSigner, hash?.digest('hex') ?? '', signature);
  return length;
}

function requireChunkSignature(
  signer: ChunkSigner | undefined,
  sha256: string,
  signature: string | undefined,
): void {
  if (signer === undefined) {
    if (signature === undefined) return;
    throw malformed('A chunk has a signature, but the request declares none.');
  }
  if (signature !== undefined && signer.isChunk(sha256, signature)) return;
  throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk does not match its bytes.');
}

async function readTrailer(
  reader: ByteReader,
  { chunkSigner, hasTrailer }: Framing,
): Promise<Trailer> {
  const trailer = new Map<string, string>();
  let line = '';
  for (let count = 0; count === 0 || !(await reader.isAtEnd()); count += 1) {
    if (count === trailerLinesMax) throw malformed('The trailer is too long.');
    line = (await reader.line(lineBytesMax)).replace(/\r$/, '');
    if (line === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!hasTrailer || name === '' || trailer.has(name) || trailer.has(trailerSignature)) {
      throw malformed('The trailer does not match x-amz-trailer.');
    }
    trailer.set(name, line.slice(colon + 1).trim());
  }
  if (line !== '') throw new S3Error('IncompleteBody', 'The body ends within its trailer.');
  requireTrailerSignature(chunkSigner, trailer, hasTrailer);
  trailer.delete(trailerSignature);
  return trailer;
}

function requireTrailerSignature(
  signer: ChunkSigner | undefined,
  trailer: Trailer,
  hasTrailer: boolean,
): void {
  const signature = trailer.get(trailerSignature);
  if (signer === undefined || !hasTrailer) {
    if (signature === undefined) return;
    throw malformed('The trailer has a signature, but the request declares none.');
  }
  const signed = [...trailer]
    .filter(([name]) => name !== trailerSignature)
    .map(([name, value]) => `${name}:${value}\n`);
  if (signature !== undefined && signer.isTrailer(signed.join(''), signature)) return;
  throw new S3Error('SignatureDoesNotMatch', 'The signature of the trailer does not match.');
}

function malformed(message: string): S3Error {
  return new S3Error('MalformedTrailerError', message);
}
