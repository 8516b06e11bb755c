// Usage below a prefix: files and bytes, updated with every change of a file, and recounted after
// an upgrade.

import { beforeEach, describe, expect, test } from 'vitest';
import { getUsage } from '../../src/domain/administration/bucket-usage.ts';
import { skipUpgrade, upgradeRecords } from '../../src/domain/administration/record-upgrade.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { moveToFormerMaps } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { removeStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
  skipUpgrade(scene.stores);
});

function put(path: string, length: number, bucket = 'box'): void {
  putTestFile(scene.stores, { bucket, path, bytes: testBytes(length) });
}

function remove(path: string): void {
  removeStored(scene.stores, findFile(scene.stores, 'box', path) ?? expect.fail(path));
}

function usage(prefix?: string, bucket = 'box') {
  const request = { bucket, prefix, apiKey: undefined };
  return getUsage(scene.stores, callOf('alice'), request);
}

describe('getUsage(): usage', () => {
  test('covers the files whose paths begin with the prefix', () => {
    expect(usage()).toEqual({ prefix: '', files: 0, bytes: 0 });
    put('a', 1);
    put('a/b', 20);
    put('a/c/d', 300);
    put('b', 4_000);
    put('a', 50_000, 'other');
    expect(usage()).toEqual({ prefix: '', files: 4, bytes: 4_321 });
    expect(usage('a')).toEqual({ prefix: 'a', files: 3, bytes: 321 });
    expect(usage('a/')).toEqual({ prefix: 'a/', files: 2, bytes: 320 });
    for (const none of ['z', '/a', 'A', 'a/b/', 'x'.repeat(5_000)]) {
      expect(usage(none)).toEqual({ prefix: none, files: 0, bytes: 0 });
    }
    expect(usage('', 'other')).toEqual({ prefix: '', files: 1, bytes: 50_000 });
  });

  test('follows replacements and deletions', () => {
    put('a', 100);
    put('b', 10);
    put('a', 7);
    expect(usage()).toMatchObject({ files: 2, bytes: 17 });
    remove('a');
    expect(usage()).toMatchObject({ files: 1, bytes: 10 });
    checkInvariants(scene.stores);
  });

  test('is returned to callers who may read', () => {
    const claim = (apiKey: string | undefined) => ({ bucket: 'box', prefix: undefined, apiKey });
    const asked = (person: 'alice' | 'bob', apiKey?: string) => () =>
      getUsage(scene.stores, callOf(person), claim(apiKey));
    expect(asked('bob', scene.readKey)()).toMatchObject({ files: 0 });
    const writeOnly = makeKey(scene.stores, { permissions: ['write'] });
    expectRefusal(scene.stores, 'AccessDenied', asked('alice', writeOnly));
    expectRefusal(scene.stores, 'AccessDenied', asked('bob'));
    expectRefusal(scene.stores, 'NoSuchBucket', () => usage('', 'nobody'));
    expectRefusal(scene.stores, 'InvalidBucketId', () => usage('', 'a/b'));
  });
});

describe('getUsage(): after an upgrade from a version that counted no sizes', () => {
  test('it is refused until all sizes are counted, whatever changes meanwhile', () => {
    for (let at = 0; at < 620; at++) put(`f${at}`, at % 7);
    put('x', 5, 'other');
    moveToFormerMaps(scene.stores);
    scene.stores.meta.delete(Buffer.from('recordUpgrade'));
    let refused = 0;
    for (let step = 0; step < 20; step++) {
      try {
        usage();
        break;
      } catch {
        expectRefusal(scene.stores, 'ServiceUnavailable', usage);
        refused += 1;
      }
      upgradeRecords(scene.stores, startNs);
      put(`f${step}`, 1_000);
      remove(`f${600 + step}`);
      put(`new ${step}`, 3);
    }
    expect(refused).toBeGreaterThan(3);
    expect(usage().files).toBeGreaterThan(600);
    checkInvariants(scene.stores);
    while (upgradeRecords(scene.stores, startNs)) checkInvariants(scene.stores);
    expect(usage('', 'other')).toMatchObject({ files: 1, bytes: 5 });
  });

  test.each([1, 2])('it equals a plain sum under random histories, seed %i', (seed) => {
    const random = randomNumbers(seed);
    const sizes = new Map<string, number>();
    for (let turn = 0; turn < 400; turn++) {
      const path = `${['', 'a/', 'a/b/', 'é/'][random(4)]}f${random(60)}`;
      if (sizes.has(path) && random(3) === 0) {
        remove(path);
        sizes.delete(path);
      } else {
        const length = random(500);
        put(path, length);
        sizes.set(path, length);
      }
      const prefix = ['', 'a', 'a/', 'é', 'f1', 'a/b/f'][random(6)] ?? '';
      const below = [...sizes].filter(([name]) => name.startsWith(prefix));
      const bytes = below.reduce((sum, [, length]) => sum + length, 0);
      expect(usage(prefix), `seed ${seed}, turn ${turn}`).toEqual({
        prefix,
        files: below.length,
        bytes,
      });
    }
    checkInvariants(scene.stores);
  });
});
