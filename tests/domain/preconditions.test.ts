import { describe, expect, test } from 'vitest';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from '../../src/domain/shared/preconditions.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';

const etag = `"${'ab'.repeat(32)}-3"`;

function codeOf(operation: () => void): string {
  try {
    operation();
    return 'proceed';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

describe('checkWritePreconditions()', () => {
  // RFC 9110 §13.1.1, §13.1.2: the result with a file, and without one
  test.each<[string, string, WritePreconditions]>([
    ['proceed', 'proceed', {}],
    ['proceed', 'PreconditionFailed', { ifMatch: etag }],
    ['proceed', 'PreconditionFailed', { ifMatch: '*' }],
    ['proceed', 'PreconditionFailed', { ifMatch: ' * ' }],
    ['proceed', 'PreconditionFailed', { ifMatch: `"x", ${etag}` }],
    ['proceed', 'PreconditionFailed', { ifMatch: `,"x",,${etag} ,` }],
    ['proceed', 'PreconditionFailed', { ifMatch: etag.slice(1, -1) }],
    ['PreconditionFailed', 'PreconditionFailed', { ifMatch: '"x"' }],
    ['PreconditionFailed', 'PreconditionFailed', { ifMatch: 'x' }],
    ['PreconditionFailed', 'PreconditionFailed', { ifMatch: `W/${etag}` }],
    ['PreconditionFailed', 'PreconditionFailed', { ifMatch: etag.toUpperCase() }],
    ['PreconditionFailed', 'proceed', { ifNoneMatch: '*' }],
    ['PreconditionFailed', 'proceed', { ifNoneMatch: etag }],
    ['PreconditionFailed', 'proceed', { ifNoneMatch: etag.slice(1, -1) }],
    ['PreconditionFailed', 'proceed', { ifNoneMatch: `W/${etag}` }],
    ['PreconditionFailed', 'proceed', { ifNoneMatch: `"x", ${etag}` }],
    ['proceed', 'proceed', { ifNoneMatch: '"x"' }],
    ['proceed', 'proceed', { ifNoneMatch: '"a,b"' }],
    ['PreconditionFailed', 'PreconditionFailed', { ifMatch: etag, ifNoneMatch: '*' }],
    ['InvalidArgument', 'InvalidArgument', { ifMatch: '' }],
    ['InvalidArgument', 'InvalidArgument', { ifMatch: 'a b' }],
    ['InvalidArgument', 'InvalidArgument', { ifMatch: '"a' }],
    ['InvalidArgument', 'InvalidArgument', { ifMatch: '"a" "b"' }],
    ['InvalidArgument', 'InvalidArgument', { ifMatch: '*, "a"' }],
    ['InvalidArgument', 'InvalidArgument', { ifNoneMatch: 'w/"a"' }],
    ['InvalidArgument', 'InvalidArgument', { ifNoneMatch: '*,' }],
    ['InvalidArgument', 'InvalidArgument', { ifNoneMatch: ',' }],
  ])(
    'answers %s for an existing file and %s for a missing one to %j',
    (withFile, without, conditions) => {
      expect(codeOf(() => checkWritePreconditions(etag, conditions))).toBe(withFile);
      expect(codeOf(() => checkWritePreconditions(undefined, conditions))).toBe(without);
    },
  );

  test("never reveals the entity tag, which begins with the digest of the file's bytes", () => {
    for (const conditions of [{ ifMatch: '"x"' }, { ifNoneMatch: '*' }, { ifNoneMatch: etag }]) {
      let words = '';
      try {
        checkWritePreconditions(etag, conditions);
      } catch (error) {
        words = (error as Error).message;
      }
      expect(words).not.toBe('');
      expect(words).not.toContain('abab');
    }
  });

  test.each([
    ['as many tags as a list may have', '"a", '.repeat(32), 'PreconditionFailed'],
    ['too many tags', '"a", '.repeat(33), 'InvalidArgument'],
    ['empty elements and an invalid one', `"a"${',    '.repeat(40)}x`, 'InvalidArgument'],
    ['a list of 1,024 characters', `"a"${','.repeat(1_021)}`, 'PreconditionFailed'],
    ['a list of 1,025 characters', `"a"${','.repeat(1_022)}`, 'InvalidArgument'],
    ['tags without a comma', '"a"\t"b"', 'InvalidArgument'],
    ['tabs and commas', '\t,"a"\t, \t,W/"b" ,', 'PreconditionFailed'],
  ])('reads or refuses %s', (_, ifMatch, code) => {
    expect(codeOf(() => checkWritePreconditions(etag, { ifMatch }))).toBe(code);
  });

  test('takes linear time for a long list', () => {
    const list = `${'"a" , '.repeat(20_000)}x`;
    expect(codeOf(() => checkWritePreconditions(etag, { ifMatch: list }))).toBe('InvalidArgument');
  });
});

describe('checkUnmodifiedSince()', () => {
  const second = 1_000_000_000n;
  test.each<[string, bigint | undefined, WritePreconditions]>([
    ['proceed', 5n * second, {}],
    ['proceed', 5n * second, { unmodifiedSinceNs: 5n * second }],
    ['proceed', 5n * second + 999_999_999n, { unmodifiedSinceNs: 5n * second }],
    ['PreconditionFailed', 6n * second, { unmodifiedSinceNs: 5n * second }],
    ['proceed', 6n * second, { unmodifiedSinceNs: 5n * second, ifMatch: '"x"' }],
    ['proceed', undefined, { unmodifiedSinceNs: 5n * second }],
  ])('answers %s for a file of %s with %o', (expected, updatedAtNs, conditions) => {
    expect(codeOf(() => checkUnmodifiedSince(updatedAtNs, conditions))).toBe(expected);
  });
});
