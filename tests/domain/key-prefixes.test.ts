// API keys with a path prefix, tested in the domain; tests/acceptance/key-prefix.test.ts tests that
// no operation reaches beyond the prefix.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getUsage } from '../../src/domain/administration/bucket-usage.ts';
import { skipUpgrade } from '../../src/domain/administration/record-upgrade.ts';
import { moveFile } from '../../src/domain/files/copies.ts';
import { checkDeletions, deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { listVersions } from '../../src/domain/files/versions.ts';
import { cursorOf } from '../../src/domain/listing/cursors.ts';
import { listFolder } from '../../src/domain/listing/folder-listing.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import { authorize, authorizeList } from '../../src/domain/rights/rights.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { listUploads } from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  plainMetadata,
  putChunks,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
/** Has every permission on `m/`. */
let apiKey: string;
const nobody = callOf('anonymous');
const utf8 = (text: string) => new Uint8Array(Buffer.from(text));
const texts = (paths: readonly Uint8Array[]) => paths.map((path) => Buffer.from(path).toString());
const all = ['read', 'write', 'delete'] as const;

beforeEach(async () => {
  ({ stores } = await createScene());
  skipUpgrade(stores);
  apiKey = makeKey(stores, { permissions: all, buckets: ['box', 'other'], prefix: 'm/' });
  for (const path of ['a/1', 'm/1', 'm/2/x', 'm/2/y', 'z/1']) putTestFile(stores, { path });
});

describe('authorize()', () => {
  test.each(['m/a', '/m/a', 'm/', 'm/../z/1'])('grants %j within the prefix of the key', (path) => {
    for (const bucket of ['box', 'other']) {
      const grant = authorize(stores, nobody, { bucket, path, permission: 'write', apiKey });
      expect(grant.key?.prefix).toBe('m/');
    }
  });

  test.each(['m', 'M/a', '//m/a', 'ma', '', 'a/m/'])(
    'refuses %j and names the prefix of the key',
    (path) => {
      const claim = { bucket: 'box', path, permission: 'write', apiKey } as const;
      const { message } = expectRefusal(stores, 'AccessDenied', () =>
        authorize(stores, nobody, claim),
      );
      expect(message).toBe('The API key is restricted to paths that begin with "m/".');
    },
  );

  test("compares a prefix literally, and grants only one within the key's", () => {
    const ask = (prefix: string) => () =>
      authorize(stores, nobody, { bucket: 'box', prefix, permission: 'delete', apiKey });
    for (const prefix of ['m/', 'm/2']) expect(ask(prefix)().key?.prefix).toBe('m/');
    for (const prefix of ['', 'm', '/m/', 'z']) expectRefusal(stores, 'AccessDenied', ask(prefix));
  });

  test('grants every path to a key without a prefix', () => {
    const key = makeKey(stores, { permissions: all, prefix: '' });
    for (const path of ['m/a', 'z', '']) {
      for (const sent of [key, undefined]) {
        const claim = { bucket: 'box', path, permission: 'write', apiKey: sent } as const;
        expect(authorize(stores, callOf('alice'), claim).bucket.id).toBe('box');
      }
    }
  });

  test('grants all paths that begin with a prefix without a slash', () => {
    const open = makeKey(stores, { prefix: 'm' });
    const ask = (path: string) => () =>
      authorize(stores, nobody, { bucket: 'box', path, permission: 'write', apiKey: open });
    for (const path of ['m', 'm/a', 'mails/a']) expect(ask(path)).not.toThrow();
    expectRefusal(stores, 'AccessDenied', ask('n'));
  });
});

describe('authorize(): lists', () => {
  const none = { sort: undefined, tag: undefined };
  const folders = { ...none, delimiter: '/', cursor: undefined, limit: undefined };
  const pages = { ...none, page: undefined, pageSize: undefined };

  test.each([undefined, '', 'm', 'm/'])(
    "with the prefix %j contain all files within the key's prefix",
    (prefix) => {
      const request = { bucket: 'box', apiKey, prefix };
      const page = listFiles(stores, nobody, { ...request, ...pages });
      expect(texts(page.paths)).toEqual(['m/1', 'm/2/x', 'm/2/y']);
      expect([page.total, page.prefix]).toEqual([3, 'm/']);
      const folder = listFolder(stores, nobody, { ...request, ...folders });
      expect(texts(folder.entries)).toEqual(['m/1', 'm/2/']);
      expect(folder.prefix).toBe('m/');
      expect(getUsage(stores, nobody, request)).toMatchObject({ files: 3, prefix: 'm/' });
    },
  );

  test('with a longer prefix contain only the files below it', () => {
    const request = { bucket: 'box', apiKey, prefix: 'm/2/' };
    expect(texts(listFiles(stores, nobody, { ...request, ...pages }).paths)).toHaveLength(2);
    expect(getUsage(stores, nobody, request)).toMatchObject({ files: 2, prefix: 'm/2/' });
  });

  test.each(['z/', 'mm', '/m/', 'M'])('with the prefix %j are refused', (prefix) => {
    const request = { bucket: 'box', apiKey, prefix };
    for (const list of [
      () => listFiles(stores, nobody, { ...request, ...pages }),
      () => listFolder(stores, nobody, { ...request, ...folders }),
      () => listVersions(stores, nobody, request),
      () => getUsage(stores, nobody, request),
      () => authorizeList(stores, nobody, request),
    ]) {
      expectRefusal(stores, 'AccessDenied', list);
    }
  });

  test.each(['name_asc', 'name_desc'])(
    "do not continue outside the key's prefix by a cursor, %s",
    (sort) => {
      for (const name of ['a', 'a/', 'm', 'z/1', 'zz/']) {
        const position = { ...folders, sort, cursor: cursorOf(utf8(name)) };
        const request = { bucket: 'box', apiKey, prefix: '', ...position };
        for (const delimiter of ['/', '']) {
          const { entries } = listFolder(stores, nobody, { ...request, delimiter });
          expect(texts(entries).filter((path) => !path.startsWith('m/'))).toEqual([]);
        }
      }
    },
  );
});

test("authorize(): lists of versions do not continue outside the key's prefix by a cursor", () => {
  updateBucket(stores, callOf('alice'), bucketChange({ keepVersionsDays: 1n }));
  for (const path of ['a/1', 'm/1', 'z/1']) putTestFile(stores, { path, bytes: testBytes(9, 2) });
  for (const name of ['', 'a/1\x000', 'm/1\x000', 'm/1\x001', 'z\x001']) {
    const cursor = name === '' ? undefined : cursorOf(utf8(name));
    for (const place of [{}, { prefix: 'm/' }, { path: 'm/1' }]) {
      const request = { bucket: 'box', apiKey, cursor, ...place };
      const { items } = listVersions(stores, nobody, request);
      expect(items.filter(({ file }) => file.path !== 'm/1')).toEqual([]);
    }
  }
});

describe('authorize(): a deletion', () => {
  const deletion = (fields: object) => ({ bucket: 'box', apiKey, read: () => fields });

  test("by a prefix that exceeds the key's is refused as a whole", () => {
    for (const prefix of ['', 'm', 'z/']) {
      const request = deletion({ prefix });
      expectRefusal(stores, 'AccessDenied', () => deleteFiles(stores, nobody, request));
      expectRefusal(stores, 'AccessDenied', () => checkDeletions(stores, nobody, request));
    }
    const cursor = cursorOf(utf8('a'));
    const { results } = deleteFiles(stores, nobody, deletion({ prefix: 'm/', cursor }));
    expect(results.map(({ path }) => path)).toEqual(['m/1', 'm/2/x', 'm/2/y']);
  });

  test("by paths refuses each path outside the key's prefix", () => {
    const paths = ['m/1', 'a/1', '/z/1', 'none'];
    const { results } = deleteFiles(stores, nobody, deletion({ paths }));
    expect(results.map(({ refusal }) => refusal?.code)).toEqual([
      undefined,
      ...Array(3).fill('AccessDenied'),
    ]);
  });
});

test("authorize(): one path outside the key's prefix refuses a batch", () => {
  const fileAt = (path: string) => ({
    path,
    read: () => ({ metadata: plainMetadata, bytes: testBytes(3) }),
  });
  const batch = { bucket: 'box', apiKey, readFiles: () => ['m/n', 'z/1', 'z/n'].map(fileAt) };
  const results = uploadBatch(stores, nobody, batch);
  expect(results.map(({ refusal }) => refusal?.code)).toEqual([
    'NotStored',
    'AccessDenied',
    'AccessDenied',
  ]);
});

test('authorize(): a move to another bucket must stay within the prefix there', () => {
  const request = { bucket: 'box', from: 'm/1', conditions: {}, apiKey };
  const to = (path: string) => ({ ...request, to: { bucket: 'other', path } });
  expectRefusal(stores, 'AccessDenied', () => moveFile(stores, nobody, to('n/1')));
  expect(moveFile(stores, nobody, to('m/9')).file.path).toBe('m/9');
});

describe('authorize(): a session', () => {
  test('is listed for the key that began it', () => {
    const own = begin(stores, nobody, { path: 'm/own', apiKey });
    begin(stores, callOf('alice'), { path: 'm/alices' });
    begin(stores, callOf('alice'), { path: 'z/alices' });
    const found = listUploads(stores, nobody, { bucket: 'box', apiKey });
    expect(found.map(({ uploadId }) => uploadId)).toEqual([own.uploadId]);
    const whole = makeKey(stores, { permissions: all });
    expect(listUploads(stores, nobody, { bucket: 'box', apiKey: whole })).toHaveLength(3);
    const writes = makeKey(stores, { permissions: ['write'], prefix: 'm/' });
    const request = { bucket: 'box', apiKey: writes };
    expectRefusal(stores, 'AccessDenied', () => listUploads(stores, nobody, request));
  });

  test('cannot be completed with a key for another prefix', () => {
    const whole = makeKey(stores, { permissions: all });
    const { uploadId } = begin(stores, nobody, { path: 'z/new', size: 3n, apiKey: whole });
    putChunks(stores, nobody, { uploadId, chunks: [[0, testBytes(3)]] });
    expectRefusal(stores, 'AccessDenied', () =>
      completeUpload(stores, nobody, { uploadId, apiKey }),
    );
    expect(completeUpload(stores, nobody, { uploadId, apiKey: whole }).status).toBe('completed');
  });
});
