// Segments that the kernel seals into slots, compared byte by byte with another implementation of
// the cipher.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { SegmentCipher } from '../../src/domain/contents/segment-cipher.ts';
import { segmentBytesMax } from '../../src/limits.ts';
import { openSpace } from '../../src/storage/space.ts';
import { testBytes } from '../support/domain-fixture.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

const space = openSpace(1);
const slotBytes = segmentBytesMax + 16;
const key = testBytes(32, 1);
const digest = testBytes(32, 2);
const nonce = { counter: 4_000_000_000, timeNs: 1_700_000_000_123_456_789n };
const address = { contentId: 2 ** 40 + 3, index: 7 };

beforeAll(async () => {
  await installNodeKernel();
  space.growTo(1_000_000);
});

function slotsFor(length: number): Float64Array<ArrayBuffer> {
  const count = Math.ceil(length / segmentBytesMax);
  // Slots in descending order, at unaligned offsets
  return Float64Array.from({ length: count }, (_, index) => (count - index) * slotBytes + 13);
}

/** Implements the format that src/domain/contents/segment-cipher.ts describes. */
function expectedSegment(bytes: Uint8Array, segment: number): Uint8Array {
  const last = Math.ceil(bytes.length / segmentBytesMax) - 1;
  const associated = Buffer.alloc(56);
  associated.writeDoubleLE(address.contentId, 0);
  associated.writeUInt32LE(address.index, 8);
  associated.writeUInt32LE(segment, 12);
  associated.writeUInt32LE(bytes.length, 16);
  associated.writeUInt32LE(segment === last ? 1 : 0, 20);
  associated.set(digest, 24);
  const number = Buffer.alloc(12);
  number.writeUInt32LE(nonce.counter + segment, 0);
  number.writeBigUInt64LE(nonce.timeNs, 4);
  const start = segment * segmentBytesMax;
  const plaintext = bytes.subarray(start, start + segmentBytesMax);
  return chacha20poly1305(key, number, associated).encrypt(plaintext);
}

describe('SegmentCipher: a chunk', () => {
  it.each([1, 15, 65_535, 65_536, 65_537, 131_072, 200_000])(
    'of %i bytes is sealed segment by segment, and can be opened',
    (length) => {
      const bytes = testBytes(length, 3);
      const before = Buffer.from(bytes);
      const slots = slotsFor(length);
      const cipher = new SegmentCipher(address, { length, digest, nonce }, key);
      cipher.sealInto({ space: 1, offsets: slots }, bytes);
      expect(Buffer.compare(bytes, before)).toBe(0);
      for (const [segment, slot] of slots.entries()) {
        const expected = expectedSegment(bytes, segment);
        const stored = new Uint8Array(expected.length);
        space.read(slot, stored);
        expect(Buffer.compare(stored, expected), `segment ${segment}`).toBe(0);
        const data = stored.subarray(0, -16);
        expect(cipher.open(segment, data, stored.subarray(-16))).toBe(true);
        const start = segment * segmentBytesMax;
        expect(Buffer.compare(data, before.subarray(start, start + data.length))).toBe(0);
      }
    },
  );

  it('is not sealed into too few or too many slots, or into another space', () => {
    const bytes = testBytes(70_000, 4);
    const seal = (of: number, count: number) => () => {
      const cipher = new SegmentCipher(address, { length: bytes.length, digest, nonce }, key);
      cipher.sealInto({ space: of, offsets: slotsFor(count * segmentBytesMax) }, bytes);
    };
    expect(seal(1, 1)).toThrow('unreachable');
    expect(seal(1, 3)).toThrow('unreachable');
    expect(seal(0, 2)).toThrow('unreachable');
    expect(seal(1, 2)).not.toThrow();
  });
});
