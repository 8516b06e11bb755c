// The edge cases of Project Wycheproof: special values of Poly1305, altered tags, wrong lengths.

import { beforeAll, expect, test } from 'vitest';
import { aeadNonceBytes, open, seal } from '../../src/crypto/aead.ts';
import { hkdfSha256, hmacSha256 } from '../../src/crypto/kdf.ts';
import { bytesEqual } from '../../src/lib/bytes.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

type AeadVector = [number, string, string, string, string, string, string, string];
type HmacVector = [number, string, string, string, string];
type HkdfVector = [number, string, string, string, number, string, string];

const vectors = readVectors<{ aead: AeadVector[]; hmac: HmacVector[]; hkdf: HkdfVector[] }>(
  'wycheproof.json',
);

beforeAll(() => installNodeKernel());

test('ChaCha20-Poly1305 seals and opens the valid vectors, and opens no invalid one', () => {
  for (const [id, key, nonce, aad, message, ciphertext, tag, result] of vectors.aead) {
    const context = { key: fromHex(key), nonce: fromHex(nonce), associatedData: fromHex(aad) };
    const sealed = fromHex(ciphertext + tag);
    if (context.nonce.length !== aeadNonceBytes) {
      const refused = () => seal({ ...context, plaintext: fromHex(message) });
      expect(refused, `vector ${id}`).toThrow(/nonce/);
      continue;
    }
    const opened = open({ ...context, sealed });
    if (result === 'valid') {
      expect(opened, `vector ${id}`).toEqual(fromHex(message));
      expect(seal({ ...context, plaintext: fromHex(message) }), `vector ${id}`).toEqual(sealed);
    } else {
      expect(opened, `vector ${id}`).toBeUndefined();
    }
  }
});

test('hmacSha256() computes the valid tags, truncated as in the vectors', () => {
  for (const [id, key, message, tag, result] of vectors.hmac) {
    const expected = fromHex(tag);
    const actual = hmacSha256(fromHex(key), fromHex(message)).subarray(0, expected.length);
    expect(bytesEqual(actual, expected), `vector ${id}`).toBe(result === 'valid');
  }
});

test('hkdfSha256() computes the valid outputs, and refuses lengths beyond the maximum', () => {
  for (const [id, keyMaterial, salt, info, length, output, result] of vectors.hkdf) {
    const input = { keyMaterial: fromHex(keyMaterial), salt: fromHex(salt), info: fromHex(info) };
    const derive = () => hkdfSha256({ ...input, length });
    if (result === 'valid') expect(derive(), `vector ${id}`).toEqual(fromHex(output));
    else expect(derive, `vector ${id}`).toThrow('Cannot derive');
  }
});
