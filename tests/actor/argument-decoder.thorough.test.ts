// Decoding of arguments within bounds: arguments of honest callers decode as with the official
// library, and arguments that would cost too much are refused at once.

import { isDeepStrictEqual } from 'node:util';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { CandidFault } from '../../src/actor/candid/reader.ts';
import {
  type ArgumentBounds,
  decodeWithin,
  planOf,
} from '../../src/actor/messages/argument-decoder.ts';
import { hostileArguments } from '../support/hostile-arguments.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { readInterface } from '../support/model-interface.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

beforeAll(installNodeText);

/**
 * One of this many hostile arguments is decoded for each method, because their types are similar.
 */
const oneOf = 4;
const seed = seedOr(20_261_122);

const people = [Principal.anonymous(), Principal.fromUint8Array(new Uint8Array(29).fill(7))];
const methods = readInterface({ texts: ['a', 'ü'], principals: people });
const wide: ArgumentBounds = { bytes: 90_000_000, textBytes: 90_000_000, values: 100_000 };

function decode(types: IDL.Type[], bytes: Uint8Array, bounds = wide): unknown[] {
  return decodeWithin(types.map(planOf), new Uint8Array(bytes), bounds);
}

function hasHugeNumber(value: unknown): boolean {
  if (typeof value === 'bigint') return value > 2n ** 139n || value < -(2n ** 138n);
  const isComposed = typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
  return isComposed && Object.values(value).some(hasHugeNumber);
}

describe('decodeWithin()', () => {
  test.each(methods.filter(({ name }) => name !== 'rotateRootKey'))(
    'returns what the Candid library returns for $name',
    ({ parameters, values }) => {
      fc.assert(
        fc.property(values, (sent) => {
          const bytes = new Uint8Array(IDL.encode(parameters, sent));
          // Numbers beyond 140 bits, which no method needs, have a test below.
          fc.pre(!hasHugeNumber(sent));
          const [own, known] = [decode(parameters, bytes), IDL.decode(parameters, bytes)];
          // expect() would take most of the time for equal values.
          if (!isDeepStrictEqual(own, known)) expect(own).toEqual(known);
        }),
        { numRuns: 30 },
      );
    },
  );

  test('reads records with fewer or more fields, in any order', () => {
    const Known = IDL.Record({ name: IDL.Text, count: IDL.Opt(IDL.Int), next: IDL.Opt(IDL.Bool) });
    const Other = IDL.Record({
      zebra: IDL.Vec(IDL.Record({ a: IDL.Float64, b: IDL.Opt(IDL.Nat64), p: IDL.Principal })),
      name: IDL.Text,
      count: IDL.Nat,
      more: IDL.Variant({ x: IDL.Int16, y: IDL.Null }),
    });
    const zebra = [{ a: 1.5, b: [7n], p: people[1] }];
    const bytes = IDL.encode([Other], [{ zebra, name: 'n', count: 9n, more: { x: -2 } }]);
    expect(decode([Known], bytes)).toEqual([{ name: 'n', count: [9n], next: [] }]);
  });

  test('reads a plain value as an option of its type, as earlier callers send it', () => {
    const Now = IDL.Record({ path: IDL.Text, size: IDL.Opt(IDL.Nat) });
    const Then = IDL.Record({ path: IDL.Text, size: IDL.Nat });
    const Never = IDL.Record({ path: IDL.Text });
    const path = 'p';
    expect(decode([Now], IDL.encode([Then], [{ path, size: 5n }]))).toEqual([{ path, size: [5n] }]);
    expect(decode([Now], IDL.encode([Now], [{ path, size: [5n] }]))).toEqual([
      { path, size: [5n] },
    ]);
    expect(decode([Now], IDL.encode([Never], [{ path }]))).toEqual([{ path, size: [] }]);
  });

  test('reads null, reserved and an empty option of another type as an absent option', () => {
    const types = [IDL.Opt(IDL.Text), IDL.Opt(IDL.Text), IDL.Opt(IDL.Text), IDL.Opt(IDL.Text)];
    const sent = [IDL.Opt(IDL.Nat), IDL.Null, IDL.Reserved, IDL.Text];
    expect(decode(types, IDL.encode(sent, [[], null, null, 'a']))).toEqual([[], [], [], ['a']]);
  });

  test('refuses an option whose value has another type, which no caller sends for an absent option', () => {
    const refuse = (type: IDL.Type, value: unknown) => () =>
      decode([IDL.Opt(IDL.Text)], IDL.encode([type], [value]));
    expect(refuse(IDL.Opt(IDL.Nat), [5n])).toThrow('must be opt text; got opt nat');
    expect(refuse(IDL.Nat, 5n)).toThrow('must be opt text; got nat');
  });

  test('reads missing trailing options as absent, and skips additional arguments', () => {
    const types = [IDL.Text, IDL.Opt(IDL.Nat), IDL.Opt(IDL.Record({ a: IDL.Text }))];
    expect(decode(types, IDL.encode([IDL.Text], ['a']))).toEqual(['a', [], []]);
    const more = IDL.encode([...types, IDL.Vec(IDL.Text)], ['a', [1n], [], ['x', 'y']]);
    expect(decode(types, more)).toEqual(['a', [1n], []]);
    expect(() => decode(types, IDL.encode([], []))).toThrow('is missing: it must be text');
  });

  test('reads variants and numbers up to 20 bytes', () => {
    const Known = IDL.Opt(IDL.Variant({ vetkd: IDL.Text, stored: IDL.Null }));
    expect(decode([Known], IDL.encode([Known], [[{ stored: null }]]))).toEqual([
      [{ stored: null }],
    ]);
    const Other = IDL.Variant({ other: IDL.Nat });
    const unknown = () => decode([Known], IDL.encode([IDL.Opt(Other)], [[{ other: 1n }]]));
    expect(unknown).toThrow('an unknown variant tag: it must be one of stored; vetkd');
    const numbers = [0n, -1n, 63n, 64n, -64n, -65n, 2n ** 48n, -(2n ** 49n), 2n ** 138n];
    for (const number of numbers) {
      expect(decode([IDL.Int], IDL.encode([IDL.Int], [number]))).toEqual([number]);
    }
    expect(() => decode([IDL.Int], IDL.encode([IDL.Int], [2n ** 140n]))).toThrow('20 bytes');
  });

  test.each([
    ['bytes', { bytes: 100 }],
    ['textBytes', { textBytes: 20 }],
    ['values', { values: 3 }],
  ])('refuses arguments beyond the bound of %s', (_, bound) => {
    const argument = IDL.encode([IDL.Vec(IDL.Text)], [Array(12).fill('abcdefghijk')]);
    expect(decode([IDL.Vec(IDL.Text)], argument)).toHaveLength(1);
    const refuse = () => decode([IDL.Vec(IDL.Text)], argument, { ...wide, ...bound });
    expect(refuse).toThrow(CandidFault);
  });

  test(`answers every hostile argument with values or a fault, seed ${seed}`, () => {
    const random = randomNumbers(seed);
    const bounds = { bytes: 16_384, textBytes: 16_384, values: 128 };
    for (const method of methods) {
      const honest = { apiKey: 'efs_', uploadId: '00' };
      for (const { name, argument } of hostileArguments(method, honest)) {
        if (random(oneOf) > 0) continue;
        const bytes = argument();
        try {
          decode(method.parameters, bytes, bounds);
        } catch (error) {
          if (!(error instanceof CandidFault)) expect.fail(`${method.name}, ${name}: ${error}`);
        }
      }
    }
  });
});
