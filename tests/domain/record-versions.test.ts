// The first byte of a record is the version of its layout: each decoder reads the versions that it
// knows, including those of releases, and refuses others instead of guessing their fields.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { continueRotation, rotateBucketKey } from '../../src/domain/administration/key-rotation.ts';
import { upgradeRecords } from '../../src/domain/administration/record-upgrade.ts';
import { readTotals } from '../../src/domain/buckets/bucket-totals.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { findEndToEnd } from '../../src/domain/buckets/end-to-end.ts';
import { findChunk } from '../../src/domain/contents/chunk-records.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { decodeFile, isSealed } from '../../src/domain/files/file-layout.ts';
import { readFileParts } from '../../src/domain/files/file-records.ts';
import { rootKeyEntries } from '../../src/domain/keys/root-keys.ts';
import { findKeyByHash } from '../../src/domain/rights/api-keys.ts';
import { readBudget, saveBudget } from '../../src/domain/rights/budgets.ts';
import { requireCreator, updateCreators } from '../../src/domain/rights/creators.ts';
import { membersOf } from '../../src/domain/rights/members.ts';
import { createHeapState } from '../../src/domain/shared/heap-state.ts';
import { nextContentId } from '../../src/domain/shared/stores.ts';
import { findSession, saveSession } from '../../src/domain/uploads/upload-session.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import type { MemoryMap, MemoryStores } from '../support/memory-stores.ts';
import { oldFileDigest, oldFileRecord } from '../support/old-file-record.ts';
import { getPublicFile, readFilesJson } from '../support/read-files.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const controller = callOf('controller');
const unhex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const utf8 = (text: string) => new Uint8Array(Buffer.from(text));

beforeEach(async () => {
  ({ stores } = await createScene());
});

interface Kind {
  readonly map: (stores: MemoryStores) => MemoryMap;
  /** Creates a record; returns its key, or undefined for the first one of the map. */
  readonly make: () => string | undefined;
  readonly read: (key: Uint8Array) => unknown;
}

const meta = (make: () => string, read: () => unknown): Kind => ({
  map: (stores) => stores.meta,
  make,
  read,
});

const text = (key: Uint8Array) => Buffer.from(key).toString();

const kinds: Readonly<Record<string, Kind>> = {
  bucket: {
    map: (stores) => stores.buckets,
    make: () => 'box',
    read: (key) => findBucket(stores, text(key)),
  },
  'API key': {
    map: (stores) => stores.apiKeys,
    make: () => undefined,
    read: (key) => findKeyByHash(stores, key),
  },
  members: {
    map: (stores) => stores.members,
    make: () => {
      const { principal } = callOf('bob').caller;
      updateBucket(stores, alice, bucketChange({ addMembers: [{ principal, role: 'reader' }] }));
      return 'box';
    },
    read: () => membersOf(stores, 'box'),
  },
  file: {
    map: (stores) => stores.files,
    make: () => {
      putTestFile(stores);
      return 'box\0a';
    },
    read: () => getPublicFile(stores, 'box', '/a'),
  },
  chunk: {
    map: (stores) => stores.chunks,
    make: () => {
      putTestFile(stores);
      return undefined;
    },
    read: (key) => {
      const contentId = Number(Buffer.from(key).readBigUInt64BE(0));
      return findChunk(stores, { contentId, index: 0 });
    },
  },
  upload: {
    map: (stores) => stores.uploads,
    make: () => {
      begin(stores, alice);
      return undefined;
    },
    read: (key) => findSession(stores, Buffer.from(key).toString('hex')),
  },
  'discarded content': {
    map: (stores) => stores.reclaims,
    make: () => {
      // The note that discardContent() writes for one message: chunks 5 and 6 of content 9.
      stores.reclaims.set(
        unhex('0000000000000009'),
        unhex(`01${'0500000000000000'}07${'00'.repeat(7)}`),
      );
      return undefined;
    },
    read: () => reclaimContents(stores),
  },
  'count of contents': meta(
    () => 'nextContentId',
    () => nextContentId(stores),
  ),
  totals: meta(
    () => 'totals',
    () => readTotals(stores),
  ),
  'root keys': meta(
    () => 'rootKeys',
    () => rootKeyEntries({ ...stores, heap: createHeapState() }),
  ),
  'rotation of keys': meta(
    () => {
      rotateBucketKey(stores, alice, 'box');
      return 'keyRotation';
    },
    () => continueRotation(stores),
  ),
  'creators of buckets': meta(
    () => {
      updateCreators(stores, controller, { allow: [alice.caller.principal], disallow: [] });
      return 'bucketCreators';
    },
    () => requireCreator(stores, alice),
  ),
  'size of a budget': meta(
    () => {
      saveBudget(stores, 'anonymousUpdates', { burst: 5, perMinute: 1 });
      return 'anonymousUpdates';
    },
    // A new heap, as after an upgrade: the heap caches records.
    () => readBudget({ ...stores, heap: createHeapState() }, 'anonymousUpdates'),
  ),
  'end-to-end mode of a bucket': meta(
    () => {
      updateBucket(stores, alice, { ...bucketChange({ endToEnd: {} }), bucket: 'other' });
      return 'endToEnd/other';
    },
    () => findEndToEnd(stores, 'other'),
  ),
  'upgrade of records': meta(
    () => {
      upgradeRecords(stores, startNs);
      return 'recordUpgrade';
    },
    () => upgradeRecords(stores, startNs),
  ),
};

/** Layouts between version 0.1.0 and the present one, which no release wrote. */
const unreleased: Readonly<Record<string, readonly number[]>> = {
  bucket: [5, 6, 7],
  'API key': [2, 3, 4],
  file: [4, 5],
  upload: [4, 5],
};

describe.each(Object.entries(kinds))('upgradeRecords(): the record of a kind: %s', (name, kind) => {
  const unknown = [0, 99, 255].concat(unreleased[name] ?? []);
  test.each(unknown)('is refused in version %i, which no release wrote', (version) => {
    const made = kind.make();
    const map = kind.map(stores);
    const [[first] = []] = map.entries();
    const key = made === undefined ? (first ?? expect.fail('no record')) : utf8(made);
    const record = map.get(key) ?? expect.fail('no such record');
    expect(() => kind.read(key)).not.toThrow();
    // Reading may have rewritten or removed the record.
    map.set(key, Uint8Array.from(record).fill(version, 0, 1));
    expect(() => kind.read(key)).toThrow(/known version, not|were altered/);
  });
});

test('upgradeRecords(): every record of the meta map is of a kind above', () => {
  for (const { make } of Object.values(kinds)) make();
  const names = stores.meta.entries().map(([key]) => text(key));
  expect(names.sort()).toEqual(
    ['anonymousUpdates', 'bucketCreators', 'endToEnd/other', 'keyRotation', 'nextContentId'].concat(
      ['recordUpgrade', 'rootKeys', 'totals'],
    ),
  );
});

test("upgradeRecords(): the fields inside a file's record of 0.1.0 also have a version", () => {
  const record = oldFileRecord();
  expect(decodeFile('box', 'p', record).size).toBe(3);
  const fieldsStart = 37 + Buffer.from(record).readUInt32LE(33);
  for (const version of [0, 2, 3, 255]) {
    record[fieldsStart] = version;
    expect(() => decodeFile('box', 'p', record)).toThrow('were altered');
  }
});

test("listJson(): a file's record of 0.1.0 is listed as it will be after its upgrade", () => {
  const record = oldFileRecord();
  stores.files.set(utf8('box\0p'), record);
  const [json = new Uint8Array(0)] = readFilesJson(stores, 'box', [utf8('p')]);
  const { chunkSize, ...shown } = JSON.parse(text(json));
  const end = 37 + Buffer.from(record).readUInt32LE(33);
  expect(shown).toEqual(JSON.parse(text(record.subarray(37, end))));
  expect(chunkSize).toBe(3);
  expect(readFileParts(stores, 'box', [utf8('p')])).toMatchObject([{ size: 3, version: 1 }]);
});

const time = 'f2670d45f2ca8618';

describe('upgradeRecords(): records that version 0.1.0 wrote are readable:', () => {
  test('a bucket', () => {
    const head = `040302020203${time}${time}${'0100000000000000'}${'0300000000000000'}`;
    const uploads = `${'01000000'}${'0300000000000000'}${'8813000000000000'}`;
    const keys = `${'0100000000000000'}${'0100000000000000'}${'00'.repeat(16)}`;
    stores.buckets.set(utf8('old'), unhex(head + uploads + keys));
    expect(findBucket(stores, 'old')).toEqual({
      id: 'old',
      owner: alice.caller.principal,
      isPublic: true,
      isSite: false,
      isListed: false,
      isRenewing: false,
      isEndToEnd: false,
      hasRetention: false,
      limitsVersions: false,
      createdAtNs: startNs,
      updatedAtNs: startNs,
      fileCount: 1,
      byteCount: 3,
      openUploadCount: 1,
      openUploadByteCount: 3,
      quotaBytes: 5_000,
      quotaFiles: undefined,
      overheadBytes: 0,
      keepVersionsDays: 0,
      versionCount: 0,
      versionBytes: 0,
      linkCount: 0,
      keyId: 1,
      keySlot: 1,
      formerKeyId: 0,
      formerKeySlot: 0,
    });
  });

  test('an API key', () => {
    const hash = unhex('b6b502ffbccd13dac39ea02139da3c7cc3a12ca5641f58bb70c9f8851846e215');
    const texts = Buffer.from('efs_WOZC\0test\0box\0other').toString('hex');
    stores.apiKeys.set(hash, unhex(`0105${time}${'f3670d45f2ca8618'}${'00'.repeat(8)}${texts}`));
    expect(findKeyByHash(stores, hash)).toEqual({
      id: 'b6b502ffbccd13da',
      hash,
      hint: 'efs_WOZC',
      name: 'test',
      buckets: ['box', 'other'],
      permissions: ['read', 'delete'],
      creator: new Uint8Array(0),
      budget: { updatesPerHour: 0, bytesPerHour: 0 },
      createdAtNs: startNs,
      prefix: '',
      expiresAtNs: startNs + 1n,
      revokedAtNs: 0n,
    });
  });

  test('an upload session', () => {
    const uploadId = '52fe4f5c864cf4c93769da48feca9e29';
    const counts = `${'0400000000000000'}${'0300000000000000'}${'0200000000000000'}01000000`;
    const chunks = `${'02000000'}${'02000000'}7d02${'00'.repeat(124)}`;
    const who = `0302020200${time}${time}`;
    const digests = `${'00000000'}20${'ab'.repeat(32)}${'0012000000000000'}00`;
    const rest = `${'00000000'}${'00'.repeat(8)}${'0400000000000000'}01000000`;
    const texts = Buffer.from('box\0q\0video/mp4\0\0no-store\0\0\0\0\0\0t').toString('hex');
    stores.uploads.set(
      unhex(uploadId),
      unhex(`0300${counts}${chunks}${who}${digests}${rest}${texts}`),
    );
    expect(findSession(stores, uploadId)).toMatchObject({
      status: 'active',
      bucketId: 'box',
      path: 'q',
      tags: ['t'],
      headers: ['no-store', '', '', ''],
      contentId: 4,
      keySlot: 4,
      totalSize: 3,
      uploadedSize: 2,
      receivedChunks: 1,
      chunkIndexEnd: 2,
      digestPages: [{ at: 0x1200, bytes: 32_000 }],
      isSizeKnown: true,
      nextNonce: 1,
      owner: alice.caller.principal,
      createdAtNs: startNs,
      isOverHttp: false,
      isNoted: false,
    });
    const declared = `${'02000000'}20${'ab'.repeat(32)}${'0012000000000000'}00`;
    stores.uploads.set(
      unhex(uploadId),
      unhex(`0300${counts}${chunks}${who}${declared}${rest}${texts}`),
    );
    const session = findSession(stores, uploadId) ?? expect.fail('no session');
    expect(session).toMatchObject({ digestPages: [{ at: 0x1200, bytes: 64 }], tags: ['t'] });
    saveSession(stores, session);
    expect(findSession(stores, uploadId)).toEqual(session);
  });

  test('a file and its seal', () => {
    const record = oldFileRecord();
    const key = unhex('bcc4007ac5536793f3056b5268f71449056098939f91c849f22d739d697fe65a');
    expect(isSealed(record, utf8('box\0p'), key)).toBe(true);
    expect(isSealed(record, utf8('box\0q'), key)).toBe(false);
    expect(decodeFile('box', 'p', record)).toEqual({
      bucketId: 'box',
      path: 'p',
      id: '0000000000000003',
      contentId: 3,
      keySlot: 3,
      size: 3,
      chunkSize: 3,
      chunkCount: 1,
      digest: oldFileDigest,
      version: 1,
      createdAtNs: startNs,
      updatedAtNs: startNs,
      leavesVersion: 1,
      contentType: 'a/b',
      tags: ['x', 'y'],
      headers: ['c', '', 'gzip', 'de'],
      metadata: [],
    });
  });
});
