// The client's SHA-256 of short messages, against Node's.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { decodeHex, encodeHex } from '../../packages/client/src/bytes/bytes.ts';
import { shortSha256 } from '../../packages/client/src/bytes/short-sha256.ts';
import { sampleBytes } from '../support/service.ts';

test('shortSha256() returns what Node computes, for each length up to 2,000', () => {
  for (let length = 0; length <= 2_000; length++) {
    const message = sampleBytes(`${length}`, length);
    const expected = createHash('sha256').update(message).digest('hex');
    expect(encodeHex(shortSha256(message))).toBe(expected);
  }
});

test('decodeHex() returns no bytes for anything but pairs of lowercase digits', () => {
  expect([...decodeHex('00ff7a')]).toEqual([0, 255, 122]);
  for (const text of ['0', '0g', 'AB', 'ab1', 'zz', 'é0', '-1']) {
    expect(decodeHex(text)).toHaveLength(0);
  }
});
