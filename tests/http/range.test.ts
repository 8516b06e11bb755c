import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentRange, parseRange } from '../../src/http/range.ts';

const whole = { kind: 'whole' };
const unsatisfiable = { kind: 'unsatisfiable' };
const part = (start: number, end: number) => ({ kind: 'part', start, end });

describe('parseRange()', () => {
  // RFC 9110 §14.1.2, with a file of eleven bytes
  test.each([
    ['bytes=4-7', part(4, 8)],
    ['bytes=0-0', part(0, 1)],
    ['bytes=10-10', part(10, 11)],
    ['bytes=4-', part(4, 11)],
    ['bytes=0-', part(0, 11)],
    ['bytes=-7', part(4, 11)],
    ['bytes=-11', part(0, 11)],
    ['bytes=-12', part(0, 11)],
    ['bytes=5-99', part(5, 11)],
    ['bytes=0-99999999999999999999999', part(0, 11)],
    ['bytes=00-007', part(0, 8)],
    ['BYTES=4-7', part(4, 8)],
    ['bytes= 4-7 ', part(4, 8)],
    // RFC 9110 §5.6.1.2: empty elements of a list do not count
    ['bytes=,4-7', part(4, 8)],
    ['bytes=4-7 ,\t,', part(4, 8)],
  ])('answers %j with a range', (header, expected) => {
    expect(parseRange(header, 11)).toEqual(expected);
  });

  test.each([
    'bytes=11-',
    'bytes=11-12',
    'bytes=40-50',
    'bytes=-0',
    'bytes=-000',
    `bytes=${'9'.repeat(400)}-`,
  ])('calls %j unsatisfiable', (header) => {
    expect(parseRange(header, 11)).toEqual(unsatisfiable);
  });

  test.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=7-4',
    'bytes=11-4',
    'bytes=a-b',
    'bytes=1',
    'bytes=+1-2',
    'bytes=1.0-2',
    'bytes=0x1-2',
    'bytes=1--2',
    'bytes=--2',
    'bytes 1-2',
    'bytes=1-2\n',
    'bytes=1 - 2',
    'octets=1-2',
    'items=0-5',
    'bytes=٣-٤',
  ])('treats %j as absent', (header) => {
    expect(parseRange(header, 11)).toEqual(whole);
  });

  test.each(['bytes=0-0,2-2', 'bytes=0-1, 5-', 'bytes=0-0,-1', 'bytes=,0-1,,2-'])(
    'answers the list of ranges %j with the whole file',
    (header) => {
      expect(parseRange(header, 11)).toEqual(whole);
    },
  );

  test.each(['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0'])(
    'returns no range of an empty file for %j',
    (header) => {
      expect(parseRange(header, 0)).toEqual(unsatisfiable);
    },
  );

  test('agrees with slicing at every size', () => {
    const number = fc.nat({ max: 30 });
    fc.assert(
      fc.property(number, number, number, (first, last, size) => {
        const bytes = Array.from({ length: size }, (_, index) => index);
        const range = parseRange(`bytes=${first}-${last}`, size);
        const expected = bytes.slice(first, last + 1);
        if (last < first) expect(range).toEqual(whole);
        else if (expected.length === 0) expect(range).toEqual(unsatisfiable);
        else {
          expect(range).toEqual(part(first, first + expected.length));
          expect(contentRange(first, first + expected.length, size)).toBe(
            `bytes ${expected[0]}-${expected.at(-1)}/${size}`,
          );
        }
      }),
    );
  });
});
