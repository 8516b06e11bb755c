// The budget of identity derivations: the limits for a principal, a bucket, an owner and everyone
// together.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Bucket } from '../../src/domain/buckets/buckets.ts';
import { saveBudget } from '../../src/domain/rights/budgets.ts';
import { takeIdentity } from '../../src/domain/rights/identity-budget.ts';
import type { Call } from '../../src/domain/shared/caller.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { createScene, hourNs, startNs } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const callBy = (person: number, nowNs = startNs): Call => {
  const principal = Uint8Array.of(7, person >> 8, person & 255);
  return { caller: { principal, isController: false }, nowNs };
};

/** Returns a bucket with only the fields that a budget reads. */
const bucketOf = (id: string, owner: number) => ({ id, owner: Uint8Array.of(9, owner) }) as Bucket;

function refusalOf(call: Call, bucket: Bucket): Refusal | undefined {
  try {
    takeIdentity(stores, call, bucket);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Derives for each principal until the budget refuses; returns the number of derivations. */
function derive(people: readonly number[], bucket: Bucket, nowNs = startNs): number {
  let count = 0;
  for (const person of people) {
    while (refusalOf(callBy(person, nowNs), bucket) === undefined) count += 1;
  }
  return count;
}

const range = (start: number, count: number) => Array.from({ length: count }, (_, n) => start + n);

describe('takeIdentity()', () => {
  test('lets a principal derive 10 identities, and one more every 6 minutes', () => {
    const bucket = bucketOf('a', 1);
    expect(derive([1], bucket)).toBe(10);
    expect(refusalOf(callBy(1), bucket)).toMatchObject({
      code: 'SlowDown',
      message:
        'The limit of derivations for the caller is reached: try again in 360 seconds, and reuse ' +
        'identities that were derived.',
      details: { seconds: 360 },
    });
    expect(derive([1], bucket, startNs + hourNs / 10n)).toBe(1);
  });

  test('limits 20 invented readers of a bucket to a fifth of the budget, and delays no other owner', () => {
    expect(derive(range(1, 20), bucketOf('a', 1))).toBe(40);
    expect(refusalOf(callBy(20), bucketOf('a', 1))?.message).toContain('for bucket a is reached');
    expect(derive(range(50, 4), bucketOf('b', 2))).toBe(40);
  });

  test('limits the buckets of one owner to a quarter of the budget', () => {
    expect(derive(range(1, 20), bucketOf('a', 1))).toBe(40);
    expect(derive(range(21, 20), bucketOf('b', 1))).toBe(10);
    expect(refusalOf(callBy(50), bucketOf('c', 1))?.message).toContain('the owner of bucket c');
  });

  test('reserves the last quarter of the budget for principals who derived nothing in the last hour', () => {
    // 150 derivations by principals with 5 each.
    for (const person of range(1, 30)) {
      const bucket = bucketOf(`a${person % 10}`, person % 10);
      for (let count = 0; count < 5; count++) {
        expect(refusalOf(callBy(person), bucket)).toBeUndefined();
      }
    }
    expect(refusalOf(callBy(1), bucketOf('z', 77))?.message).toContain('for all callers together');
    expect(refusalOf(callBy(999), bucketOf('z', 77))).toBeUndefined();
    expect(refusalOf(callBy(999), bucketOf('z', 77))?.message).toContain('all callers together');
    const later = startNs + hourNs;
    expect(refusalOf(callBy(999, later), bucketOf('z', 77))).toBeUndefined();
  });

  test('applies the budget that a controller has set, and 0 allows none', () => {
    saveBudget(stores, 'derivations', { burst: 20, perMinute: 1 });
    expect(derive(range(1, 20), bucketOf('a', 1))).toBe(4);
    saveBudget(stores, 'derivations', { burst: 0, perMinute: 0 });
    const refusal = refusalOf(callBy(30), bucketOf('b', 2));
    expect(refusal?.message).toBe(
      'The limit of derivations for bucket b is reached: reuse identities that were derived.',
    );
  });
});
