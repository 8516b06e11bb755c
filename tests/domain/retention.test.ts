import { beforeEach, describe, expect, test } from 'vitest';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { deleteFile, getFile } from '../../src/domain/files/files.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { setHold, setRetention } from '../../src/domain/files/retention-changes.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions } from '../../src/domain/files/version-records.ts';
import { getVersion, listVersions, restoreVersion } from '../../src/domain/files/versions.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
import { uploadSingle } from '../../src/domain/uploads/single-upload.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
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
  type Scene,
  singleUpload,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';

const dayNs = 86_400_000_000_000n;
const alice = callOf('alice');
const conditions = {};
const apiKey = undefined;
const named = { bucket: 'box', path: 'a', apiKey };

let scene: Scene;
beforeEach(async () => {
  scene = await createScene();
});

function retain(mode: string, days = 10n, fields = {}): void {
  const rule = { mode, days };
  updateBucket(scene.stores, alice, bucketChange({ retention: [rule], ...fields }));
}

function refuse(call: () => unknown): void {
  expectRefusal(scene.stores, 'FileHeld', call);
}

/** Tries every operation that replaces, removes or changes the file `a`. */
function refuseAll(call = alice, bypass = false): void {
  const { stores } = scene;
  const options = { bypassesGovernance: bypass };
  refuse(() => uploadSingle(stores, call, singleUpload({ path: '/a' })));
  refuse(() => changeFile(stores, call, { ...named, tags: ['x'], conditions }));
  refuse(() => begin(stores, call, { path: '/a' }));
  refuse(() => copyFile(stores, call, { ...onto('a'), conditions }));
  refuse(() => moveFile(stores, call, { ...onto('a'), conditions }));
  refuse(() => deleteFile(stores, call, { ...named, conditions, ...options }));
  refuse(() =>
    moveFile(stores, call, { ...named, from: 'a', to: { path: 'z' }, conditions, ...options }),
  );
  const elsewhere = { bucket: 'other', path: 'z' };
  refuse(() =>
    moveFile(stores, call, { ...named, from: 'a', to: elsewhere, conditions, ...options }),
  );
  refuse(() => eraseVersions(stores, call, { ...named, version: 1, ...options }));
  const batch = { bucket: 'box', apiKey, readFiles: () => [{ path: 'a', read: file }] };
  expectSameAfter(() => {
    expect(uploadBatch(stores, call, batch)[0]?.refusal?.code).toBe('FileHeld');
    const read = () => ({ paths: ['a'], ...options });
    expect(deleteFiles(stores, call, { ...named, read }).results[0]?.refusal?.code).toBe(
      'FileHeld',
    );
    const prefixes = { fromPrefix: 'a', toPrefix: 'moved', ...options };
    const { moved, failed } = moveFiles(stores, call, { bucket: 'box', ...prefixes, apiKey });
    expect([moved, failed[0]?.error.code]).toEqual([0, 'FileHeld']);
  });
}

function onto(path: string) {
  return { ...named, from: 'source', to: { path } };
}

const file = () => ({ bytes: testBytes(3), metadata: plainMetadata });

function expectSameAfter(work: () => void): void {
  const before = getFile(scene.stores, alice, named);
  work();
  expect(getFile(scene.stores, alice, named)).toEqual(before);
}

describe('requireNotHeld(): a retained file of a bucket without versions', () => {
  beforeEach(() => {
    putTestFile(scene.stores, { path: '/source' });
  });

  test('stays in compliance mode until its time, whoever asks and bypasses', () => {
    retain('compliance');
    const { file: stored } = putTestFile(scene.stores, { path: '/a' });
    expect(stored.retention).toEqual({
      mode: 'compliance',
      untilNs: startNs + 10n * dayNs,
      hasHold: false,
    });
    for (const person of ['alice', 'controller'] as const) {
      refuseAll(callOf(person));
      refuseAll(callOf(person), true);
    }
    refuseAll(callOf('alice', startNs + 10n * dayNs - 1n));
    deleteFile(scene.stores, callOf('alice', startNs + 10n * dayNs), { ...named, conditions });
  });

  test('stays in governance mode unless an owner bypasses it', () => {
    retain('governance');
    putTestFile(scene.stores, { path: '/a' });
    refuseAll();
    const { stores, writeKey } = scene;
    const bypassing = { ...named, conditions, bypassesGovernance: true };
    expectRefusal(stores, 'AccessDenied', () =>
      deleteFile(stores, alice, { ...bypassing, apiKey: writeKey }),
    );
    deleteFile(stores, alice, bypassing);
    putTestFile(stores, { path: '/a' });
    const retainKey = makeKey(stores, { permissions: ['delete', 'retain'] });
    deleteFile(stores, callOf('anonymous'), { ...bypassing, apiKey: retainKey });
  });

  test('stays while it has a hold, whatever its time and whoever bypasses', () => {
    putTestFile(scene.stores, { path: '/a' });
    const { stores } = scene;
    setHold(stores, alice, { ...named, hasHold: true });
    refuseAll();
    refuseAll(callOf('controller', startNs + 100_000n * dayNs), true);
    setHold(stores, alice, { ...named, hasHold: false });
    deleteFile(stores, alice, { ...named, conditions });
  });

  test('says until when, and what to do', () => {
    retain('compliance');
    putTestFile(scene.stores, { path: '/a' });
    const put = () => putTestFile(scene.stores, { path: '/a' });
    expect(put).toThrow(
      'Version 1 of "a" is retained in compliance mode until 2026-01-12T03:04:05.678Z. It cannot ' +
        'be replaced, deleted, moved or changed before. With keepVersionsDays above 0, the bucket ' +
        'stores this version as a former one, and a new one can take its place.',
    );
  });

  test('prevents the end of an upload that began before', () => {
    const { stores } = scene;
    const bytes = testBytes(250);
    const { uploadId } = begin(stores, alice, { path: '/a' });
    putChunks(stores, alice, { uploadId, chunks: [[0, bytes]] });
    putTestFile(stores, { path: '/a' });
    setHold(stores, alice, { ...named, hasHold: true });
    refuse(() => completeUpload(stores, alice, { uploadId, apiKey }));
    setHold(stores, alice, { ...named, hasHold: false });
    completeUpload(stores, alice, { uploadId, apiKey });
    expect(getFile(stores, alice, named).size).toBe(250);
  });

  test('keeps its bucket', () => {
    retain('compliance');
    putTestFile(scene.stores, { path: '/a' });
    const deletion = { bucket: 'box', isForced: true };
    expectRefusal(scene.stores, 'BucketNotEmpty', () => {
      deleteBucket(scene.stores, callOf('controller'), deletion);
    });
  });
});

describe('requireRetirable(): a retained file of a bucket with versions', () => {
  beforeEach(() => {
    retain('compliance', 10n, { keepVersionsDays: 1n });
    putTestFile(scene.stores, { path: '/a' });
  });

  const version = { ...named, version: 1 };

  test('can be replaced and deleted, and stays as a former version', () => {
    const { stores } = scene;
    const later = callOf('alice', startNs + dayNs);
    uploadSingle(stores, later, singleUpload({ path: '/a', bytes: testBytes(20) }));
    deleteFile(stores, later, { ...named, conditions });
    const { items } = listVersions(stores, later, { bucket: 'box', apiKey });
    expect(
      items.map(({ file: { version: number, retention } }) => [number, retention?.untilNs]),
    ).toEqual([
      [1, startNs + 10n * dayNs],
      [2, startNs + 11n * dayNs],
    ]);
    refuse(() => eraseVersions(stores, later, version));
    refuse(() => eraseVersions(stores, later, { ...version, bypassesGovernance: true }));
    refuse(() => restoreVersion(stores, later, { ...version, conditions }));
    const all = { bucket: 'box', prefix: '', apiKey };
    expect(eraseVersions(stores, later, all)).toMatchObject({ erased: 0, held: 2, isDone: true });
    const copied = copyFile(stores, later, {
      ...named,
      from: 'a',
      version: 1,
      to: { path: 'a' },
      conditions,
    });
    expect(copied.file).toMatchObject({ version: 3, size: 10 });
  });

  test('cannot be moved away, changed or erased', () => {
    const { stores } = scene;
    refuse(() => moveFile(stores, alice, { ...named, from: 'a', to: { path: 'z' }, conditions }));
    refuse(() => changeFile(stores, alice, { ...named, contentType: 'a/b', conditions }));
    refuse(() => eraseVersions(stores, alice, version));
  });

  test('expires when its retention ends, not before', () => {
    const { stores } = scene;
    deleteFile(stores, alice, { ...named, conditions });
    for (const days of [1n, 5n, 9n]) expireVersions(stores, startNs + days * dayNs);
    expect(getVersion(stores, alice, version)).toMatchObject({ version: 1 });
    const [shown] = listVersions(stores, alice, { bucket: 'box', apiKey }).items;
    expect(shown?.expiresAtNs).toBe(startNs + 10n * dayNs);
    expireVersions(stores, startNs + 10n * dayNs);
    expectRefusal(stores, 'NoSuchFile', () => getVersion(stores, alice, version));
  });

  test('expires after its hold is removed', () => {
    const { stores } = scene;
    setHold(stores, alice, { ...named, hasHold: true });
    deleteFile(stores, alice, { ...named, conditions });
    const later = startNs + 1_000n * dayNs;
    expireVersions(stores, startNs + 2n * dayNs);
    expireVersions(stores, later);
    expect(getVersion(stores, alice, version)).toMatchObject({ version: 1 });
    setHold(stores, callOf('alice', later), { ...version, hasHold: false });
    expireVersions(stores, later + 1n);
    expectRefusal(stores, 'NoSuchFile', () => getVersion(stores, alice, version));
  });

  test('stays when the bucket no longer stores versions', () => {
    const { stores } = scene;
    deleteFile(stores, alice, { ...named, conditions });
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 0n, retention: [] }));
    refuse(() => eraseVersions(stores, alice, version));
    putTestFile(stores, { path: '/a' });
    deleteFile(stores, alice, { ...named, conditions });
    expect(getVersion(stores, alice, version)).toMatchObject({ version: 1 });
  });

  test('becomes current again if a version above it is erased, and stays retained', () => {
    const { stores } = scene;
    updateBucket(stores, alice, bucketChange({ retention: [] }));
    putTestFile(stores, { path: '/a', bytes: testBytes(5) });
    eraseVersions(stores, alice, { ...named, version: 2 });
    const current = getFile(stores, alice, named);
    expect(current).toMatchObject({ version: 1, size: 10, retention: { mode: 'compliance' } });
    refuse(() => eraseVersions(stores, alice, version));
  });
});

describe('setRetention()', () => {
  const soon = startNs + dayNs;
  const late = startNs + 2n * dayNs;
  const set = (fields: object, call = alice) => {
    const change = { ...named, ...fields };
    return setRetention(scene.stores, call, change).file.retention;
  };

  beforeEach(() => {
    putTestFile(scene.stores, { path: '/a' });
  });

  test('lengthens in each mode, and never shortens compliance', () => {
    expect(set({ mode: 'governance', retainUntilNs: soon })?.untilNs).toBe(soon);
    expect(set({ mode: 'governance', retainUntilNs: late })?.untilNs).toBe(late);
    expect(set({ mode: 'compliance', retainUntilNs: late })?.mode).toBe('compliance');
    for (const bypassesGovernance of [false, true]) {
      for (const call of [alice, callOf('controller')]) {
        const bypass = { bypassesGovernance };
        refuse(() => set({ mode: 'compliance', retainUntilNs: soon, ...bypass }, call));
        refuse(() => set({ mode: 'governance', retainUntilNs: late + dayNs, ...bypass }, call));
        refuse(() => set(bypass, call));
      }
    }
    expect(set({ mode: 'compliance', retainUntilNs: late + 1n })?.untilNs).toBe(late + 1n);
  });

  test('shortens and ends governance only with a bypass', () => {
    set({ mode: 'governance', retainUntilNs: late });
    refuse(() => set({ mode: 'governance', retainUntilNs: soon }));
    refuse(() => set({}));
    const bypassesGovernance = true;
    expect(set({ mode: 'governance', retainUntilNs: soon, bypassesGovernance })?.untilNs).toBe(
      soon,
    );
    expect(set({ bypassesGovernance })).toBeUndefined();
  });

  test('keeps the hold, and setHold() keeps the retention', () => {
    const hold = (hasHold: boolean) =>
      setHold(scene.stores, alice, { ...named, hasHold }).file.retention;
    expect(hold(true)).toEqual({ untilNs: 0n, hasHold: true });
    expect(set({ mode: 'governance', retainUntilNs: soon })?.hasHold).toBe(true);
    expect(hold(false)).toEqual({ mode: 'governance', untilNs: soon, hasHold: false });
    hold(true);
    expect(set({ bypassesGovernance: true })).toEqual({ untilNs: 0n, hasHold: true });
    expect(hold(false)).toBeUndefined();
  });

  test('keeps number, dates, bytes and digest of the version', () => {
    const before = getFile(scene.stores, alice, named);
    set({ mode: 'compliance', retainUntilNs: soon }, callOf('alice', startNs + 5n));
    const { retention, ...after } = getFile(scene.stores, alice, named);
    expect({ ...after, retention: undefined }).toEqual(before);
    expect(retention).toEqual({ mode: 'compliance', untilNs: soon, hasHold: false });
  });

  test('refuses hostile times and modes', () => {
    const wrong = (fields: object) =>
      expectRefusal(scene.stores, 'InvalidArgument', () => set(fields));
    for (const retainUntilNs of [startNs, 0n, -1n, startNs + 36_501n * dayNs, 10n ** 2_000n]) {
      wrong({ mode: 'compliance', retainUntilNs });
    }
    for (const mode of ['', 'COMPLIANCE', 'x'.repeat(5_000)]) wrong({ mode, retainUntilNs: soon });
    wrong({ mode: 'compliance' });
    wrong({ retainUntilNs: soon });
    expect(set({ mode: 'compliance', retainUntilNs: startNs + 36_500n * dayNs })).toBeDefined();
  });

  test('is for owners and keys with retain', () => {
    const { stores, writeKey } = scene;
    const change = { ...named, mode: 'governance', retainUntilNs: soon };
    updateBucket(
      stores,
      alice,
      bucketChange({ addMembers: [{ principal: callOf('bob').caller.principal, role: 'writer' }] }),
    );
    expectRefusal(stores, 'AccessDenied', () => setRetention(stores, callOf('bob'), change));
    expectRefusal(stores, 'AccessDenied', () =>
      setHold(stores, callOf('bob'), { ...named, apiKey: writeKey, hasHold: true }),
    );
    const retainKey = makeKey(stores, { permissions: ['retain'], prefix: 'a' });
    const anonymous = callOf('anonymous');
    const shown = setRetention(stores, anonymous, { ...change, apiKey: retainKey });
    expect(shown.hidden).toContain('content');
    expectRefusal(stores, 'AccessDenied', () =>
      setHold(stores, anonymous, { ...named, path: 'b', apiKey: retainKey, hasHold: true }),
    );
  });
});

describe('updateBucket(): rules of retention', () => {
  const rules = (retention: { mode?: string; days?: bigint; prefix?: string }[]) =>
    updateBucket(
      scene.stores,
      alice,
      bucketChange({
        retention: retention.map((rule) => ({ mode: 'governance', days: 1n, ...rule })),
      }),
    ).retention;
  const daysOf = (path: string) => {
    const { retention } = putTestFile(scene.stores, { path }).file;
    return retention && (retention.untilNs - startNs) / dayNs;
  };

  test('apply the longest prefix, to later files only', () => {
    putTestFile(scene.stores, { path: '/logs/old' });
    rules([{ prefix: '/logs/', days: 5n }, { prefix: 'logs/deep/', days: 7n }, { days: 1n }]);
    expect(['/logs/a', '/logs/deep/a', '/b'].map(daysOf)).toEqual([5n, 7n, 1n]);
    expect(rules([{ prefix: 'logs/', days: 2n }])).toEqual([
      { prefix: 'logs/', mode: 'governance', days: 2 },
    ]);
    expect(daysOf('/c')).toBeUndefined();
    expect(getFile(scene.stores, alice, { ...named, path: 'logs/old' }).retention).toBeUndefined();
    expect(getFile(scene.stores, alice, { ...named, path: 'b' }).retention).toBeDefined();
    expect(rules([])).toEqual([]);
    expect(daysOf('/logs/b')).toBeUndefined();
  });

  test('refuse hostile days, modes, prefixes and numbers of rules', () => {
    const wrong = (...sent: Parameters<typeof rules>) =>
      expectRefusal(scene.stores, 'InvalidArgument', () => rules(...sent));
    for (const days of [0n, -1n, 36_501n, 10n ** 3_000n]) wrong([{ days }]);
    wrong([{ mode: 'none' }]);
    wrong([{ prefix: 'a' }, { prefix: '/a' }]);
    wrong(Array.from({ length: 21 }, (_, index) => ({ prefix: `${index}/` })));
    expectRefusal(scene.stores, 'InvalidPath', () => rules([{ prefix: '../' }]));
    expect(rules(Array.from({ length: 20 }, (_, index) => ({ prefix: `${index}/` })))).toHaveLength(
      20,
    );
    expect(rules([{ days: 36_500n }])).toHaveLength(1);
  });
});

describe('encodeFile(): the layout of a record', () => {
  const mapKey = new TextEncoder().encode('box\0a');
  const stored = () => scene.stores.records.get(mapKey) ?? expect.fail('no record');

  test('has version 7 with a retention, and version 6 without', () => {
    putTestFile(scene.stores, { path: '/a' });
    expect(stored()[0]).toBe(6);
    setHold(scene.stores, alice, { ...named, hasHold: true });
    expect(stored()[0]).toBe(7);
    const texts = Buffer.from(stored()).toString('latin1');
    expect(texts.endsWith('\0\x000\0hold')).toBe(true);
    setHold(scene.stores, alice, { ...named, hasHold: false });
    expect(stored()[0]).toBe(6);
  });

  test('detects an altered retention', () => {
    putTestFile(scene.stores, { path: '/a' });
    const retainUntilNs = startNs + dayNs;
    setRetention(scene.stores, alice, { ...named, mode: 'compliance', retainUntilNs });
    const record = stored().slice();
    const at = Buffer.from(record).lastIndexOf(`${retainUntilNs}`);
    record[at] = 0x30;
    scene.stores.records.set(mapKey, record, 10);
    expectRefusal(scene.stores, 'IntegrityError', () => getFile(scene.stores, alice, named));
  });
});
