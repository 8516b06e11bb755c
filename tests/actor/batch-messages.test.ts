import { IDL } from '@dfinity/candid';
import { beforeAll, describe, expect, test } from 'vitest';
import { batchItemCountMax } from '../../packages/wire/src/limits.ts';
import { CandidFault } from '../../src/actor/candid/reader.ts';
import { BatchedFile, FileBatch, FileDeletion } from '../../src/actor/candid/types.ts';
import { decodeFileBatch, decodeFileDeletion } from '../../src/actor/messages/batch-messages.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

const bounds = { bytes: 2_097_152, textBytes: 262_144, values: 320 };
const readBatch = (bytes: Uint8Array) => decodeFileBatch(bytes, bounds);
const readDeletion = (bytes: Uint8Array) => decodeFileDeletion(bytes, bounds);

const options = {
  contentType: [],
  tags: [],
  headers: [],
  sha256: [],
  ifMatch: [],
  ifNoneMatch: [],
  metadata: [],
};
const plain = { path: '/ü', bytes: new Uint8Array(200).fill(1), ...options };
const full = {
  path: 'x'.repeat(300),
  bytes: new Uint8Array(0),
  contentType: ['a/b'],
  tags: [['x', 'ö']],
  headers: [[['cache-control', 'no-cache']]],
  sha256: ['00'],
  ifMatch: ['*'],
  ifNoneMatch: ['"a"'],
  metadata: [[['mtime', '1']]],
};

function encodeBatch(files: object[], apiKey: string[] = ['efs_']): Uint8Array {
  return new Uint8Array(IDL.encode([FileBatch], [{ bucketId: 'box', files, apiKey }]));
}

describe('decodeFileBatch()', () => {
  test('reads what an agent writes, and decodes the files on request', () => {
    const files = [plain, full, { ...plain, bytes: new Uint8Array(20_000) }];
    const batch = readBatch(encodeBatch(files));
    expect(batch).toMatchObject({ bucketId: 'box', apiKey: 'efs_' });
    expect(batch.readFiles()).toEqual(files);
    // Reads them a second time, as an inspection and an update of one message do.
    expect(batch.readFiles()).toEqual(files);
    expect(readBatch(encodeBatch([], [])).readFiles()).toEqual([]);
  });

  test('returns the bytes as views, without a copy', () => {
    const argument = encodeBatch([plain]);
    expect(readBatch(argument).readFiles()[0]?.bytes.buffer).toBe(argument.buffer);
  });

  test('reads messages with fewer or more fields', () => {
    const few = IDL.Record({ path: IDL.Text, bytes: IDL.Vec(IDL.Nat8) });
    const types = IDL.Record({ bucketId: IDL.Text, files: IDL.Vec(few) });
    const { path, bytes } = plain;
    const sent = IDL.encode([types], [{ bucketId: 'box', files: [{ path, bytes }] }]);
    expect(readBatch(new Uint8Array(sent)).readFiles()).toEqual([plain]);
    const more = IDL.Record({ ...Object.fromEntries(BatchedFile._fields), other: IDL.Nat });
    const wide = IDL.Record({
      bucketId: IDL.Text,
      files: IDL.Vec(more),
      apiKey: IDL.Opt(IDL.Text),
    });
    const files = [{ ...full, other: 1n }];
    const argument = IDL.encode([wide], [{ bucketId: 'box', files, apiKey: [] }]);
    expect(readBatch(new Uint8Array(argument)).readFiles()).toEqual([full]);
  });

  test('refuses more than 200 files, and more tags in total than the limit of items', () => {
    expect(() => readBatch(encodeBatch(Array(201).fill(plain)))).toThrow('lists 201 items');
    const tags = [Array(batchItemCountMax / 2 + 1).fill('a')];
    expect(() =>
      readBatch(
        encodeBatch([
          { ...plain, tags },
          { ...plain, tags },
        ]),
      ),
    ).toThrow(`more than the limit of ${batchItemCountMax / 2 - 1}`);
  });

  test('refuses more than 128 files of 16 kB', () => {
    const bytes = new Uint8Array(16_384);
    expect(readBatch(encodeBatch(Array(128).fill({ ...plain, bytes }))).readFiles()).toHaveLength(
      128,
    );
    expect(() => readBatch(encodeBatch(Array(129).fill({ ...plain, bytes })))).toThrow(
      'lengths of three or more bytes',
    );
  });

  test('reports malformed files when they are read', () => {
    const argument = encodeBatch([plain]);
    const at = Buffer.from(argument).indexOf('/ü');
    argument[at + 1] = 0xff;
    const { readFiles } = readBatch(argument);
    expect(readFiles).toThrow(Refusal);
    expect(readFiles).toThrow('is not well-formed UTF-8');
  });

  test('refuses every truncated message', () => {
    const argument = encodeBatch([{ ...full, path: 'x' }]);
    for (let length = 0; length < argument.length; length++) {
      expect(() => readBatch(argument.slice(0, length)), `${length} bytes`).toThrow(CandidFault);
    }
  });
});

describe('decodeFileDeletion()', () => {
  const texts = { prefix: [], cursor: [], ifMatch: [], apiKey: [] };
  const none = { paths: [], bypassGovernance: [], ...texts };
  const encode = (fields: object) =>
    new Uint8Array(IDL.encode([FileDeletion], [{ bucketId: 'box', ...none, ...fields }]));

  test('reads what an agent writes, and decodes the paths on request', () => {
    const paths = ['a', 'ü'.repeat(100), ''];
    const listed = readDeletion(encode({ paths: [paths], ifMatch: ['"a"'], apiKey: ['efs_'] }));
    const conditions = { prefix: undefined, ifMatch: '"a"' };
    expect(listed).toMatchObject({ bucketId: 'box', apiKey: 'efs_', ...conditions });
    expect(listed.readPaths()).toEqual(paths);
    const prefixed = readDeletion(encode({ prefix: [''], cursor: ['b'] }));
    expect(prefixed).toMatchObject({ prefix: '', cursor: 'b' });
    expect(prefixed.readPaths()).toBeUndefined();
    expect(prefixed.bypassGovernance).toBeUndefined();
    for (const flag of [true, false]) {
      const bypassing = readDeletion(encode({ prefix: ['a'], bypassGovernance: [flag] }));
      expect(bypassing).toMatchObject({ prefix: 'a', bypassGovernance: flag });
    }
  });

  test('reads messages with fewer or more fields', () => {
    const few = IDL.Record({ bucketId: IDL.Text, prefix: IDL.Opt(IDL.Text) });
    const sent = IDL.encode([few], [{ bucketId: 'box', prefix: ['a'] }]);
    expect(readDeletion(new Uint8Array(sent))).toMatchObject({ bucketId: 'box', prefix: 'a' });
    const wide = IDL.Record({ ...Object.fromEntries(FileDeletion._fields), other: IDL.Nat });
    const more = { bucketId: 'box', ...none, paths: [['a']], other: 1n };
    expect(readDeletion(new Uint8Array(IDL.encode([wide], [more]))).readPaths()).toEqual(['a']);
  });

  test('refuses 1,001 paths and every truncated message', () => {
    expect(() => readDeletion(encode({ paths: [Array(1_001).fill('')] }))).toThrow('1001 items');
    const argument = encode({ paths: [['a', 'b']] });
    for (let length = 0; length < argument.length; length++) {
      expect(() => readDeletion(argument.slice(0, length))).toThrow(CandidFault);
    }
  });
});
