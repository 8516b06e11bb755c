// The payload of an age file: STREAM over segments of 64 KiB. Each is encrypted by itself, so any
// of them can be written and read alone (C2SP age, "Payload"). The library offers only a stream.

import { concatBytes } from '../bytes/bytes.ts';
import { StorageError } from '../storage-error.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';

export const segmentBytes = 65_536;
const tagBytes = 16;
export const sealedSegmentBytes = segmentBytes + tagBytes;
export const payloadNonceBytes = 16;

/** Returns the number of segments; an empty file has one, empty segment. */
export function segmentCountOf(plainBytes: number): number {
  return Math.max(1, Math.ceil(plainBytes / segmentBytes));
}

/** Returns the length of the payload, without the nonce before it. */
export function sealedBytesOf(plainBytes: number): number {
  return plainBytes + tagBytes * segmentCountOf(plainBytes);
}

/** Returns the plaintext's length; throws IntegrityError if no payload has `sealedBytes`. */
export function plainBytesOf(sealedBytes: number): number {
  const count = Math.ceil(sealedBytes / sealedSegmentBytes);
  const lastBytes = sealedBytes - (count - 1) * sealedSegmentBytes;
  // Only an empty file has an empty last segment.
  if (lastBytes > tagBytes || sealedBytes === tagBytes) return sealedBytes - count * tagBytes;
  throw damaged('It is truncated: no age file has this length.');
}

/** The shortest header has one recipient; the longest has many with post-quantum keys. */
const prefixBytesMin = 100;
const prefixBytesMax = 262_144;

/** Returns whether an age file of `sealedSize` bytes can have `plainSize` bytes of plaintext. */
export function mayBeOf(sealedSize: number, plainSize: number): boolean {
  const before = sealedSize - sealedBytesOf(plainSize);
  return before >= prefixBytesMin && before <= prefixBytesMax;
}

/** HKDF-SHA-256 of the file key, with the nonce as salt and "payload" as info. */
export async function payloadKeyOf(fileKey: Uint8Array, nonce: Uint8Array): Promise<Uint8Array> {
  return deriveBytes(fileKey, { salt: nonce, info: 'payload', length: 32 });
}

/** HKDF-SHA-256 (RFC 5869) by the platform. */
export async function deriveBytes(
  secret: Uint8Array,
  how: { readonly salt: Uint8Array; readonly info: string; readonly length: number },
): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto;
  const raw = secret as Uint8Array<ArrayBuffer>;
  const key = await subtle.importKey('raw', raw, 'HKDF', false, ['deriveBits']);
  const salt = how.salt as Uint8Array<ArrayBuffer>;
  const info = new TextEncoder().encode(how.info);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info };
  return new Uint8Array(await subtle.deriveBits(algorithm, key, 8 * how.length));
}

export interface PayloadKey {
  readonly cipher: SegmentCipher;
  readonly key: Uint8Array;
}

export interface SegmentName {
  readonly index: number;
  readonly isLast: boolean;
}

/** A big-endian counter of 11 bytes, and a mark of the last segment. */
function nonceOf({ index, isLast }: SegmentName): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setBigUint64(3, BigInt(index));
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

export function sealSegment(
  { cipher, key }: PayloadKey,
  name: SegmentName,
  bytes: Uint8Array,
): Uint8Array {
  return cipher.seal(key, nonceOf(name), bytes);
}

/** Decrypts a segment; throws IntegrityError if it is not the segment of this name. */
export function openSegment(
  { cipher, key }: PayloadKey,
  name: SegmentName,
  sealed: Uint8Array,
): Uint8Array {
  const bytes = cipher.open(key, nonceOf(name), sealed);
  if (bytes !== undefined) return bytes;
  const what = name.isLast ? 'the file is truncated or changed' : 'the file was changed';
  throw damaged(`Segment ${name.index} cannot be decrypted: ${what}.`);
}

/** Decrypts consecutive segments, from index `first`; the last may be short. */
export function openSegments(
  payload: PayloadKey,
  segments: { readonly first: number; readonly count: number; readonly sealed: Uint8Array },
): Uint8Array {
  const { first, count, sealed } = segments;
  const opened: Uint8Array[] = [];
  for (let start = 0, index = first; start < sealed.length; start += sealedSegmentBytes, index++) {
    const segment = sealed.subarray(start, start + sealedSegmentBytes);
    opened.push(openSegment(payload, { index, isLast: index === count - 1 }, segment));
  }
  return concatBytes(...opened);
}

export function damaged(sentence: string): StorageError {
  return new StorageError('IntegrityError', `The age file is damaged. ${sentence}`);
}

/** Returns how many plaintext bytes the first `sealedBytes` of a payload have; 0 if negative. */
export function plainBytesWithin(sealedBytes: number): number {
  const segments = Math.floor(sealedBytes / sealedSegmentBytes);
  const rest = Math.min(sealedBytes - segments * sealedSegmentBytes, segmentBytes);
  const isShort = rest > 0 && rest < segmentBytes;
  return Math.max(0, segments * segmentBytes + rest - (isShort ? tagBytes : 0));
}
