// The updates that a switch, a move and a copy take from the budget of an API key, also if they are
// refused.

import { beforeEach, describe, expect, test } from 'vitest';
import { digestedFilesMax } from '../../packages/wire/src/limits.ts';
import { kernelOperations } from '../../src/crypto/kernel.ts';
import { createKey } from '../../src/domain/administration/api-key-administration.ts';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { checkSwitch, type FileSwitch, switchFiles } from '../../src/domain/files/file-switch.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { setHold } from '../../src/domain/files/retention-changes.ts';
import { renewSites } from '../../src/domain/files/site-renewal.ts';
import { listVersions, restoreVersion } from '../../src/domain/files/versions.ts';
import { nameKey, scopeOf } from '../../src/domain/listing/file-index.ts';
import { findKey } from '../../src/domain/rights/api-keys.ts';
import type { Call } from '../../src/domain/shared/caller.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { tokensLeft } from '../../src/domain/shared/token-buckets.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  putChunks,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import { operationsOf } from '../support/kernel-operations.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

const alice = callOf('alice');
const wrong = '0'.repeat(64);
const budget = 100;
let stores: MemoryStores;
let apiKey: string;

beforeEach(async () => {
  ({ stores } = await createScene());
  const permissions = ['read', 'write', 'delete'];
  const named = { name: 'switch', buckets: ['box', 'other'], permissions, expiresAtNs: undefined };
  const limits = { updatesPerHour: BigInt(budget), bytesPerHour: 0n };
  apiKey = createKey(stores, alice, { ...named, budget: limits }).secret;
});

/** Puts that many files, and one that comes last. */
function fill(prefix: string, count: number): void {
  for (let index = 0; index < count; index++) putTestFile(stores, { path: `/${prefix}${index}` });
  putTestFile(stores, { path: `/${prefix}z` });
}

function makeSite(): void {
  updateBucket(stores, alice, bucketChange({ isSite: true, isPublic: true }));
  while (renewSites(stores, alice.nowNs));
}

function putHeaders(path: string): void {
  putTestFile(stores, { path: `/${path}`, bytes: Buffer.from('/*\n  X-Version: 2') });
}

function order(change: Partial<FileSwitch> = {}): FileSwitch {
  const prefixes = { bucket: 'box', fromPrefix: 'in/', toPrefix: '' };
  return { ...prefixes, readDeletes: () => [], apiKey, ...change };
}

/** Returns the updates that the work took from the key's budget: one, and what its cost adds. */
function chargeOf(work: (call: Call) => unknown): number {
  const { id } = findKey(stores, apiKey, startNs);
  const updates = { name: `key ${id} updates`, allowance: { burst: budget, perMinute: 0 } };
  const left = () => tokensLeft(stores.heap.tokens, updates, startNs);
  const before = left();
  work({ ...callOf('anonymous'), charge: { bytes: 10, isInspected: false } });
  return before - left();
}

function refusedSwitch(code: RefusalCode, change: Partial<FileSwitch> = {}) {
  return (call: Call) =>
    expectRefusal(stores, code, () => switchFiles(stores, call, order(change)));
}

describe('chargeWork(): a change of _headers is charged for 1,121 files of a site', () => {
  const to = { path: '_headers' };
  const named = { bucket: 'box', from: 'in/_headers', to, conditions: {} };

  beforeEach(() => {
    makeSite();
    fill('page-', 1_119);
    putHeaders('in/_headers');
  });

  test('by switchFiles(), which moves it in, moves it away and deletes it', () => {
    const change = (change: Partial<FileSwitch>) =>
      chargeOf((call) => switchFiles(stores, call, order(change)));
    expect(change({})).toBe(3);
    expect(change({ fromPrefix: '_head', toPrefix: 'old' })).toBe(3);
    putHeaders('_headers');
    expect(change({ readDeletes: () => ['_headers'] })).toBe(3);
    expect(change({ readDeletes: () => ['_headers'] })).toBe(1);
  });

  test('by copyFile(), moveFile() and moveFiles()', () => {
    expect(chargeOf((call) => copyFile(stores, call, { ...named, apiKey }))).toBe(3);
    expect(chargeOf((call) => moveFile(stores, call, { ...named, apiKey }))).toBe(3);
    const away = { ...named, from: '_headers', to: { bucket: 'other', path: 'x' } };
    expect(chargeOf((call) => moveFile(stores, call, { ...away, apiKey }))).toBe(3);
    putHeaders('in/_headers');
    const prefixes = { bucket: 'box', fromPrefix: 'in/_', toPrefix: '_' };
    expect(chargeOf((call) => moveFiles(stores, call, { ...prefixes, apiKey }))).toBe(3);
  });
});

describe('chargeWork(): removed and restored _headers are charged for the files of a site', () => {
  test('by deleteFiles(), deleteFile() and restoreVersion()', () => {
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 1n }));
    makeSite();
    fill('page-', 1_119);
    putHeaders('_headers');
    const remove = (...paths: string[]) =>
      chargeOf((call) => {
        const request = { bucket: 'box', apiKey, read: () => ({ paths }) };
        const { results } = deleteFiles(stores, call, request);
        expect(results.every(({ refusal }) => refusal === undefined)).toBe(true);
      });
    expect(remove('page-1', '_headers')).toBe(3);
    expect(remove('page-2')).toBe(1);
    putHeaders('_headers');
    const name = { bucket: 'box', path: '_headers', apiKey, conditions: {} };
    expect(chargeOf((call) => deleteFile(stores, call, name))).toBe(3);
    const listed = listVersions(stores, alice, { bucket: 'box', path: '_headers', apiKey });
    const version = listed.items[0]?.file.version ?? 0;
    const request = { bucket: 'box', path: '_headers', version, apiKey, conditions: {} };
    expect(chargeOf((call) => restoreVersion(stores, call, request))).toBe(3);
  });
});

describe('switchFiles(): a key pays', () => {
  test('for the digest of files that stay, also if it is another one', () => {
    fill('in/', 200);
    fill('stays-', 1_100);
    expect(chargeOf(refusedSwitch('PreconditionFailed', { ifResult: wrong }))).toBe(2);
    expect(chargeOf((call) => switchFiles(stores, call, order()))).toBe(1);
  });

  test('for the files that were checked before one of them was refused', () => {
    fill('in/', 250);
    setHold(stores, alice, { bucket: 'box', path: 'in/z', apiKey: undefined, hasHold: true });
    expect(chargeOf(refusedSwitch('FileHeld'))).toBe(2);
  });
});

describe('switchFiles() with ifResult', () => {
  test('refuses too many files by their count, also in the check of a query', () => {
    const scope = scopeOf('box', '');
    for (let index = 0; index <= digestedFilesMax; index++) {
      stores.index.insert(nameKey(scope, Buffer.from(`${index}`)), 0n);
    }
    const request = order({ ifResult: wrong });
    const check = () => checkSwitch(stores, callOf('anonymous'), request);
    const operations = operationsOf(() => expectRefusal(stores, 'InvalidArgument', check));
    expect(operations).not.toContain(kernelOperations.indexRead);
    expectRefusal(stores, 'InvalidArgument', () =>
      switchFiles(stores, callOf('anonymous'), request),
    );
  });

  test('reads no files if their digest comes on top of too much work', () => {
    const chunks = Array.from({ length: 4_000 }, (_, index) => [index, Uint8Array.of(1)] as const);
    const { uploadId } = begin(stores, alice, { path: '/in/0', size: BigInt(chunks.length) });
    putChunks(stores, alice, { uploadId, chunks });
    completeUpload(stores, alice, { uploadId, apiKey: undefined });
    // 4,080 leaves each, together a little less than a switch can do
    for (let index = 1; index < 44; index++) {
      const copied = { bucket: 'box', from: 'in/0', to: { path: `in/${index}` } };
      copyFile(stores, alice, { ...copied, conditions: {}, apiKey: undefined });
    }
    fill('stays-', 200);
    const refuse = refusedSwitch('EntityTooLarge', { ifResult: wrong });
    const operations = operationsOf(() => {
      expect(refuse(callOf('anonymous')).message).toContain('The digest of 245 files');
    });
    expect(operations).not.toContain(kernelOperations.recordsRead);
    expect(switchFiles(stores, alice, order({ apiKey: undefined }))).toMatchObject({ moved: 44 });
  });
});
