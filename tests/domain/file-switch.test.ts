// Switches: all or nothing. Random files and requests are compared with a plain model, and a
// refused call must write nothing.

import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { heldBytes } from '../../src/domain/buckets/quota.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { checkSwitch, type FileSwitch, switchFiles } from '../../src/domain/files/file-switch.ts';
import { setHold } from '../../src/domain/files/retention-changes.ts';
import { renewSites } from '../../src/domain/files/site-renewal.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { switchedFilesMax } from '../../src/limits.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  plainMetadata,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { allFiles, allVersions, checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';

const alice = callOf('alice', startNs + hourNs);
const noKey = { bucket: 'box', apiKey: undefined };

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

function order(change: Partial<FileSwitch> & { readonly deletes?: readonly string[] }): FileSwitch {
  const { deletes = [], ...others } = change;
  const prefixes = { fromPrefix: 'in/', toPrefix: '' };
  return { ...noKey, ...prefixes, readDeletes: () => deletes, ...others };
}

function put(...paths: readonly string[]): void {
  for (const path of paths) putTestFile(stores, { path: `/${path}`, bytes: Buffer.from(path) });
}

/** The stored files: path → entity tag and type. */
function stored(): Map<string, string> {
  const files = allFiles(stores).filter(({ bucketId }) => bucketId === 'box');
  return new Map(files.map((file) => [file.path, describeFile(file)]));
}

function describeFile(file: Parameters<typeof entityTag>[0] & { contentType: string }): string {
  return `${entityTag(file).slice(1, -1)}\0${file.contentType}\0`;
}

/** The digest as the documents define it. */
function digestOf(files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const path of [...files.keys()].sort()) hash.update(`${path}\0${files.get(path)}`);
  return hash.digest('hex');
}

function damage(path: string): void {
  const key = Buffer.from(`box\0${path}`);
  const record = stores.files.get(key) ?? expect.fail('no record');
  record[record.length - 1] = (record.at(-1) ?? 0) ^ 1;
  stores.files.set(key, record);
}

describe('switchFiles() compared with a plain model', () => {
  const names = ['a', 'b', 'b/c', 'd.html', 'e/index.html', 'f', 'é', '𝒳', '\uffee'];
  const folders = ['in/', '.efs-deploy/', ''];

  interface Expected {
    readonly files: Map<string, string>;
    readonly codes: ReadonlySet<RefusalCode>;
  }

  /** Returns the files after the switch, and the refusals that any of them causes. */
  function predict(
    request: FileSwitch,
    troubles: ReadonlyMap<string, RefusalCode>,
    isKept: boolean,
  ): Expected {
    const { fromPrefix, toPrefix } = request;
    const files = stored();
    const codes = new Set<RefusalCode>();
    const moves = [...files.keys()].filter((path) => path.startsWith(fromPrefix));
    const targetOf = (path: string) => toPrefix + path.slice(fromPrefix.length);
    const targets = new Set(moves.map(targetOf));
    const note = (path: string, isSource: boolean) => {
      const trouble = troubles.get(path);
      // A bucket with versions stores a held file as one; a damaged file may be replaced
      if (trouble === 'FileHeld' && (isSource || !isKept)) codes.add(trouble);
      if (trouble === 'IntegrityError' && isSource) codes.add(trouble);
    };
    const isPath = (path: string) => path.split('/').every((segment) => segment !== '');
    if (![...targets].every(isPath)) codes.add('InvalidPath');
    if (toPrefix.startsWith(fromPrefix)) codes.add('InvalidArgument');
    for (const path of request.readDeletes()) {
      if (targets.has(path) || path.startsWith(fromPrefix)) codes.add('InvalidArgument');
      note(path, false);
      files.delete(path);
    }
    const moved = moves.map((path) => [targetOf(path), files.get(path) ?? ''] as const);
    for (const path of moves) {
      note(path, true);
      note(targetOf(path), false);
      files.delete(path);
    }
    for (const [path, text] of moved) files.set(path, text);
    return { files, codes };
  }

  function someRequest(random: (limit: number) => number): FileSwitch {
    const pick = <T>(list: readonly T[]) => list[random(list.length)] as T;
    const deletes = names.filter(() => random(6) === 0).map((name) => pick(['', 'out/']) + name);
    const fromPrefix = pick(['in/', '.efs-deploy/', '.efs-deploy/', 'in/b']);
    return order({ fromPrefix, toPrefix: pick(['', '', 'out/', 'in/x/']), deletes });
  }

  test.each(seedsOr(1, 2, 3))('makes all changes or none, seed %i', (seed) => {
    const random = randomNumbers(seed);
    let [done, refused] = [0, 0];
    for (let round = 0; round < 60; round++) {
      const isKept = random(3) === 0;
      updateBucket(stores, alice, bucketChange({ keepVersionsDays: isKept ? 9n : 0n }));
      if (random(10) === 0) updateBucket(stores, alice, bucketChange({ isSite: random(2) === 0 }));
      const troubles = new Map<string, RefusalCode>();
      for (const path of [...folders, 'out/'].flatMap((folder) => names.map((n) => folder + n))) {
        if (random(3) !== 0) continue;
        const bytes = testBytes(20, random(5));
        const isNew = findFile(stores, 'box', path) === undefined;
        putTestFile(stores, { path: `/${path}`, bytes }, alice.nowNs);
        if (!isNew || random(40) !== 0) continue;
        if (random(2) === 0) {
          setHold(stores, alice, { ...noKey, path, hasHold: true });
          troubles.set(path, 'FileHeld');
        } else if (!path.endsWith('html')) {
          damage(path);
          troubles.set(path, 'IntegrityError');
        }
      }
      const request = someRequest(random);
      const { files, codes } = predict(request, troubles, isKept);
      const below = new Map([...files].filter(([path]) => path.startsWith(request.toPrefix)));
      const isWrong = random(5) === 0;
      const ifResult = isWrong ? '0'.repeat(64) : random(2) ? digestOf(below) : undefined;
      const all = isWrong ? new Set([...codes, 'PreconditionFailed' as const]) : codes;
      const before = stored();
      const writes = stores.writeCount();
      try {
        switchFiles(stores, alice, { ...request, ifResult });
        expect([...all]).toEqual([]);
        expect(stored()).toEqual(files);
        done++;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect([...all]).toContain(error.code);
        expect(stores.writeCount()).toBe(writes);
        expect(stored()).toEqual(before);
        refused++;
      }
      for (const [path, trouble] of troubles) {
        for (const at of [path, ...files.keys()].filter((each) => stored().has(each))) {
          const file = findFile(stores, 'box', at);
          if (trouble === 'FileHeld' && file?.retention?.hasHold)
            setHold(stores, alice, { ...noKey, path: at, hasHold: false });
        }
        if (trouble === 'IntegrityError' && stored().has(path)) damage(path);
      }
    }
    while (renewSites(stores, alice.nowNs));
    checkInvariants(stores);
    expect(done).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(10);
  });
});

describe('switchFiles()', () => {
  test('moves to the root of the bucket, deletes, and notes each in the journal', () => {
    put('in/a', 'in/b/c', 'a', 'old', 'stays');
    const from = stores.noted.length;
    const answer = switchFiles(stores, alice, order({ deletes: ['old', '/none', 'old'] }));
    expect(answer).toEqual({ moved: 2, deleted: 1 });
    expect([...stored().keys()].sort()).toEqual(['a', 'b/c', 'stays']);
    expect(stores.noted.slice(from).map(({ kind, subject }) => [kind, subject])).toEqual([
      ['file.deleted', 'old'],
      ['file.moved', 'a\0in/a'],
      ['file.moved', 'b/c\0in/b/c'],
    ]);
    const again = switchFiles(stores, alice, order({ deletes: ['old'] }));
    expect(again).toEqual({ moved: 0, deleted: 0 });
    checkInvariants(stores);
  });

  test('stores replaced and deleted files as former versions', () => {
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 9n }));
    put('in/a', 'a', 'old');
    switchFiles(stores, alice, order({ deletes: ['old'] }));
    expect(allVersions(stores).map(({ path }) => path)).toEqual(['a', 'old']);
    checkInvariants(stores);
  });

  test('names the file that prevents it', () => {
    put('in/a', 'in/b');
    setHold(stores, alice, { ...noKey, path: 'in/b', hasHold: true });
    const held = expectRefusal(stores, 'FileHeld', () => switchFiles(stores, alice, order({})));
    expect(held.message).toMatch(/^Nothing was changed\. "in\/b": /);
  });

  test('refuses what exceeds the quota in sum, though each file fits', () => {
    const long = `${'x'.repeat(40)}/`;
    put('in/1', 'in/2', 'in/3');
    const quotaBytes = BigInt(heldBytes(getBucket(stores, 'box'))) + 1_000n;
    updateBucket(stores, alice, bucketChange({ quotaBytes }));
    const request = order({ toPrefix: long });
    expectRefusal(stores, 'QuotaExceeded', () => switchFiles(stores, alice, request));
    expect(switchFiles(stores, alice, order({ toPrefix: 'i/' }))).toMatchObject({ moved: 3 });
  });

  test('accepts what fits the quota in sum, though one file alone does not', () => {
    put('in/new', 'old');
    putTestFile(stores, { path: '/old-2', bytes: testBytes(500) });
    const quotaBytes = BigInt(heldBytes(getBucket(stores, 'box')));
    updateBucket(stores, alice, bucketChange({ quotaBytes, quotaFiles: 3n }));
    const longer = { toPrefix: 'a-longer-folder/' };
    expectRefusal(stores, 'QuotaExceeded', () => switchFiles(stores, alice, order(longer)));
    const swapped = order({ ...longer, deletes: ['old-2'] });
    expect(switchFiles(stores, alice, swapped)).toEqual({ moved: 1, deleted: 1 });
    checkInvariants(stores);
  });

  test('refuses more files, and more work, than one message may do', () => {
    for (let index = 0; index <= switchedFilesMax; index++) put(`in/${index}`);
    const refuse = () =>
      expectRefusal(stores, 'EntityTooLarge', () => switchFiles(stores, alice, order({})));
    expect(refuse().message).toContain(`More than ${switchedFilesMax} files`);
    expectRefusal(stores, 'EntityTooLarge', () => checkSwitch(stores, alice, order({})));
    const some = order({ fromPrefix: 'in/1', toPrefix: 'out/1' });
    expect(switchFiles(stores, alice, some)).toEqual({ moved: 1_111, deleted: 0 });
    updateBucket(stores, alice, bucketChange({ isSite: true, isPublic: true }));
    for (let index = 0; index < 1_600; index++) put(`pages/${index}/index.html`);
    const pages = order({ fromPrefix: 'pages/', toPrefix: 'shown/' });
    expectRefusal(stores, 'EntityTooLarge', () => switchFiles(stores, alice, pages));
    const paths = Array.from({ length: 1_001 }, (_, index) => `${index}`);
    const deletes = order({ fromPrefix: 'none/', deletes: paths });
    expectRefusal(stores, 'EntityTooLarge', () => switchFiles(stores, alice, deletes));
  });

  test('refuses prefixes and paths that contradict each other', () => {
    put('in/a', 'in/in/a', 'b');
    const refuse = (change: Parameters<typeof order>[0], code: RefusalCode = 'InvalidArgument') =>
      expectRefusal(stores, code, () => switchFiles(stores, alice, order(change)));
    refuse({});
    refuse({ fromPrefix: '', toPrefix: 'x/' });
    refuse({ fromPrefix: 'in/', toPrefix: 'in/x' });
    refuse({ fromPrefix: 'in/in/', deletes: ['a'] });
    refuse({ fromPrefix: 'in/in/', deletes: ['in/in/b'] });
    refuse({ fromPrefix: 'in/in/', deletes: ['../x'] }, 'InvalidPath');
    refuse({ fromPrefix: 'in/in/', toPrefix: '../' }, 'InvalidPath');
  });

  test('needs every right at every place', () => {
    put('in/a', 'a', 'b', 'out/c');
    const all = ['read', 'write', 'delete'];
    const refuse = (
      key: { readonly permissions?: readonly string[]; readonly prefix?: string },
      change: Parameters<typeof order>[0] = {},
    ) => {
      const apiKey = makeKey(stores, { permissions: all, ...key });
      const request = order({ ...change, apiKey });
      expectRefusal(stores, 'AccessDenied', () =>
        switchFiles(stores, callOf('anonymous'), request),
      );
      expectRefusal(stores, 'AccessDenied', () =>
        checkSwitch(stores, callOf('anonymous'), request),
      );
    };
    for (const lacking of all) refuse({ permissions: all.filter((one) => one !== lacking) });
    refuse({ permissions: ['upload', 'read', 'delete'] });
    refuse({ prefix: 'in/' });
    refuse({ prefix: 'in/' }, { fromPrefix: 'in/a', toPrefix: 'in/b', deletes: ['b'] });
    refuse({ prefix: 'out/' }, { toPrefix: 'out/' });
    for (const person of ['bob', 'anonymous'] as const) {
      const call = () => switchFiles(stores, callOf(person), order({}));
      expectRefusal(stores, 'AccessDenied', call);
    }
    const apiKey = makeKey(stores, { permissions: all });
    expect(switchFiles(stores, callOf('anonymous'), order({ apiKey }))).toMatchObject({ moved: 1 });
  });
});

describe('switchFiles() of a site', () => {
  const later = { contentType: 'text/plain' };
  const text = (path: string, lines: readonly string[]) =>
    putTestFile(stores, {
      ...{ path: `/${path}`, bytes: Buffer.from(lines.join('\n')) },
      metadata: { ...plainMetadata, ...later },
    });

  beforeEach(() => {
    updateBucket(stores, alice, bucketChange({ isSite: true, isPublic: true }));
    while (renewSites(stores, alice.nowNs));
  });

  test('refuses rules and header fields with a fault, by their line', () => {
    put('.efs-deploy/index.html');
    const staged = order({ fromPrefix: '.efs-deploy/' });
    text('.efs-deploy/_redirects', ['/a /b 301', 'nonsense']);
    const rules = expectRefusal(stores, 'InvalidArgument', () =>
      switchFiles(stores, alice, staged),
    );
    expect(rules.message).toContain('line 2');
    text('.efs-deploy/_redirects', ['/a /b 301']);
    text('.efs-deploy/_headers', ['/*', '  Set-Cookie: x']);
    const fields = expectRefusal(stores, 'InvalidArgument', () =>
      switchFiles(stores, alice, staged),
    );
    expect(fields.message).toContain('line 2');
  });

  test('gives new header fields to all files in the same message, also to those that stay', () => {
    for (let index = 0; index < 50; index++) put(`stays-${index}`);
    put('.efs-deploy/new');
    text('.efs-deploy/_headers', ['/*', '  X-Version: 2']);
    expect(findFile(stores, 'box', '.efs-deploy/new')?.leavesVersion).toBe(2);
    switchFiles(stores, alice, order({ fromPrefix: '.efs-deploy/' }));
    expect(renewSites(stores, alice.nowNs)).toBe(false);
    const fieldsOf = () => allFiles(stores).map(({ siteHeaders }) => siteHeaders?.flat().join());
    expect(new Set(fieldsOf())).toEqual(new Set(['X-Version,2']));
    switchFiles(stores, alice, order({ fromPrefix: '.efs-deploy/', deletes: ['_headers'] }));
    expect(renewSites(stores, alice.nowNs)).toBe(false);
    expect(new Set(fieldsOf())).toEqual(new Set([undefined]));
    checkInvariants(stores);
  });
});
