// Token buckets compared with the arithmetic of a burst and a rate.

import { describe, expect, test } from 'vitest';
import {
  secondsUntilTokens,
  type TokenLevels,
  takeTokens,
  tokensLeft,
} from '../../src/domain/shared/token-buckets.ts';
import { tokenLevelCountMax } from '../../src/limits.ts';

const secondNs = 1_000_000_000n;
const bucket = { name: 'a', allowance: { burst: 10, perMinute: 6 } };

describe('takeTokens(): a token bucket', () => {
  test('takeTokens takes from a full bucket, which refills at its rate up to its burst', () => {
    const levels: TokenLevels = new Map();
    expect(tokensLeft(levels, bucket, 0n)).toBe(10);
    takeTokens(levels, bucket, { nowNs: 0n });
    takeTokens(levels, bucket, { amount: 4, nowNs: 0n });
    expect(tokensLeft(levels, bucket, 0n)).toBe(5);
    expect(tokensLeft(levels, bucket, 15n * secondNs)).toBe(6.5);
    expect(tokensLeft(levels, bucket, 3_600n * secondNs)).toBe(10);
  });

  test('takeTokens gets a bucket into debt by at most one burst', () => {
    const levels: TokenLevels = new Map();
    takeTokens(levels, bucket, { amount: 1_000, nowNs: 0n });
    expect(tokensLeft(levels, bucket, 0n)).toBe(-10);
    expect(secondsUntilTokens(levels, bucket, { amount: 1, nowNs: 0n })).toBe(110);
  });

  test('secondsUntilTokens is Infinity for more than a bucket ever holds', () => {
    const none = { name: 'none', allowance: { burst: 0, perMinute: 0 } };
    expect(secondsUntilTokens(new Map(), bucket, { amount: 11, nowNs: 0n })).toBe(Infinity);
    expect(secondsUntilTokens(new Map(), none, { amount: 1, nowNs: 0n })).toBe(Infinity);
    expect(secondsUntilTokens(new Map(), bucket, { amount: 10, nowNs: 0n })).toBe(0);
  });

  test('tokensLeft does not grow if the clock is set back', () => {
    const levels: TokenLevels = new Map();
    takeTokens(levels, bucket, { nowNs: 60n * secondNs });
    expect(tokensLeft(levels, bucket, 0n)).toBe(9);
  });

  test('takeTokens keeps a bounded number of levels and forgets the fullest bucket first', () => {
    const levels: TokenLevels = new Map();
    takeTokens(levels, bucket, { amount: 9, nowNs: 0n });
    const spent = { name: 'spent', allowance: { burst: 5, perMinute: 0 } };
    takeTokens(levels, spent, { amount: 5, nowNs: 0n });
    for (let count = 0; count < 3 * tokenLevelCountMax; count++) {
      takeTokens(levels, { ...bucket, name: `other ${count}` }, { nowNs: 0n });
    }
    expect(levels.size).toBe(tokenLevelCountMax);
    expect(tokensLeft(levels, bucket, 0n)).toBe(1);
    expect(tokensLeft(levels, spent, 0n)).toBe(0);
  });
});
