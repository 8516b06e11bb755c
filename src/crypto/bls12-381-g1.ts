// Only the group G1 of BLS12-381, on the curve library's general arithmetic: setting up the whole
// curve with its pairing takes 6,700 M instructions, this 2 M. Points have the compressed form of
// 48 bytes (IETF draft-irtf-cfrg-pairing-friendly-curves, appendix C).

import { Field } from '@noble/curves/abstract/modular';
import { type WeierstrassPoint, weierstrassN } from '@noble/curves/abstract/weierstrass';
import { present } from '../lib/assert.ts';
import { decodeHex, encodeHex } from '../lib/hex.ts';

export type G1Point = WeierstrassPoint<bigint>;

export const g1Bytes = 48;
/** y² = x³ + 4 over the field of p elements, with h times n points. */
const curve = {
  p: BigInt(
    '0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab',
  ),
  n: BigInt('0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001'),
  h: 0x396c8c005555e1568c00aaab0000aaabn,
  a: 0n,
  b: 4n,
  Gx: BigInt(
    '0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
  ),
  Gy: BigInt(
    '0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1',
  ),
};
const field = Field(curve.p);
const Point = weierstrassN(curve, { Fp: field });

/** Flags in the first three bits. */
const compressedFlag = 1n << 383n;
const infinityFlag = 1n << 382n;
const largerFlag = 1n << 381n;

// The library's own generator has tables of multiples, which take 5,000 M instructions to compute.
export const g1Generator: G1Point = Point.fromAffine({ x: curve.Gx, y: curve.Gy });
export const g1Order = curve.n;

/**
 * Returns `undefined` for bytes that are not a compressed point of the curve, and for the neutral
 * point. Does not check that the point is in the group of prime order.
 */
export function decodeG1(bytes: Uint8Array): G1Point | undefined {
  const flagged = bytes.length === g1Bytes ? BigInt(`0x${encodeHex(bytes)}`) : 0n;
  const x = flagged & (largerFlag - 1n);
  if ((flagged & compressedFlag) === 0n || (flagged & infinityFlag) !== 0n || x >= curve.p) {
    return undefined;
  }
  const square = field.add(field.mul(field.sqr(x), x), curve.b);
  // Because p = 3 mod 4, this is the square root if one exists.
  const root = field.pow(square, (curve.p + 1n) / 4n);
  if (field.sqr(root) !== square) {
    return undefined;
  }
  const isLarger = (flagged & largerFlag) !== 0n;
  return Point.fromAffine({ x, y: isLarger === isLargerRoot(root) ? root : field.neg(root) });
}

export function encodeG1(point: G1Point): Uint8Array {
  const { x, y } = point.toAffine();
  const flags = compressedFlag | (isLargerRoot(y) ? largerFlag : 0n);
  return present(decodeHex((flags | x).toString(16)), 'bytes of a point');
}

function isLargerRoot(y: bigint): boolean {
  return 2n * y > curve.p;
}
