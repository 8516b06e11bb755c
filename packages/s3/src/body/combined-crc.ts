// Computes the CRC of an object from the CRCs of its parts: the CRC so far is shifted by the bits
// of the next part, that is, multiplied by x to the power of their number, modulo the polynomial.

import type { ChecksumAlgorithm } from './checksum.ts';

interface Ring {
  readonly bits: number;
  /** Without its highest term, the lowest power first. */
  readonly polynomial: bigint;
}

const rings: Partial<Record<ChecksumAlgorithm, Ring>> = {
  CRC32: { bits: 32, polynomial: 0xedb88320n },
  CRC32C: { bits: 32, polynomial: 0x82f63b78n },
  CRC64NVME: { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n },
};

export interface PartSum {
  /** In base64. */
  readonly value: string;
  /** Number of bytes of the part. */
  readonly size: number;
}

/** Returns base64, or undefined for digests that cannot be combined. */
export function combinedCrc(
  algorithm: ChecksumAlgorithm,
  parts: readonly PartSum[],
): string | undefined {
  const ring = rings[algorithm];
  if (ring === undefined) return undefined;
  let whole = 0n;
  for (const { value, size } of parts) {
    const crc = BigInt(`0x${Buffer.from(value, 'base64').toString('hex')}`);
    whole = multiply(ring, whole, powerOfX(ring, BigInt(size) * 8n)) ^ crc;
  }
  return Buffer.from(whole.toString(16).padStart(ring.bits / 4, '0'), 'hex').toString('base64');
}

/** Multiplies two polynomials whose lowest power is in the highest bit. */
function multiply({ bits, polynomial }: Ring, left: bigint, right: bigint): bigint {
  let product = 0n;
  let shifted = right;
  for (let bit = 1n << BigInt(bits - 1); bit > 0n; bit >>= 1n) {
    if ((left & bit) !== 0n) product ^= shifted;
    shifted = (shifted & 1n) === 0n ? shifted >> 1n : (shifted >> 1n) ^ polynomial;
  }
  return product;
}

function powerOfX(ring: Ring, exponent: bigint): bigint {
  const one = 1n << BigInt(ring.bits - 1);
  let power = one;
  let square = one >> 1n;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) power = multiply(ring, power, square);
    square = multiply(ring, square, square);
  }
  return power;
}
