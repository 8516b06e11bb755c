// Files of stores survive a crash: each is flushed before it replaces the former one.

import { mkdtempSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { fileBucketMemory } from '../../packages/client/src/node/bucket-memory.ts';
import { fileIdentityStore } from '../../packages/client/src/node/identity-store.ts';
import { replaceFile } from '../../packages/client/src/node/replace-file.ts';
import { writeProfiles } from '../../packages/efs/src/config/profiles.ts';
import { saveState, type TransferName } from '../../packages/efs/src/transfers/transfer-state.ts';
import { CredentialsFile } from '../../packages/s3/src/credentials.ts';

const base = mkdtempSync(join(tmpdir(), 'replaced-files-'));
const { XDG_STATE_HOME } = process.env;
let folder: string;
/** The names in the folder at each flush. */
let flushed: string[][];
let flush: MockInstance<FileHandle['sync']>;

beforeEach(async () => {
  folder = mkdtempSync(join(base, 'run-'));
  process.env.XDG_STATE_HOME = folder;
  flushed = [];
  const handle = await open(join(base, 'any'), 'w');
  await handle.close();
  flush = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  flush.mockImplementation(async () => {
    flushed.push(await readdir(folder, { recursive: true }));
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  if (XDG_STATE_HOME === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = XDG_STATE_HOME;
});
afterAll(() => rm(base, { recursive: true }));

const transfer: TransferName = {
  kind: 'upload',
  ...{ service: 'here', bucket: 'demo', path: 'a', file: '/a' },
};
const upload = { uploadId: 'id', size: 1, changedAtMs: 0, wishes: '{}', processId: process.pid };
const stores: Readonly<Record<string, () => Promise<unknown>>> = {
  'fileIdentityStore()': () => fileIdentityStore(folder).set('name', new Uint8Array(48)),
  'fileBucketMemory()': () =>
    fileBucketMemory(folder).set('demo', { recipientsDigest: 'none', signedAtMs: 0 }),
  CredentialsFile: () => new CredentialsFile(join(folder, 'keys')).create({ profile: 'here' }),
  'saveState()': () => saveState(transfer, upload),
  'writeProfiles()': () => writeProfiles({ XDG_CONFIG_HOME: folder }, { profiles: {} }),
};

test.each(Object.keys(stores))('efs: %s flushes a file before it has its name', async (name) => {
  await stores[name]?.();
  const [stored] = (await readdir(folder, { recursive: true })).slice(-1);
  expect(flushed.length).toBeGreaterThan(0);
  expect(flushed[0]).not.toContain(stored);
});

test('replaceFile() leaves the former file and no draft if it fails', async () => {
  const file = join(folder, 'store');
  await replaceFile(file, 'former');
  await expect(replaceFile(join(file, 'inner'), 'new')).rejects.toThrow();
  flush.mockRejectedValue(new Error('full'));
  await expect(replaceFile(file, 'new')).rejects.toThrow('full');
  expect(await readdir(folder)).toEqual(['store']);
  expect(await readFile(file, 'utf8')).toBe('former');
});
