import { IDL } from '@dfinity/candid';
import { beforeAll, describe, expect, test } from 'vitest';
import { FileUpload, ResultBytes } from '../../src/actor/candid/types.ts';
import * as messages from '../../src/actor/messages/file-messages.ts';
import { encodeBytesResult } from '../../src/actor/messages/file-messages.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

const bounds = { bytes: 10_000_000, textBytes: 10_000_000, values: 100_000 };
const decodeFileUpload = (bytes: Uint8Array) => messages.decodeFileUpload(bytes, bounds);

const required = {
  bucketId: 'box',
  path: '/ü',
  contentType: 'a/b',
  bytes: Uint8Array.of(1, 2, 3),
};
const options = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [], metadata: [] };
const absent = { sha256: undefined, ifMatch: undefined, ifNoneMatch: undefined, apiKey: undefined };

describe('decodeFileUpload()', () => {
  test('reads what an agent writes', () => {
    const all = {
      ...options,
      tags: [['x', 'ö']],
      sha256: ['00'],
      apiKey: ['efs_'],
      ifMatch: ['*'],
      metadata: [
        [
          ['mtime', '1'],
          ['ö', ''],
        ],
      ],
    };
    expect(decodeFileUpload(IDL.encode([FileUpload], [{ ...required, ...all }]))).toEqual({
      ...required,
      ...absent,
      tags: ['x', 'ö'],
      sha256: '00',
      apiKey: 'efs_',
      ifMatch: '*',
      metadata: [
        ['mtime', '1'],
        ['ö', ''],
      ],
    });
    const none = decodeFileUpload(IDL.encode([FileUpload], [{ ...required, ...options }]));
    expect(none).toEqual({ ...required, ...absent, tags: [], metadata: [] });
  });

  test('returns the bytes as a view, without a copy', () => {
    const argument = IDL.encode([FileUpload], [{ ...required, ...options }]);
    expect(decodeFileUpload(argument).bytes.buffer).toBe(argument.buffer);
  });

  test('reads messages with fewer or more fields', () => {
    const text = IDL.Text;
    const fields = { bucketId: text, path: text, contentType: text, bytes: IDL.Vec(IDL.Nat8) };
    const few = IDL.encode([IDL.Record(fields)], [required]);
    expect(decodeFileUpload(few)).toMatchObject({ ...required, tags: [] });
    const more = IDL.encode(
      [IDL.Record({ ...fields, other: IDL.Nat, ifMatch: IDL.Opt(text) })],
      [{ ...required, other: 1n, ifMatch: ['"a"'] }],
    );
    expect(decodeFileUpload(more)).toMatchObject({ ...required, ifMatch: '"a"', tags: [] });
  });

  test('refuses more than 100 tags or metadata entries', () => {
    const tags = [Array.from({ length: 201 }, () => '')];
    const argument = IDL.encode([FileUpload], [{ ...required, ...options, tags }]);
    expect(() => decodeFileUpload(argument)).toThrow('lists 201 items, more than the limit of 100');
    const metadata = [Array.from({ length: 101 }, () => ['a', 'b'])];
    const noted = IDL.encode([FileUpload], [{ ...required, ...options, metadata }]);
    expect(() => decodeFileUpload(noted)).toThrow('lists 101 items, more than the limit of 100');
  });

  test('refuses a message truncated at any byte', () => {
    const argument = IDL.encode([FileUpload], [{ ...required, ...options, tags: [['x']] }]);
    for (let length = 0; length < argument.length; length++) {
      expect(() => decodeFileUpload(argument.slice(0, length))).toThrow(RangeError);
    }
  });
});

describe('encodeBytesResult()', () => {
  test.each([0, 1, 127, 128, 70_000])('writes %i bytes as the Candid library does', (length) => {
    const result = { ok: new Uint8Array(length).fill(7) };
    const expected = IDL.encode([ResultBytes], [result]);
    expect(Buffer.compare(new Uint8Array(Buffer.concat(encodeBytesResult(result))), expected)).toBe(
      0,
    );
  });

  test('writes an error', () => {
    const result = { err: 'NoSuchFile: there is none' };
    expect(
      IDL.decode([ResultBytes], new Uint8Array(Buffer.concat(encodeBytesResult(result)))),
    ).toEqual([result]);
  });
});
