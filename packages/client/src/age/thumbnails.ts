// Thumbnails of end-to-end files. A thumbnail is an age file with the header of its file, so that
// the file's identities and the file's key open it, and a payload of its own. Its nonce is marked,
// so that nobody who lacks the key can show the thumbnail in place of the file:
//
//   nonce   8 random bytes | 8 bytes of HKDF-SHA-256 (secret = the file key, salt = the random
//           bytes, info = "encrypted-file-storage/thumbnail")

import { sealedThumbnailBytesMax, thumbnailBytesMax } from '../../../wire/src/limits.ts';
import { pictureStartBytes, pictureTypeOf } from '../../../wire/src/picture-types.ts';
import { bytesEqual, concatBytes } from '../bytes/bytes.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import { ageType, type SegmentCipher } from '../types/end-to-end.ts';
import type { Thumbnail } from '../types/thumbnails.ts';
import { type FileHeader, type HeaderOpener, headerOf } from './header.ts';
import { openWhole } from './opened-file.ts';
import { damaged, deriveBytes, payloadKeyOf, payloadNonceBytes, sealSegment } from './payload.ts';

/** Less than a frame of a screen. */
const busyMsMax = 10;
const randomBytes = payloadNonceBytes / 2;
/** More than the recipients of a bucket. */
const stanzasMax = 16;

async function markedNonce(fileKey: Uint8Array, random: Uint8Array): Promise<Uint8Array> {
  const info = 'encrypted-file-storage/thumbnail';
  const length = payloadNonceBytes - randomBytes;
  return concatBytes(random, await deriveBytes(fileKey, { salt: random, info, length }));
}

/** Whether the nonce of a payload is that of a thumbnail, not of a file. */
export async function isThumbnailNonce(fileKey: Uint8Array, nonce: Uint8Array): Promise<boolean> {
  return bytesEqual(nonce, await markedNonce(fileKey, nonce.subarray(0, randomBytes)));
}

/** Encrypts a picture with the key of a file. Refuses what the service would refuse elsewhere. */
export async function sealThumbnail(
  picture: Uint8Array,
  file: FileHeader,
  cipher: SegmentCipher,
): Promise<Uint8Array> {
  if (typeOf(picture) === undefined) {
    const words = 'These bytes are not a picture in WebP, JPEG, PNG or AVIF.';
    throw new StorageError('InvalidContentType', `${words} Send a thumbnail in one of them.`);
  }
  requireSize(picture, thumbnailBytesMax);
  const { fileKey } = file;
  const random = globalThis.crypto.getRandomValues(new Uint8Array(randomBytes));
  const nonce = await markedNonce(fileKey, random);
  const payload = { cipher, key: await payloadKeyOf(fileKey, nonce) };
  // A picture is shorter than a segment.
  const sealed = sealSegment(payload, { index: 0, isLast: true }, picture);
  const bytes = concatBytes(headerOf(file), nonce, sealed);
  requireSize(bytes, sealedThumbnailBytesMax);
  return bytes;
}

function requireSize({ length }: Uint8Array, limit: number): void {
  if (length <= limit) return;
  const words = `A thumbnail has at most ${limit} bytes, this one has ${length}: make it smaller.`;
  throw new StorageError('EntityTooLarge', words);
}

function typeOf(picture: Uint8Array): string | undefined {
  return pictureTypeOf(String.fromCharCode(...picture.subarray(0, pictureStartBytes)));
}

/** Decrypts the picture. Throws NoIdentity, or IntegrityError if it is not a picture. */
async function openThumbnail(
  { bytes: sealed, etag }: Thumbnail,
  opener: HeaderOpener,
  cipher: SegmentCipher,
): Promise<Thumbnail> {
  if (sealed.length > sealedThumbnailBytesMax) throw damaged('It is too large for a thumbnail.');
  const bytes = await openWhole(sealed, withFewStanzas(opener), cipher);
  if (bytes.length > thumbnailBytesMax) throw damaged('Its picture is too large.');
  const contentType = typeOf(bytes);
  // Another type could run a script where an app shows it.
  if (contentType === undefined) throw damaged('It is not a picture.');
  return { etag, contentType, bytes };
}

/** Each identity tries each stanza, and thumbnails are opened without a click. */
function withFewStanzas(opener: HeaderOpener): HeaderOpener {
  return (header) => {
    const stanzas = new TextDecoder('latin1').decode(header).split('\n-> ').length - 1;
    if (stanzas > stanzasMax) throw damaged(`It has ${stanzas} recipients.`);
    return opener(header);
  };
}

/**
 * Decrypts the thumbnails that can be decrypted, because one that is damaged must not hide the
 * others. If none can be, throws the first failure.
 */
export async function openThumbnails(
  found: ReadonlyMap<string, Thumbnail>,
  openerOf: (one: Thumbnail) => HeaderOpener,
  cipher: SegmentCipher,
): Promise<ReadonlyMap<string, Thumbnail>> {
  const opened = new Map<string, Thumbnail>();
  let refusal: unknown;
  let sinceMs = performance.now();
  for (const [path, one] of found) {
    const isSealed = one.contentType === ageType;
    try {
      opened.set(path, isSealed ? await openThumbnail(one, openerOf(one), cipher) : one);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      refusal ??= error;
    }
    if (performance.now() - sinceMs < busyMsMax) continue;
    // Browsers draw nothing while promises of WebCrypto follow one another.
    await new Promise((resolve) => setTimeout(resolve));
    sinceMs = performance.now();
  }
  if (opened.size === 0 && refusal !== undefined) throw refusal;
  return opened;
}
