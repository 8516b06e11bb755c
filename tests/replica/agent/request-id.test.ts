import { requestIdOf } from '@dfinity/agent';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashOfMap, signedBytes } from '../../../packages/replica/src/agent/request-id.ts';

const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');
const fromHex = (text: string): Uint8Array => Buffer.from(text, 'hex');

describe('hashOfMap()', () => {
  it('gives the request id of the example in the interface specification', () => {
    const content = new Map<string, string | bigint | Uint8Array>([
      ['request_type', 'call'],
      ['sender', fromHex('04')],
      ['ingress_expiry', 1_685_570_400_000_000_000n],
      ['canister_id', fromHex('00000000000004d2')],
      ['method_name', 'hello'],
      ['arg', fromHex('4449444c00fd2a')],
    ]);
    expect(hex(hashOfMap(content))).toBe(
      '1d1091364d6bb8a6c16b203ee75467d59ead468f523eb058880ae8ec80e2b101',
    );
  });

  it('agrees with the official agent on any content', () => {
    const value = fc.oneof(
      fc.string(),
      fc.uint8Array({ maxLength: 40 }),
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.array(fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 3 }), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (content) => {
        expect(hex(hashOfMap(new Map(Object.entries(content))))).toBe(hex(requestIdOf(content)));
      }),
    );
  });
});

describe('signedBytes()', () => {
  it('puts the length and the domain separator in front of the hash', () => {
    const bytes = signedBytes('ic-request', new Map());
    expect(bytes.subarray(0, 11).toString('latin1')).toBe('\x0Aic-request');
    expect(bytes).toHaveLength(43);
  });
});
