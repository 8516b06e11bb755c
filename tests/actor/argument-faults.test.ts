// The error for a wrong argument names its position and the expected type, and quotes nothing of
// the argument.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ApiKeyRequest } from '../../src/actor/candid/operations.ts';
import { CandidFault } from '../../src/actor/candid/reader.ts';
import * as types from '../../src/actor/candid/types.ts';
import { decodeWithin, planOf } from '../../src/actor/messages/argument-decoder.ts';
import { explainArgument } from '../../src/actor/messages/argument-faults.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

const { BatchedFile, BucketOptions, FileBatch } = types;
const bounds = { bytes: 20_000, textBytes: 10_000, values: 300 };

interface Sent {
  readonly types: IDL.Type[];
  readonly values: unknown[];
}

/** Returns the error of a method with the parameters `expected` for `argument`. */
function toldOf(expected: IDL.Type[], argument: Uint8Array): string | undefined {
  try {
    decodeWithin(expected.map(planOf), argument, bounds);
  } catch (error) {
    if (error instanceof CandidFault) return explainArgument(error);
    throw error;
  }
  return 'decoded';
}

function told(expected: IDL.Type[], sent: Sent): string | undefined {
  return toldOf(expected, new Uint8Array(IDL.encode(sent.types, sent.values)));
}

/** Returns a record of `type`, except that one field has another type and a value of that type. */
function withField(type: IDL.RecordClass, name: string, other: [IDL.Type, unknown]): Sent {
  const fields = type._fields.map(([field, own]): [string, IDL.Type, unknown] =>
    field === name ? [field, ...other] : [field, own, own === IDL.Text ? 'n' : []],
  );
  const sent = IDL.Record(Object.fromEntries(fields.map(([field, own]) => [field, own])));
  return {
    types: [sent],
    values: [Object.fromEntries(fields.map(([field, , value]) => [field, value]))],
  };
}

describe('decodeWithin(): a wrong argument', () => {
  test('is named by its number if there are several', () => {
    const expected = [IDL.Text, IDL.Opt(BucketOptions)];
    expect(told(expected, { types: [IDL.Nat], values: [42n] })).toBe(
      'argument 1 must be text; got nat',
    );
    expect(told(expected, { types: [], values: [] })).toBe(
      'argument 1 is missing: it must be text',
    );
    expect(told(expected, { types: [IDL.Text, IDL.Bool], values: ['a', true] })).toBe(
      'argument 2 must be opt record {quotaBytes; endToEnd; isListed; quotaFiles; retention; isSite; keepVersionsDays; isPublic}; got bool',
    );
  });

  test('is named by its field, with the unit if it is a number', () => {
    const wrong = withField(ApiKeyRequest, 'expiresAt', [IDL.Text, '2027-01-01']);
    expect(told([ApiKeyRequest], wrong)).toBe(
      "the argument's field expiresAt must be opt int (nanoseconds since 1970); got text",
    );
    const Partial = IDL.Record({ name: IDL.Text, buckets: IDL.Vec(IDL.Text) });
    expect(told([ApiKeyRequest], { types: [Partial], values: [{ name: 'n', buckets: [] }] })).toBe(
      "the argument's field permissions is missing: it must be vec text",
    );
  });

  test('is named by its path inside a list or an option', () => {
    const Files = IDL.Vec(IDL.Record({ path: IDL.Text, contentType: IDL.Nat }));
    const files = [{ path: '/a', contentType: 1n }];
    expect(told([FileBatch], withField(FileBatch, 'files', [Files, files]))).toBe(
      "the argument's field files[0].contentType must be opt text; got nat",
    );
    const Options = IDL.Opt(IDL.Record({ quotaBytes: IDL.Text }));
    const options = { types: [IDL.Text, Options], values: ['b', [{ quotaBytes: '10' }]] };
    expect(told([IDL.Text, IDL.Opt(BucketOptions)], options)).toBe(
      "argument 2's field quotaBytes must be opt nat (bytes); got text",
    );
  });

  test('is named by its index in a list', () => {
    const allow = Array.from({ length: 5 }, () => Principal.anonymous());
    const Allowed = IDL.Record({ allow: IDL.Opt(IDL.Vec(IDL.Principal)) });
    const argument = new Uint8Array(IDL.encode([Allowed], [{ allow: [allow] }]));
    // Each principal takes three bytes; the tag of the fourth is changed to an opaque reference.
    argument[argument.length - 6] = 0;
    expect(toldOf([types.AccessChange], argument)).toBe(
      "the argument's field allow[3] has an opaque principal reference",
    );
  });

  test('is named by the field that has too many items; too many arguments are counted', () => {
    const many = withField(ApiKeyRequest, 'buckets', [IDL.Vec(IDL.Text), Array(400).fill('a')]);
    expect(told([ApiKeyRequest], many)).toMatch(
      /^the argument's field buckets lists 400 items, more than the limit of \d+$/,
    );
    const argument = new Uint8Array(IDL.encode(Array(12).fill(IDL.Nat), Array(12).fill(1n)));
    expect(() => decodeWithin([planOf(IDL.Nat)], argument, bounds)).toThrow(
      'lists 12 arguments, more than the limit of 9',
    );
  });

  test('does not result from unknown fields and arguments', () => {
    const Wide = IDL.Record({ ...Object.fromEntries(BucketOptions._fields), zebra: IDL.Nat });
    const empty = Object.fromEntries(BucketOptions._fields.map(([name]) => [name, []]));
    const value = { ...empty, zebra: 1n };
    const sent = { types: [Wide, IDL.Text], values: [value, 'more'] };
    expect(told([BucketOptions], sent)).toBe('decoded');
  });

  test('is reported without its values', () => {
    const secret = `efs_${'s3cr3t'.repeat(6)}`;
    const others: [IDL.Type, unknown][] = [
      [IDL.Text, secret],
      [IDL.Opt(IDL.Text), [secret]],
      [IDL.Vec(IDL.Text), [secret, secret]],
      [IDL.Record({ s3cr3t: IDL.Text }), { s3cr3t: secret }],
      [IDL.Variant({ s3cr3t: IDL.Text }), { s3cr3t: secret }],
      [IDL.Vec(IDL.Nat8), new TextEncoder().encode(secret)],
      [IDL.Nat, BigInt(`0x${Buffer.from(secret).toString('hex')}`)],
    ];
    const records = [ApiKeyRequest, FileBatch, BatchedFile, BucketOptions];
    const fields = records.flatMap((type) => type._fields.map(([name]) => ({ type, name })));
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(...others), (field, other) => {
        const words = told([field.type], withField(field.type, field.name, other));
        expect(words).toBeTypeOf('string');
        expect(words).not.toMatch(/s3cr3t|\d{20}/);
      }),
      { numRuns: 300 },
    );
  });
});

describe('decodeWithin() refuses a type table', () => {
  const refuse = (...bytes: number[]) => {
    const message = Uint8Array.of(...Buffer.from('DIDL'), ...bytes);
    return () => decodeWithin([], message, bounds);
  };
  const { opt, record, bool } = { opt: 0x6e, record: 0x6c, bool: 0x7e };

  test('that refers to a type beyond its end, even if no argument has that type', () => {
    expect(refuse(1, opt, 0, 0)).not.toThrow();
    expect(refuse(1, opt, 1, 0)).toThrow('refers to a type outside of its type table');
    expect(refuse(2, record, 1, 7, 2, opt, bool, 0)).toThrow('outside of its type table');
  });

  test('that has a field whose id has more than 32 bits', () => {
    const field = (last: number) => [1, record, 1, 0xff, 0xff, 0xff, 0xff, last, bool, 0];
    expect(refuse(...field(0x0f))).not.toThrow();
    expect(refuse(...field(0x1f))).toThrow('has a field whose id has more than 32 bits');
  });
});
