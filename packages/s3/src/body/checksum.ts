// The digests of a body that S3 defines, computed as its bytes arrive.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  createCRC32,
  createCRC64,
  createXXHash3,
  createXXHash64,
  createXXHash128,
  type IHasher,
} from 'hash-wasm';

/** Number of bytes of each digest. */
const lengths = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  MD5: 16,
  SHA1: 20,
  SHA256: 32,
  SHA512: 64,
  XXHASH64: 8,
  XXHASH3: 8,
  XXHASH128: 16,
} as const;

export type ChecksumAlgorithm = keyof typeof lengths;

export const checksumNames = Object.keys(lengths).join(', ').toLowerCase();

export interface RunningChecksum {
  update(bytes: Uint8Array): void;
  /** Must be called once, after the last byte. */
  digest(): Uint8Array;
}

const castagnoliReversed = 0x82f63b78;
/** The polynomial of the NVM Express specification, bit-reversed. */
const nvmeReversed = '9a6c9329ac4bc9b5';

/** Ignores letter case; returns undefined for an algorithm that S3 does not define. */
export function checksumNamed(name: string): ChecksumAlgorithm | undefined {
  const upper = name.toUpperCase();
  return Object.hasOwn(lengths, upper) ? (upper as ChecksumAlgorithm) : undefined;
}

/** Returns the name of the header, such as `x-amz-checksum-crc32c`. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** Returns whether the text is canonical base64 with the algorithm's number of bytes. */
export function isChecksum(algorithm: ChecksumAlgorithm, text: string): boolean {
  return isBase64Of(text, lengths[algorithm]);
}

export function isBase64Of(text: string, length: number): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text;
}

export async function runChecksum(algorithm: ChecksumAlgorithm): Promise<RunningChecksum> {
  switch (algorithm) {
    case 'CRC32':
      return nativeCrc32();
    case 'CRC32C':
      return ofHasher(await createCRC32(castagnoliReversed));
    case 'CRC64NVME':
      return ofHasher(await createCRC64(nvmeReversed));
    case 'XXHASH64':
      return ofHasher(await createXXHash64());
    case 'XXHASH3':
      return ofHasher(await createXXHash3());
    case 'XXHASH128':
      return ofHasher(await createXXHash128());
    default:
      return createHash(algorithm);
  }
}

function nativeCrc32(): RunningChecksum {
  let value = 0;
  return {
    update(bytes) {
      value = crc32(bytes, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}

function ofHasher(hasher: IHasher): RunningChecksum {
  hasher.init();
  return {
    update: (bytes) => void hasher.update(bytes),
    digest: () => hasher.digest('binary'),
  };
}
