// The rules of a bucket: which are refused, and what each action does and when.

import { beforeEach, describe, expect, test } from 'vitest';
import { deleteBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getRules, setRules } from '../../src/domain/administration/bucket-rules.ts';
import { actOnRules } from '../../src/domain/administration/rule-work.ts';
import { getBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { nextRuleCheckNs } from '../../src/domain/buckets/rule-times.ts';
import type { SentRule } from '../../src/domain/buckets/rules.ts';
import { fileMapKey } from '../../src/domain/files/file-layout.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { setHold } from '../../src/domain/files/retention-changes.ts';
import { versionNames } from '../../src/domain/files/version-entries.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions } from '../../src/domain/files/version-records.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import { expireUploads } from '../../src/domain/uploads/upload-end.ts';
import { getSession } from '../../src/domain/uploads/upload-session.ts';
import { ruledFilesPerMessage, rulePassedOverMax } from '../../src/limits.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  plainMetadata,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { allFiles, checkInvariants } from '../support/invariants.ts';
import { upgradeStores } from '../support/memory-stores.ts';

const dayNs = 24n * hourNs;
const alice = callOf('alice');
const name = { bucket: 'box', apiKey: undefined };

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function ruleOf(change: Partial<SentRule> = {}): SentRule {
  return { id: 'old', isEnabled: true, deleteAfterDays: 3n, ...change };
}

function set(...rules: SentRule[]): void {
  setRules(scene.stores, alice, { bucket: 'box', rules });
}

function put(path: string, nowNs = startNs, tags: string[] = []): void {
  const metadata = { ...plainMetadata, tags };
  putTestFile(scene.stores, { path: `/${path}`, metadata, bytes: testBytes(10) }, nowNs);
}

function keepVersions(days: number): void {
  const box = getBucket(scene.stores, 'box');
  saveBucket(scene.stores, { ...box, keepVersionsDays: days }, box);
}

/** Runs what the timers run, until nothing is left. */
function settle(nowNs: bigint): void {
  const { stores } = scene;
  let steps = 0;
  while (actOnRules(stores, nowNs)) steps += 1;
  while (expireVersions(stores, nowNs) || expireUploads(stores, nowNs)) steps += 1;
  expect(steps).toBeLessThan(1_000);
  checkInvariants(stores);
}

function files(): string[] {
  return allFiles(scene.stores).map(({ path }) => path);
}

function versions(): string[] {
  const names = versionNames(scene.stores, { bucketId: 'box' }, 1_000);
  return names.map(({ path, version }) => `${path} ${version}`);
}

describe('setRules', () => {
  test('stores the rules as a whole, and getRules returns them', () => {
    const { stores } = scene;
    const all = {
      ...ruleOf({ id: 'all', isEnabled: false, prefix: 'ä/', tag: 'x y' }),
      keepVersions: 1_000n,
      eraseVersionsAfterDays: 36_500n,
      endUploadsAfterHours: 876_000n,
    };
    set(ruleOf(), all);
    const numbers = { keepVersions: 1_000, eraseVersionsAfterDays: 36_500 };
    const { deleteAfterDays: _, ...sent } = all;
    expect(getRules(stores, alice, name)).toEqual([
      { ...ruleOf(), prefix: '', deleteAfterDays: 3 },
      { ...sent, ...numbers, deleteAfterDays: 3, endUploadsAfterHours: 876_000 },
    ]);
    set(ruleOf({ id: 'new' }));
    expect(getRules(stores, alice, name).map(({ id }) => id)).toEqual(['new']);
    set();
    expect(getRules(stores, alice, name)).toEqual([]);
    expect(nextRuleCheckNs(stores)).toBeUndefined();
    expect(stores.meta.entries().some(([key]) => `${Buffer.from(key)}`.includes('rules'))).toBe(
      false,
    );
  });

  test('refuses wrong rules and changes nothing', () => {
    const wrong: [SentRule[], RegExp][] = [
      [Array.from({ length: 21 }, (_, index) => ruleOf({ id: `${index}` })), /at most 20 rules/],
      [[ruleOf(), ruleOf()], /Two rules have the id "old"/],
      [[ruleOf({ id: '' })], /id of a rule must have 1 to 255/],
      [[ruleOf({ id: 'a\n' })], /id of a rule/],
      [[ruleOf({ id: 'x'.repeat(256) })], /id of a rule/],
      [[ruleOf({ deleteAfterDays: 0n })], /deleteAfterDays must be .* from 1 to 36500; got 0/],
      [[ruleOf({ deleteAfterDays: 36_501n })], /got 36501/],
      [[ruleOf({ keepVersions: 0n })], /keepVersions must be .* from 1 to 1000/],
      [[ruleOf({ eraseVersionsAfterDays: 2n ** 70n })], /eraseVersionsAfterDays/],
      [[ruleOf({ endUploadsAfterHours: 0n })], /endUploadsAfterHours/],
      [[ruleOf({ prefix: 'x'.repeat(1_025) })], /prefix must have at most 1024 bytes/],
      [[ruleOf({ prefix: 'ä'.repeat(513) })], /prefix must have at most 1024 bytes/],
      [[ruleOf({ prefix: 'a\0' })], /no control character/],
      [[ruleOf({ prefix: '\ud800' })], /prefix/],
      [[ruleOf({ prefix: '/a' })], /begin without a slash/],
      [[ruleOf({ tag: '' })], /tag/],
      [[ruleOf({ tag: ' a' })], /tag/],
      [[ruleOf({ tag: 'a,b' })], /tag/],
      [[{ id: 'a', isEnabled: true }], /has no action/],
      [
        Array.from({ length: 9 }, (_, id) => ruleOf({ id: `${id}`, prefix: 'x'.repeat(1_000) })),
        /at most 8192 bytes/,
      ],
    ];
    const { stores } = scene;
    set(ruleOf({ id: 'kept' }));
    for (const [rules, words] of wrong) {
      const refusal = expectRefusal(stores, 'InvalidArgument', () => set(...rules));
      expect(refusal.message).toMatch(words);
    }
    expect(getRules(stores, alice, name)).toMatchObject([{ id: 'kept' }]);
  });

  test('is for owners, and getRules for whoever may read the whole bucket', () => {
    const { stores, readKey } = scene;
    const rules = [ruleOf()];
    const bob = callOf('bob');
    expectRefusal(stores, 'NoSuchBucket', () => setRules(stores, bob, { bucket: 'none', rules }));
    expectRefusal(stores, 'AccessDenied', () => setRules(stores, bob, { bucket: 'box', rules }));
    expectRefusal(stores, 'AccessDenied', () => getRules(stores, bob, name));
    const narrow = makeKey(stores, { permissions: ['read'], prefix: 'a/' });
    expectRefusal(stores, 'AccessDenied', () => getRules(stores, bob, { ...name, apiKey: narrow }));
    set(...rules);
    expect(getRules(stores, bob, { ...name, apiKey: readKey })).toHaveLength(1);
  });

  test('deleteBucket removes the rules, and a new bucket has none', () => {
    const { stores } = scene;
    set(ruleOf());
    deleteBucket(stores, alice, { bucket: 'box', isForced: false });
    expect(nextRuleCheckNs(stores)).toBeUndefined();
    expect(actOnRules(stores, startNs + dayNs)).toBe(false);
  });
});

describe('actOnRules: files', () => {
  test('deletes a file when its last change is as old as the rule says, not earlier', () => {
    put('a');
    put('b', startNs + 1n);
    set(ruleOf());
    settle(startNs + 3n * dayNs - 1n);
    expect(files()).toEqual(['a', 'b']);
    expect(nextRuleCheckNs(scene.stores)).toBe(startNs + 3n * dayNs);
    settle(startNs + 3n * dayNs);
    expect(files()).toEqual(['b']);
    expect(nextRuleCheckNs(scene.stores)).toBe(startNs + 3n * dayNs + 1n);
    settle(startNs + 3n * dayNs + 1n);
    expect(files()).toEqual([]);
    expect(getBucket(scene.stores, 'box')).toMatchObject({ fileCount: 0, byteCount: 0 });
  });

  test('looks only at the prefix and the tag, and the strictest rule applies', () => {
    for (const path of ['a/1', 'a/2', 'ab', 'b/1']) put(path, startNs, ['x']);
    put('a/3');
    const tagged = ruleOf({ id: 'tagged', prefix: 'a/', tag: 'x', deleteAfterDays: 2n });
    const off = ruleOf({ id: 'off', isEnabled: false, deleteAfterDays: 1n });
    set(off, tagged, ruleOf({ id: 'a', prefix: 'a', deleteAfterDays: 4n }));
    settle(startNs + 1n * dayNs);
    expect(files()).toHaveLength(5);
    settle(startNs + 2n * dayNs);
    expect(files()).toEqual(['a/3', 'ab', 'b/1']);
    settle(startNs + 4n * dayNs);
    expect(files()).toEqual(['b/1']);
  });

  test('checks a bucket without matching files only once per age', () => {
    set(ruleOf());
    settle(startNs);
    expect(nextRuleCheckNs(scene.stores)).toBe(startNs + 3n * dayNs);
    const before = scene.stores.writeCount();
    put('a', startNs + dayNs);
    // The check's time is early enough for each file that is stored after it
    settle(startNs + 3n * dayNs);
    expect(nextRuleCheckNs(scene.stores)).toBe(startNs + 4n * dayNs);
    expect(scene.stores.writeCount()).toBeGreaterThan(before);
  });

  test('deletes many files in steps, which an upgrade does not end', async () => {
    const count = 2 * ruledFilesPerMessage + 10;
    for (let index = 0; index < count; index++) put(`f${index}`, startNs + BigInt(index));
    set(ruleOf());
    const nowNs = startNs + 3n * dayNs + BigInt(count);
    expect(actOnRules(scene.stores, nowNs)).toBe(true);
    expect(files()).toHaveLength(count - ruledFilesPerMessage);
    scene = { ...scene, stores: await upgradeStores(scene.stores, 9) };
    expect(actOnRules(scene.stores, nowNs)).toBe(true);
    expect(files()).toHaveLength(10);
    settle(nowNs);
    expect(files()).toEqual([]);
    expect(nextRuleCheckNs(scene.stores)).toBe(nowNs + 3n * dayNs);
  });

  test('leaves a damaged file, whose age is unknown, and goes on with the others', () => {
    const { stores } = scene;
    put('a');
    put('b');
    const key = fileMapKey('box', 'a');
    const record = stores.records.get(key) ?? expect.fail('no record');
    stores.records.set(key, record.slice(0, 40), 10);
    set(ruleOf());
    const nowNs = startNs + 4n * dayNs;
    expect(actOnRules(stores, nowNs)).toBe(false);
    expect(findFile(stores, 'box', 'b')).toBeUndefined();
    expect(findFile(stores, 'box', 'a')).toBeDefined();
    expect(nextRuleCheckNs(stores), 'it is tried again a day later').toBe(nowNs + dayNs);
  });

  test('passes over a bounded number of held files, and tries again a day later', () => {
    const { stores } = scene;
    for (let index = 0; index < rulePassedOverMax; index++) put(`h${index}`);
    for (const path of files()) setHold(stores, alice, { ...name, path, hasHold: true });
    put('later', startNs + 1n);
    set(ruleOf());
    const nowNs = startNs + 4n * dayNs;
    settle(nowNs);
    expect(files()).toContain('later');
    expect(nextRuleCheckNs(stores)).toBe(nowNs + dayNs);
    setHold(stores, callOf('alice', nowNs), { ...name, path: 'h0', hasHold: false });
    settle(nowNs + dayNs);
    expect(files()).not.toContain('h0');
    expect(files()).not.toContain('later');
  });

  test('leaves held files and versions until their hold is removed', () => {
    const { stores } = scene;
    const alice = (days: bigint) => callOf('alice', startNs + days * dayNs);
    put('a');
    put('b');
    setHold(stores, alice(0n), { ...name, path: 'a', hasHold: true });
    set(ruleOf());
    settle(startNs + 4n * dayNs);
    expect(files()).toEqual(['a']);
    setHold(stores, alice(4n), { ...name, path: 'a', hasHold: false });
    settle(startNs + 6n * dayNs);
    expect(files()).toEqual([]);
    keepVersions(30);
    put('c', startNs + 6n * dayNs);
    setHold(stores, alice(6n), { ...name, path: 'c', hasHold: true });
    put('c', startNs + 6n * dayNs);
    set(ruleOf({ deleteAfterDays: undefined, eraseVersionsAfterDays: 1n }));
    settle(startNs + 90n * dayNs);
    expect(versions()).toEqual(['c 1']);
    setHold(stores, alice(90n), { ...name, path: 'c', version: 1, hasHold: false });
    settle(startNs + 90n * dayNs);
    expect(versions()).toEqual([]);
  });

  test('finds a file that gets its former date back, because its version was erased', () => {
    keepVersions(30);
    put('a');
    put('a', startNs + dayNs);
    set(ruleOf({ deleteAfterDays: 2n }));
    settle(startNs + dayNs);
    const erasure = { ...name, path: 'a', version: 2 };
    eraseVersions(scene.stores, callOf('alice', startNs + 2n * dayNs), erasure);
    expect(nextRuleCheckNs(scene.stores)).toBe(startNs + 2n * dayNs);
    settle(startNs + 2n * dayNs);
    expect(files()).toEqual([]);
    expect(versions()).toEqual(['a 1']);
  });
});

describe('actOnRules: former versions', () => {
  beforeEach(() => keepVersions(30));

  test('keeps the latest versions of each path', () => {
    set(ruleOf({ deleteAfterDays: undefined, keepVersions: 2n, prefix: 'a' }));
    for (const path of ['a', 'b']) for (let turn = 0; turn < 5; turn++) put(path);
    settle(startNs);
    expect(versions()).toEqual(['a 3', 'a 4', 'b 1', 'b 2', 'b 3', 'b 4']);
  });

  test('also applies to versions that exist, and a removed rule to none', () => {
    for (let turn = 0; turn < 5; turn++) put('a', startNs + BigInt(turn) * dayNs);
    const nowNs = startNs + 5n * dayNs;
    const onlyVersions = { deleteAfterDays: undefined };
    set(ruleOf({ ...onlyVersions, eraseVersionsAfterDays: 3n }));
    settle(startNs + 4n * dayNs - 1n);
    expect(versions()).toEqual(['a 1', 'a 2', 'a 3', 'a 4']);
    settle(nowNs);
    expect(versions()).toEqual(['a 3', 'a 4']);
    set();
    settle(nowNs);
    expect(getBucket(scene.stores, 'box').limitsVersions).toBe(false);
    settle(nowNs + 20n * dayNs);
    expect(versions(), 'the bucket keeps them for 30 days').toEqual(['a 3', 'a 4']);
    settle(startNs + 34n * dayNs);
    expect(versions()).toEqual([]);
  });

  test('erases none that a removed rule has made due, before the walk has reached it', () => {
    put('a');
    put('a');
    set(ruleOf({ deleteAfterDays: undefined, eraseVersionsAfterDays: 1n }));
    settle(startNs);
    set();
    expect(expireVersions(scene.stores, startNs + 2n * dayNs)).toBe(false);
    expect(versions()).toEqual(['a 1']);
  });

  test('erases no version that is no longer one too many', () => {
    const { stores } = scene;
    set(ruleOf({ deleteAfterDays: undefined, keepVersions: 1n }));
    for (let turn = 0; turn < 3; turn++) put('a');
    expect(versions()).toEqual(['a 1', 'a 2']);
    eraseVersions(stores, alice, { ...name, path: 'a', version: 2 });
    settle(startNs);
    expect(versions()).toEqual(['a 1']);
    restoreVersion(stores, alice, { ...name, path: 'a', version: 1, conditions: {} });
    settle(startNs);
    expect(versions()).toEqual(['a 3']);
  });

  test('counts all versions of a path, but erases only those with the tag', () => {
    set(ruleOf({ deleteAfterDays: undefined, keepVersions: 1n, tag: 'x' }));
    for (const tags of [['x'], [], ['x'], [], []]) put('a', startNs, tags);
    settle(startNs);
    expect(versions()).toEqual(['a 2', 'a 4']);
  });

  test('makes a deleted file a version that the same rules limit', () => {
    put('a');
    set(ruleOf({ deleteAfterDays: 1n, eraseVersionsAfterDays: 2n }));
    settle(startNs + dayNs);
    expect([files(), versions()]).toEqual([[], ['a 1']]);
    settle(startNs + 3n * dayNs - 1n);
    expect(versions()).toEqual(['a 1']);
    settle(startNs + 3n * dayNs);
    expect(versions()).toEqual([]);
  });
});

describe('actOnRules: uploads', () => {
  test('ends unfinished uploads after so many hours, whether or not chunks arrive', () => {
    const { stores } = scene;
    const one = begin(stores, alice, { path: '/a/1' });
    const other = begin(stores, alice, { path: '/b' });
    const later = begin(stores, callOf('alice', startNs + hourNs), { path: '/a/2' });
    const rule = { deleteAfterDays: undefined, endUploadsAfterHours: 2n, prefix: 'a/' };
    set(ruleOf(rule), ruleOf({ ...rule, id: 'lax', endUploadsAfterHours: 5n }));
    const statuses = () =>
      [one, other, later].map(({ uploadId }) => getSession(stores, uploadId).status);
    settle(startNs + 2n * hourNs - 1n);
    expect(statuses()).toEqual(['active', 'active', 'active']);
    settle(startNs + 2n * hourNs);
    expect(statuses()).toEqual(['cancelled', 'active', 'active']);
    expect(nextRuleCheckNs(stores)).toBe(startNs + 3n * hourNs);
    settle(startNs + 3n * hourNs);
    expect(statuses()).toEqual(['cancelled', 'active', 'cancelled']);
  });
});
