// Options of a session besides path, type and size: the length of its chunks, the digest of the
// file, header fields to store, preconditions. Parses each text into its stored form.

import { chunkBytesMax, chunkBytesMin, chunkCountMax } from '../../../packages/wire/src/limits.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { decodeHex } from '../../lib/hex.ts';
import { storedHeaderLengthMax, verifiedFileBytesMax } from '../../limits.ts';
import type { Metadata } from '../shared/file-metadata.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { SentHeaders } from '../shared/stored-headers.ts';

export interface UploadOptions {
  /** Bytes of every chunk except the last, checked for each chunk; absent: the client chooses. */
  readonly chunkSize?: bigint | undefined;
  /** 64 hexadecimal digits of the whole file, checked at completion. */
  readonly sha256?: string | undefined;
  readonly headers?: SentHeaders | undefined;
  readonly metadata?: Metadata | undefined;
  /** Fields of RFC 9110 §13.1, checked at the beginning and again at completion. */
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  /** 1 to 64 visible ASCII characters; a repeated begin request with it finds the same session. */
  readonly token?: string | undefined;
}

/** Returns 0 if absent. `totalSize` is 0 while it is unknown. */
export function parseChunkSize(chunkSize: bigint | undefined, totalSize: number): number {
  if (chunkSize === undefined) {
    return 0;
  }
  if (chunkSize < BigInt(chunkBytesMin) || chunkSize > BigInt(chunkBytesMax)) {
    throw new Refusal(
      'InvalidArgument',
      `chunkSize must be ${chunkBytesMin} to ${chunkBytesMax} bytes; got ${chunkSize}.`,
    );
  }
  if (totalSize > Number(chunkSize) * chunkCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A file has at most ${chunkCountMax} chunks: for ${totalSize} bytes chunkSize must be at least ` +
        `${Math.ceil(totalSize / chunkCountMax)}.`,
    );
  }
  return Number(chunkSize);
}

/** Parses a file's digest; returns no bytes if absent. `totalSize` is 0 while it is unknown. */
export function parseFileDigest(text: string | undefined, totalSize: number): Uint8Array {
  if (text === undefined) {
    return emptyBytes;
  }
  const digest = text.length === 64 ? decodeHex(text) : undefined;
  if (digest === undefined) {
    throw new Refusal(
      'InvalidArgument',
      `sha256 must be 64 hexadecimal digits; got ${quote(text)}.`,
    );
  }
  requireVerifiable(totalSize);
  return digest;
}

/** Refuses a digest for a file that one message cannot hash. */
export function requireVerifiable(totalSize: number): void {
  if (totalSize > verifiedFileBytesMax) {
    throw new Refusal(
      'InvalidArgument',
      `The SHA-256 of a whole file can be verified up to ${verifiedFileBytesMax} bytes: for this one ` +
        'send the digest of each chunk, as Content-Digest.',
      { limit: verifiedFileBytesMax },
    );
  }
}

/** Returns '' if absent. */
export function parseToken(token: string | undefined): string {
  if (token !== undefined && !/^[!-~]{1,64}$/.test(token)) {
    throw new Refusal(
      'InvalidArgument',
      `token must have 1 to 64 visible ASCII characters; got ${quote(token)}.`,
    );
  }
  return token ?? '';
}

/** Limits the length of a field; checkWritePreconditions() parses it. Returns '' if absent. */
export function parseCondition(name: string, value: string | undefined): string {
  if (value !== undefined && value.length > storedHeaderLengthMax) {
    throw new Refusal(
      'InvalidArgument',
      `${name} must have at most ${storedHeaderLengthMax} characters.`,
    );
  }
  const condition = value?.trim();
  if (condition === '') {
    throw new Refusal('InvalidArgument', `${name} is empty: give * or entity tags, or omit it.`);
  }
  return condition ?? '';
}
