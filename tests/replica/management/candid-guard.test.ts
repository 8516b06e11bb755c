// Candid that would cost the decoder gigabytes or hours is refused at once; messages of real
// clients pass.

import { IDL } from '@dfinity/candid';
import { describe, expect, test } from 'vitest';
import { decodeGuarded } from '../../../packages/replica/src/management/candid-guard.ts';

const hugeCount = [0xff, 0xff, 0xff, 0xff, 0x0f];
const doublingRecords = Array.from({ length: 15 }, (_, at) => [0x6c, 2, 0, at + 1, 1, at + 1]);
const doublingFunctions = Array.from({ length: 15 }, (_, at) => [0x6a, 1, at + 1, 1, at + 1, 0]);
const nestedOptions = Array.from({ length: 10 }, (_, at) => [0x6e, at + 1]);
const nestedVectors = Array.from({ length: 100 }, (_, at) => [0x6d, at + 1]);

describe('decodeGuarded()', () => {
  test.each([
    ['four billion nulls', [1, 0x6d, 0x7f, 1, 0, ...hugeCount], /without bytes/],
    ['four billion reserved values', [1, 0x6d, 0x70, 1, 0, ...hugeCount], /without bytes/],
    ['four billion empty records', [2, 0x6d, 1, 0x6c, 0, 1, 0, ...hugeCount], /without bytes/],
    ['records that double at each level', [16, ...doublingRecords.flat(), 0x6c, 0, 0], /200 parts/],
    ['functions that double', [16, ...doublingFunctions.flat(), 0x6c, 0, 0], /200 parts/],
    ['a function of itself', [1, 0x6a, 1, 0, 0, 0, 0], /recursive/],
    ['four billion annotations', [1, 0x6a, 0, 0, ...hugeCount], /ends inside its type table/],
    ['options in options', [11, ...nestedOptions.flat(), 0x6c, 0, 0], /nested too deeply/],
    ['vectors in vectors', [101, ...nestedVectors.flat(), 0x6d, 0x7b, 0], /nested too deeply/],
    ['an option of itself', [1, 0x6e, 0, 1, 0, ...Array(40).fill(1)], /recursive/],
    ['a record of itself', [1, 0x6c, 1, 0, 0, 1, 0], /recursive/],
    ['four billion types', hugeCount, /ends inside its type table/],
    ['four billion fields', [1, 0x6c, ...hugeCount], /ends inside its type table/],
    ['a type that is not in the table', [1, 0x6d, 7, 0], /not in its type table/],
    ['a type code that arguments cannot have', [1, 0x69, 0, 0, 0, 0], /not allowed in an argument/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decodeGuarded([], Uint8Array.of(68, 73, 68, 76, ...bytes))).toThrow(message);
  });

  test('refuses bytes that are not Candid', () => {
    expect(() => decodeGuarded([], new Uint8Array(0))).toThrow(/DIDL/);
    expect(() => decodeGuarded([], Uint8Array.of(1, 2, 3))).toThrow(/DIDL/);
  });

  test('reads a view into a larger buffer', () => {
    const encoded = new Uint8Array(IDL.encode([IDL.Text], ['inside']));
    const larger = Buffer.concat([Buffer.from('before'), encoded, Buffer.from('after')]);
    expect(decodeGuarded([IDL.Text], larger.subarray(6, 6 + encoded.length))).toBe('inside');
  });

  test('accepts fields that later versions of a client add', () => {
    const known = IDL.Record({ name: IDL.Text });
    const extra = IDL.Opt(IDL.Vec(IDL.Record({ key: IDL.Text, value: IDL.Opt(IDL.Nat) })));
    const later = IDL.Record({ name: IDL.Text, extra });
    const bytes = IDL.encode([later], [{ name: 'x', extra: [[{ key: 'k', value: [1n] }]] }]);
    expect(decodeGuarded([known], new Uint8Array(bytes))).toEqual({ name: 'x' });
  });
});
