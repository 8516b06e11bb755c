import { IDL } from '@dfinity/candid';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ResultFile, ResultFileList, ResultFolderPage } from '../../src/actor/candid/types.ts';
import {
  encodeFileListResult,
  encodeFileResult,
  encodeFolderPageResult,
} from '../../src/actor/messages/file-record-messages.ts';
import { retentionFields } from '../../src/actor/messages/retention-arguments.ts';
import { type FileRecord, fileId } from '../../src/domain/files/file-fields.ts';
import { partsOfFile } from '../../src/domain/files/file-records.ts';
import { fileView } from '../../src/domain/files/file-view.ts';
import { installNodeText } from '../support/memory-stores.ts';

beforeAll(installNodeText);

// Texts of a record contain no NUL; JSON escapes quotes and backslashes.
const character = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  fc.constantFrom('/', '"', '\\', ',', 'ü', '漢', '😀', ' '),
);
const textOf = (maxLength: number) =>
  fc
    .array(character, { minLength: 1, maxLength })
    .map((characters) => characters.join('').toWellFormed().replaceAll('\0', ''));
const time = fc.oneof(fc.bigInt(0n, 2n ** 63n - 1n), fc.bigInt(2n ** 60n, 2n ** 61n));
const count = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 50 }));

const fileRecord: fc.Arbitrary<FileRecord> = fc.record({
  id: fc.bigInt(0n, 2n ** 64n - 1n).map(fileId),
  contentId: fc.nat(),
  keySlot: fc.nat(),
  bucketId: fc.stringMatching(/^[a-z0-9-]{3,63}$/),
  path: fc.oneof(textOf(20), textOf(300)),
  contentType: fc.constantFrom('a/b', `text/${'x'.repeat(200)}`, 'text/plain; charset="ü"'),
  tags: fc.oneof(fc.array(textOf(8), { maxLength: 3 }), fc.array(textOf(60), { maxLength: 10 })),
  headers: fc.tuple(
    fc.constantFrom('', 'no-store'),
    fc.constantFrom('', 'inline; filename="a"'),
    fc.constantFrom('', 'gzip'),
    fc.constantFrom('', 'de'),
  ),
  metadata: fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,9}$/), textOf(20)), {
    maxLength: 3,
    selector: ([name]) => name,
  }),
  size: count,
  chunkSize: fc.nat(),
  chunkCount: fc.oneof(fc.nat(2), fc.nat(3_000)),
  digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  version: fc.oneof(fc.nat(200), fc.nat(2 ** 31 - 1)),
  createdAtNs: time,
  updatedAtNs: time,
  leavesVersion: fc.constantFrom(1 as const, 2 as const),
  retention: fc.oneof(
    fc.constant(undefined),
    fc.record({
      mode: fc.constantFrom('governance' as const, 'compliance' as const),
      untilNs: time,
      hasHold: fc.boolean(),
    }),
    fc.constant({ untilNs: 0n, hasHold: true }),
  ),
});

const page = fc.record({
  page: count,
  pageSize: count,
  total: count,
  pages: count,
  hasMore: fc.boolean(),
  nextPage: fc.option(count),
  prefix: fc.oneof(fc.constant(''), textOf(200)),
  sort: fc.constantFrom('name_asc' as const, 'date_desc' as const),
});

/** Returns Candid's FileRecord: the record of the JSON interface with times in nanoseconds. */
function candidRecord(file: FileRecord) {
  const { sha256, retention: _, ...view } = fileView(file);
  const { createdAtNs: createdAt, updatedAtNs: updatedAt } = file;
  const metadata = file.metadata.map(([name, value]) => [name, value]);
  const retention = retentionFields(file.retention);
  const digest = sha256 === undefined ? [] : [sha256];
  return { ...view, metadata, retention, sha256: digest, createdAt, updatedAt };
}

function throughLibrary(type: IDL.Type, result: object): unknown {
  return IDL.decode([type], IDL.encode([type], [result]));
}

describe('encodeFileResult()', () => {
  test('writes the same message as the Candid library', () => {
    fc.assert(
      fc.property(fileRecord, (file) => {
        const decoded = IDL.decode([ResultFile], encodeFileResult({ ok: partsOfFile(file) }));
        expect(decoded).toEqual(throughLibrary(ResultFile, { ok: candidRecord(file) }));
      }),
    );
  });

  test('writes a file of the present byte for byte as the Candid library does', () => {
    fc.assert(
      fc.property(fileRecord, fc.bigInt(2n ** 60n, 2n ** 61n), (record, now) => {
        const file = { ...record, createdAtNs: now, updatedAtNs: now + 1n };
        const expected = IDL.encode([ResultFile], [{ ok: candidRecord(file) }]);
        expect(Buffer.compare(encodeFileResult({ ok: partsOfFile(file) }), expected)).toBe(0);
      }),
    );
  });

  test('writes an error', () => {
    const result = { err: 'NoSuchFile: there is none' };
    expect(IDL.decode([ResultFile], encodeFileResult(result))).toEqual([result]);
  });
});

describe('encodeFileListResult()', () => {
  test('writes the same message as the Candid library, for empty and full pages', () => {
    fc.assert(
      fc.property(page, fc.array(fileRecord, { maxLength: 50, size: 'max' }), (numbers, files) => {
        const list = { ...numbers, bucketId: 'box', paths: [] };
        const encoded = encodeFileListResult({
          ok: { list, records: files.map((file) => partsOfFile(file)) },
        });
        const nextPage = numbers.nextPage === null ? [] : [numbers.nextPage];
        const items = files.map(candidRecord);
        const expected = throughLibrary(ResultFileList, { ok: { ...numbers, nextPage, items } });
        expect(IDL.decode([ResultFileList], encoded)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
    const list = { page: 1, pageSize: 10, total: 0, pages: 0, hasMore: false, nextPage: null };
    const empty = { ...list, prefix: '', sort: 'name_asc', bucketId: 'box', paths: [] } as const;
    const encoded = encodeFileListResult({ ok: { list: empty, records: [] } });
    const expected = { ...list, prefix: '', sort: 'name_asc', nextPage: [], items: [] };
    expect(Buffer.from(encoded)).toEqual(
      Buffer.from(IDL.encode([ResultFileList], [{ ok: expected }])),
    );
  });

  test('writes an error', () => {
    const result = { err: 'InvalidArgument: page' };
    expect(IDL.decode([ResultFileList], encodeFileListResult(result))).toEqual([result]);
  });
});

describe('encodeFolderPageResult()', () => {
  const texts = fc.record({
    prefix: fc.oneof(fc.constant(''), textOf(200)),
    delimiter: fc.constantFrom('', '/'),
  });
  const folders = fc.array(textOf(300), { maxLength: 30 });
  const cursor = fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{2,1400}$/));

  test('writes the same message as the Candid library', () => {
    fc.assert(
      fc.property(texts, folders, cursor, fc.array(fileRecord), (names, paths, next, files) => {
        const list = { ...names, bucketId: 'box', entries: [], hasMore: false };
        const page = {
          items: files.map((file) => partsOfFile(file)),
          folders: paths.map((path) => new Uint8Array(Buffer.from(path))),
          nextCursor: next,
        };
        const expected = {
          ...names,
          items: files.map(candidRecord),
          folders: paths.map((path) => ({ path })),
          nextCursor: next === null ? [] : [next],
        };
        const decoded = IDL.decode(
          [ResultFolderPage],
          encodeFolderPageResult({ ok: { list, page } }),
        );
        expect(decoded).toEqual(throughLibrary(ResultFolderPage, { ok: expected }));
      }),
      { numRuns: 30 },
    );
  });

  test('writes an error', () => {
    const result = { err: 'InvalidArgument: limit' };
    expect(IDL.decode([ResultFolderPage], encodeFolderPageResult(result))).toEqual([result]);
  });
});
