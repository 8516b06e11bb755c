import { describe, expect, test } from 'vitest';
import {
  type Conditions,
  evaluateConditions,
  formatHttpDate,
  rangeApplies,
  type Verdict,
} from '../../src/http/preconditions.ts';

const etag = '"abc"';
// 1994-11-06T08:49:37.999Z, the date of the examples in RFC 9110 §5.6.7
const validators = { etag, lastModifiedNs: 784_111_777_999_000_000n };
const same = 'Sun, 06 Nov 1994 08:49:37 GMT';
const before = 'Sun, 06 Nov 1994 08:49:36 GMT';
const after = 'Sun, 06 Nov 1994 08:49:38 GMT';

const none: Conditions = {
  ifMatch: undefined,
  ifNoneMatch: undefined,
  ifModifiedSince: undefined,
  ifUnmodifiedSince: undefined,
  ifRange: undefined,
};

describe('evaluateConditions()', () => {
  test.each<[Verdict, Partial<Conditions>]>([
    ['proceed', {}],
    ['proceed', { ifMatch: etag }],
    ['proceed', { ifMatch: '*' }],
    ['proceed', { ifMatch: '"x", "abc"' }],
    ['proceed', { ifMatch: '"x","abc","y"' }],
    ['failed', { ifMatch: '"x"' }],
    ['failed', { ifMatch: 'W/"abc"' }],
    ['failed', { ifMatch: 'abc' }],
    ['failed', { ifMatch: '' }],
    ['failed', { ifMatch: '"ABC"' }],
    ['not-modified', { ifNoneMatch: etag }],
    ['not-modified', { ifNoneMatch: 'W/"abc"' }],
    ['not-modified', { ifNoneMatch: '*' }],
    ['not-modified', { ifNoneMatch: 'W/"x", "abc"' }],
    ['proceed', { ifNoneMatch: '"x"' }],
    ['proceed', { ifNoneMatch: '"a,b"' }],
    ['proceed', { ifNoneMatch: 'abc' }],
    ['not-modified', { ifModifiedSince: same }],
    ['not-modified', { ifModifiedSince: after }],
    ['proceed', { ifModifiedSince: before }],
    ['proceed', { ifUnmodifiedSince: same }],
    ['proceed', { ifUnmodifiedSince: after }],
    ['failed', { ifUnmodifiedSince: before }],
  ])('answers %s to %j', (verdict, conditions) => {
    expect(evaluateConditions({ ...none, ...conditions }, validators)).toBe(verdict);
  });

  // RFC 9110 §13.2.2: the numbers are its steps
  test.each<[string, Verdict, Partial<Conditions>]>([
    [
      '1: with If-Match, If-Unmodified-Since is ignored',
      'proceed',
      { ifMatch: etag, ifUnmodifiedSince: before },
    ],
    ['1: a false If-Match fails first', 'failed', { ifMatch: '"x"', ifNoneMatch: etag }],
    [
      '1: after a true If-Match, If-None-Match is evaluated',
      'not-modified',
      { ifMatch: etag, ifNoneMatch: etag },
    ],
    [
      '2: a false If-Unmodified-Since fails before 3',
      'failed',
      { ifUnmodifiedSince: before, ifNoneMatch: etag },
    ],
    [
      '2: after a true If-Unmodified-Since, If-Modified-Since is evaluated',
      'not-modified',
      { ifUnmodifiedSince: same, ifModifiedSince: same },
    ],
    [
      '3: with If-None-Match, If-Modified-Since is ignored',
      'proceed',
      { ifNoneMatch: '"x"', ifModifiedSince: same },
    ],
    [
      '3: also if only If-Modified-Since is true',
      'not-modified',
      { ifNoneMatch: etag, ifModifiedSince: before },
    ],
    ['5: If-Range is not a precondition', 'proceed', { ifRange: '"x"' }],
  ])('%s', (_, verdict, conditions) => {
    expect(evaluateConditions({ ...none, ...conditions }, validators)).toBe(verdict);
  });

  // RFC 9110 §13.1.3 and §13.1.4: a value that is not an HTTP-date is ignored
  test.each([
    '1994-11-06T08:49:37Z',
    '784111777',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nox 1994 08:49:37 GMT',
    'Wed, 31 Feb 2055 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'never',
    '',
    `${same}, ${same}`,
  ])('ignores the invalid date %j', (date) => {
    expect(evaluateConditions({ ...none, ifModifiedSince: date }, validators)).toBe('proceed');
    expect(evaluateConditions({ ...none, ifUnmodifiedSince: date }, validators)).toBe('proceed');
  });

  // RFC 9110 §5.6.7: all three formats must be accepted
  test.each([same, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'reads the date %j',
    (date) => {
      const later = { ...validators, lastModifiedNs: validators.lastModifiedNs + 1_000_000_000n };
      expect(evaluateConditions({ ...none, ifModifiedSince: date }, validators)).toBe(
        'not-modified',
      );
      expect(evaluateConditions({ ...none, ifModifiedSince: date }, later)).toBe('proceed');
      expect(evaluateConditions({ ...none, ifUnmodifiedSince: date }, validators)).toBe('proceed');
      expect(evaluateConditions({ ...none, ifUnmodifiedSince: date }, later)).toBe('failed');
    },
  );

  test('reads a two-digit year below 70 as one of this century', () => {
    const date = 'Monday, 01-Jun-26 00:00:00 GMT';
    const modified = { etag, lastModifiedNs: BigInt(Date.UTC(2026, 5, 1)) * 1_000_000n };
    expect(evaluateConditions({ ...none, ifModifiedSince: date }, modified)).toBe('not-modified');
  });
});

describe('rangeApplies()', () => {
  test.each([
    [true, undefined],
    [true, etag],
    [false, 'W/"abc"'],
    [false, '"x"'],
    [false, '"abc", "x"'],
    [false, '*'],
    [false, ''],
    [true, same],
    [false, before],
    [false, after],
    [false, '1994-11-06'],
  ])('is %s with If-Range %j', (expected, ifRange) => {
    expect(rangeApplies(ifRange, validators)).toBe(expected);
  });
});

test('formatHttpDate() writes an IMF-fixdate, rounded down', () => {
  expect(formatHttpDate(validators.lastModifiedNs)).toBe(same);
});
