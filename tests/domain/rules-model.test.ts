// Random files, versions, uploads, rules and time jumps, compared with a slow model that looks at
// everything each time. Upgrades and kills happen between and within the steps of the rules.

import { expect, test } from 'vitest';
import { setRules } from '../../src/domain/administration/bucket-rules.ts';
import { actOnRules } from '../../src/domain/administration/rule-work.ts';
import { getBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import type { SentRule } from '../../src/domain/buckets/rules.ts';
import { moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { versionNames } from '../../src/domain/files/version-entries.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions, findVersion } from '../../src/domain/files/version-records.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import { expireUploads } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  hourNs,
  plainMetadata,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { allFiles, allSessions, checkInvariants } from '../support/invariants.ts';
import { type MemoryStores, rewind, stateOf, upgradeStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';

const dayNs = 24n * hourNs;
const keepDays = 20n;
const stepCount = 250;
const paths = ['a/1', 'a/2', 'a/b/1', 'ab', 'b/1', 'b/2'];
const prefixes = ['', 'a', 'a/', 'a/b', 'b/', 'c'];
const tags = ['x', 'y'];

interface PlainFile {
  tags: readonly string[];
  changedAtNs: bigint;
}

interface PlainVersion extends PlainFile {
  readonly path: string;
  readonly version: number;
  readonly retiredAtNs: bigint;
}

interface PlainUpload {
  readonly path: string;
  readonly begunAtNs: bigint;
}

interface Model {
  stores: MemoryStores;
  nowNs: bigint;
  /** Number of starts, of which each draws other random bytes. */
  starts: number;
  rules: readonly SentRule[];
  readonly files: Map<string, PlainFile & { version: number }>;
  versions: PlainVersion[];
  readonly uploads: Map<string, PlainUpload>;
}

type Random = (limit: number) => number;

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)] ?? expect.fail('nothing to pick');
}

function maybe(random: Random, limit: number): bigint | undefined {
  return random(3) === 0 ? BigInt(1 + random(limit)) : undefined;
}

/** Rules for tags only delete: then an older version never outlives a later one of its path. */
function randomRules(random: Random): SentRule[] {
  const rules = Array.from({ length: random(5) }, (_, index): SentRule => {
    const tag = random(3) === 0 ? pick(random, tags) : undefined;
    const head = { id: `${index}`, isEnabled: random(6) > 0, prefix: pick(random, prefixes), tag };
    if (tag !== undefined) return { ...head, deleteAfterDays: BigInt(1 + random(6)) };
    return {
      ...head,
      deleteAfterDays: maybe(random, 8),
      keepVersions: maybe(random, 3),
      eraseVersionsAfterDays: maybe(random, 6),
      endUploadsAfterHours: BigInt(1 + random(30)),
    };
  });
  return rules;
}

function applied(model: Model, path: string, fileTags: readonly string[]): readonly SentRule[] {
  return model.rules.filter(
    ({ isEnabled, prefix = '', tag }) =>
      isEnabled && path.startsWith(prefix) && (tag === undefined || fileTags.includes(tag)),
  );
}

/** Applies the rules to everything at once, and what the bucket and uploads expire by themselves. */
function settlePlainly(model: Model): void {
  const { nowNs } = model;
  for (const [path, file] of model.files) {
    const isDue = applied(model, path, file.tags).some(
      ({ deleteAfterDays: days }) => days !== undefined && file.changedAtNs + days * dayNs <= nowNs,
    );
    if (isDue) retire(model, path);
  }
  model.versions = model.versions.filter((one) => {
    const later = model.versions.filter(
      ({ path, version }) => path === one.path && version > one.version,
    ).length;
    const isOld = one.retiredAtNs + keepDays * dayNs <= nowNs;
    return (
      !isOld &&
      !applied(model, one.path, one.tags).some(
        ({ keepVersions: count, eraseVersionsAfterDays: days }) =>
          (count !== undefined && later >= count) ||
          (days !== undefined && one.retiredAtNs + days * dayNs <= nowNs),
      )
    );
  });
  for (const [id, { path, begunAtNs }] of model.uploads) {
    const isDue = applied(model, path, []).some(
      ({ endUploadsAfterHours: hours }) =>
        hours !== undefined && begunAtNs + hours * hourNs <= nowNs,
    );
    if (isDue || begunAtNs + dayNs <= nowNs) model.uploads.delete(id);
  }
}

function retire(model: Model, path: string): void {
  const file = model.files.get(path);
  if (file === undefined) return;
  model.files.delete(path);
  model.versions.push({ ...file, path, retiredAtNs: model.nowNs });
}

function freshSeed(model: Model): number {
  model.starts += 1;
  return 1_000 + model.starts;
}

/** Runs the timers until nothing is left; upgrades and lost messages happen in between. */
async function settle(model: Model, random: Random): Promise<void> {
  const { nowNs } = model;
  const steps = [actOnRules, expireVersions, expireUploads];
  for (let isLeft = true, turn = 0; isLeft; turn++) {
    expect(turn).toBeLessThan(200);
    const chance = random(12);
    const before = chance === 0 ? stateOf(model.stores) : undefined;
    isLeft = steps.map((step) => step(model.stores, nowNs)).includes(true);
    if (before !== undefined) {
      model.stores = await rewind(model.stores, before, freshSeed(model));
      isLeft = true;
    } else if (chance === 1) {
      model.stores = await upgradeStores(model.stores, freshSeed(model));
    }
  }
}

function put(model: Model, random: Random): void {
  const path = pick(random, paths);
  const chosen = tags.filter(() => random(2) === 0);
  const metadata = { ...plainMetadata, tags: chosen };
  const bytes = testBytes(1 + random(50), random(1_000));
  const { version } = putTestFile(
    model.stores,
    { path: `/${path}`, metadata, bytes },
    model.nowNs,
  ).file;
  retire(model, path);
  model.files.set(path, { tags: chosen, changedAtNs: model.nowNs, version });
}

function act(model: Model, random: Random): void {
  const { stores, nowNs } = model;
  const call = callOf('alice', nowNs);
  const name = { bucket: 'box', apiKey: undefined, conditions: {} };
  const [path, to] = [pick(random, paths), pick(random, paths)];
  const file = model.files.get(path);
  const version = model.versions.length === 0 ? undefined : pick(random, model.versions);
  switch (random(9)) {
    case 0: {
      if (file === undefined) return;
      deleteFile(stores, call, { ...name, path });
      retire(model, path);
      return;
    }
    case 1: {
      if (file === undefined || path === to) return;
      const target = { bucket: 'box', path: to };
      const moved = moveFile(stores, call, { ...name, from: path, to: target });
      model.files.delete(path);
      retire(model, to);
      model.files.set(to, { tags: file.tags, changedAtNs: nowNs, version: moved.file.version });
      return;
    }
    case 2: {
      if (file === undefined) return;
      const changed = changeFile(stores, call, { ...name, path, tags: [pick(random, tags)] });
      model.files.set(path, {
        tags: changed.file.tags,
        changedAtNs: nowNs,
        version: changed.file.version,
      });
      return;
    }
    case 3: {
      if (version === undefined) return;
      model.versions = model.versions.filter((one) => one !== version);
      const named = { ...name, path: version.path, version: version.version };
      const restored = restoreVersion(stores, call, named).file;
      retire(model, version.path);
      model.files.set(version.path, {
        tags: version.tags,
        changedAtNs: nowNs,
        version: restored.version,
      });
      return;
    }
    case 4: {
      if (version === undefined) return;
      model.versions = model.versions.filter((one) => one !== version);
      eraseVersions(stores, call, { ...name, path: version.path, version: version.version });
      return;
    }
    case 5: {
      if (file === undefined) return;
      eraseVersions(stores, call, { ...name, path, version: file.version });
      const ofPath = model.versions.filter((one) => one.path === path);
      const former = ofPath.toSorted((one, other) => other.version - one.version)[0];
      model.files.delete(path);
      if (former === undefined) return;
      model.versions = model.versions.filter((one) => one !== former);
      model.files.set(path, { ...former });
      return;
    }
    case 6: {
      if (model.uploads.size > 20) return;
      const { uploadId } = begin(stores, call, { path: `/${path}` });
      model.uploads.set(uploadId, { path, begunAtNs: nowNs });
      return;
    }
    default:
      put(model, random);
  }
}

function expectSameState(model: Model): void {
  const { stores } = model;
  const shown = allFiles(stores).map(({ path, tags: own, updatedAtNs, version }) => {
    return `${path} ${version} ${updatedAtNs} ${own}`;
  });
  const files = [...model.files].map(([path, { tags: own, changedAtNs, version }]) => {
    return `${path} ${version} ${changedAtNs} ${own}`;
  });
  expect(shown.sort()).toEqual(files.sort());
  const names = versionNames(stores, { bucketId: 'box' }, 10_000);
  const stored = names.map(
    (name) => `${name.path} ${name.version} ${findVersion(stores, name)?.retiredAtNs}`,
  );
  const expected = model.versions.map((one) => `${one.path} ${one.version} ${one.retiredAtNs}`);
  expect(stored.sort()).toEqual(expected.sort());
  const open = allSessions(stores).filter(({ status }) => status === 'active');
  expect(open.map(({ uploadId }) => uploadId).sort()).toEqual([...model.uploads.keys()].sort());
}

test.each(seedsOr(1, 2, 3))(
  'actOnRules arrives at what a slow model says, seed %i',
  async (seed) => {
    const random = randomNumbers(seed);
    const { stores } = await createScene();
    const box = getBucket(stores, 'box');
    saveBucket(stores, { ...box, keepVersionsDays: Number(keepDays) }, box);
    const model: Model = {
      stores,
      nowNs: startNs,
      starts: 0,
      rules: [],
      files: new Map(),
      versions: [],
      uploads: new Map(),
    };
    for (let step = 0; step < stepCount; step++) {
      model.nowNs += 1n + BigInt(random(1_000_000));
      if (random(10) === 0) {
        model.rules = randomRules(random);
        setRules(model.stores, callOf('alice', model.nowNs), { bucket: 'box', rules: model.rules });
      } else {
        act(model, random);
      }
      const jumps = random(4) === 0;
      if (jumps) model.nowNs += BigInt(random(3 * 24)) * hourNs;
      if (!jumps && random(3) > 0) continue;
      settlePlainly(model);
      await settle(model, random);
      expectSameState(model);
      if (random(10) === 0) checkInvariants(model.stores);
    }
  },
);
