import { createHash } from 'node:crypto';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  createSha256State,
  finishSha256,
  sha1,
  sha256,
  sha256StateBytes,
  updateSha256,
} from '../../src/crypto/hash.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

interface Sha256Vectors {
  readonly cases: readonly {
    readonly message: string;
    readonly times: number;
    readonly digest: string;
  }[];
}

const { cases } = readVectors<Sha256Vectors>('sha256.json');

// Odd addresses, which the network's Wasm allows, so the kernel must support them
describe.each([0, 1, 7])('sha256(): SHA-256 at addresses with remainder %i', (misalignment) => {
  beforeAll(async () => {
    await installNodeKernel({ misalignment });
  });

  test.each(cases)('sha256() of $message x $times is the published digest', (vector) => {
    const message = fromHex(vector.message.repeat(vector.times));
    expect(sha256(message)).toEqual(fromHex(vector.digest));
  });

  test('sha256() equals another implementation at every length up to 1,100', () => {
    for (let length = 0; length <= 1100; length++) {
      const message = Uint8Array.from({ length }, (_, i) => i * 31 + length);
      expect(sha256(message)).toEqual(digestByNode(message));
    }
  });

  test('a hash in two steps equals the hash in one, wherever the message is split', () => {
    const message = Uint8Array.from({ length: 600 }, (_, i) => i * 29);
    const expected = digestByNode(message);
    for (let cut = 0; cut <= message.length; cut++) {
      const state = createSha256State();
      updateSha256(state, message.subarray(0, cut));
      updateSha256(state, message.subarray(cut));
      expect(finishSha256(state)).toEqual(expected);
    }
  });

  test('a hash in several steps equals the hash in one, however the message is split', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 8 });
    fc.assert(
      fc.property(pieces, (parts) => {
        const state = createSha256State();
        for (const part of parts) updateSha256(state, part);
        expect(finishSha256(state)).toEqual(nobleSha256(Buffer.concat(parts)));
      }),
      { numRuns: 200 },
    );
  });
});

describe.each([0, 1, 7])('sha1(): SHA-1 at addresses with remainder %i', (misalignment) => {
  beforeAll(async () => {
    await installNodeKernel({ misalignment });
  });

  test('sha1() equals another implementation at every length up to 300, and at 100,000', () => {
    for (const length of [...Array(301).keys(), 100_000]) {
      const message = Uint8Array.from({ length }, (_, i) => i * 31 + length);
      expect(sha1(message)).toEqual(new Uint8Array(createHash('sha1').update(message).digest()));
    }
  });
});

function digestByNode(message: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(message).digest());
}

describe('sha256(): states of SHA-256', () => {
  beforeAll(async () => {
    await installNodeKernel();
  });

  test('finishSha256() leaves the state unchanged, so that more bytes can follow', () => {
    const state = createSha256State();
    updateSha256(state, fromHex('616263'));
    expect(finishSha256(state)).toEqual(finishSha256(state));
    updateSha256(state, fromHex('646566'));
    expect(finishSha256(state)).toEqual(nobleSha256(fromHex('616263646566')));
  });

  test('a stored state can be continued by another instance of the kernel', async () => {
    const message = Uint8Array.from({ length: 1000 }, (_, i) => i);
    const state = createSha256State();
    updateSha256(state, message.subarray(0, 333));
    await installNodeKernel();
    updateSha256(state, message.subarray(333));
    expect(finishSha256(state)).toEqual(nobleSha256(message));
  });

  test('a state keeps its layout, for uploads that outlive an upgrade', () => {
    const state = createSha256State();
    // 1,024 bytes are hashed in four lanes, 64 in one, and three stay in the buffer
    updateSha256(state, new Uint8Array(1024).fill(0x61));
    updateSha256(state, new Uint8Array(67).fill(0x62));
    const words = new DataView(state.buffer);
    const hash = Array.from({ length: 8 }, (_, i) => words.getUint32(4 * i, true).toString(16));
    expect(hash.join(' ')).toBe(
      '2aafdd31 91bd14b3 49b43efb 5c770e1b c4c8d6e7 6e1b2846 14714bef 87705d18',
    );
    expect(words.getBigUint64(32, true)).toBe(1091n);
    expect(state.subarray(40, 43)).toEqual(fromHex('626262'));
  });

  test('a state of another size is refused and leaves no pending operation', () => {
    const short = new Uint8Array(sha256StateBytes - 1);
    expect(() => updateSha256(short, new Uint8Array(3))).toThrow('the state has 103 bytes');
    expect(() => finishSha256(short)).toThrow('the state has 103 bytes');
    expect(sha256(new Uint8Array(0))).toEqual(nobleSha256(new Uint8Array(0)));
  });
});
