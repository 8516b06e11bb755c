import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { areEqualSecrets } from '../../src/crypto/equal.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

beforeAll(async () => {
  await installNodeKernel();
});

test('areEqualSecrets() is true for equal bytes and false for all others', () => {
  const bytes = fc.uint8Array({ maxLength: 70 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(areEqualSecrets(a, a.slice())).toBe(true);
      expect(areEqualSecrets(a, b)).toBe(Buffer.compare(a, b) === 0);
    }),
  );
});

test('areEqualSecrets() detects a difference in any single bit', () => {
  const secret = Uint8Array.from({ length: 33 }, (_, i) => i * 3);
  for (let bit = 0; bit < secret.length * 8; bit++) {
    const other = secret.slice();
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(areEqualSecrets(secret, other)).toBe(false);
  }
});
