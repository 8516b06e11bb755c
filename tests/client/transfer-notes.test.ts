// Notes about uploads that can continue: of several processes, and damaged ones.

import { mkdtempSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { UploadOptions } from '../../packages/client/src/types/transfers.ts';
import type { Run } from '../../packages/efs/src/config/run.ts';
import { putFile } from '../../packages/efs/src/transfers/put-file.ts';
import {
  clearNotes,
  loadUpload,
  saveState,
  type TransferName,
} from '../../packages/efs/src/transfers/transfer-state.ts';

const { XDG_STATE_HOME } = process.env;
let folder: string;
let cancelled: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'transfer-notes-'));
  process.env.XDG_STATE_HOME = folder;
  cancelled = [];
});
afterEach(async () => {
  if (XDG_STATE_HOME === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = XDG_STATE_HOME;
  await rm(folder, { recursive: true });
});

const name = { bucket: 'demo', path: 'a' };
const transfer: TransferName = { kind: 'upload', service: 'here', ...name, file: '/a' };
const source = { size: 1, changedAtMs: 0 };
const wishes = '{}';

/** Runs putFile() on a storage whose upload is `upload`. */
function put(upload: (options: UploadOptions) => Promise<never>) {
  const storage = {
    upload: (_: unknown, options: UploadOptions) => upload(options),
    uploads: { cancel: async ({ uploadId }: { uploadId: string }) => cancelled.push(uploadId) },
  } as unknown as Storage;
  const run = { service: 'here', signal: new AbortController().signal } as Run;
  const opened = { file: '/a', name, source, options: { parallel: 1, resume: true } };
  return putFile(run, storage, { ...opened, report: () => {}, continuedBy: '' } as never);
}

async function session(uploadId: string, { onSession }: UploadOptions): Promise<void> {
  await onSession?.({ uploadId } as Parameters<NonNullable<typeof onSession>>[0]);
}

test.each(['UploadCancelled', 'BadDigest'] as const)(
  'putFile() that fails with %s forgets its own note, and keeps that of another process',
  async (code) => {
    const failed = new StorageError(code, 'It failed.');
    const alone = put(async (options) => {
      await session('mine', options);
      throw failed;
    });
    await expect(alone).rejects.toThrow(failed);
    expect(await loadUpload(transfer)).toBeUndefined();
    const replaced = put(async (options) => {
      await session('mine', options);
      await saveState(transfer, { ...source, wishes, uploadId: 'theirs', processId: process.ppid });
      throw failed;
    });
    await expect(replaced).rejects.toThrow(failed);
    expect(await loadUpload(transfer)).toMatchObject({ uploadId: 'theirs' });
    expect(cancelled).toEqual(code === 'BadDigest' ? ['mine', 'mine'] : []);
  },
);

test.each([
  ['another process sends', process.ppid, []],
  ['no process sends', process.pid, ['former']],
])('putFile() without an identity, while %s the former upload', async (_, processId, expected) => {
  await saveState(transfer, { ...source, wishes, uploadId: 'former', processId });
  const refused = put(async ({ resume }) => {
    throw new StorageError(resume ? 'NoIdentity' : 'AccessDenied', 'It failed.');
  });
  await expect(refused).rejects.toMatchObject({ code: 'AccessDenied' });
  expect(cancelled).toEqual(expected);
});

test.each(['', '{', 'null'])('clearNotes() removes a note whose text is "%s"', async (text) => {
  await saveState(transfer, { ...source, wishes, uploadId: 'former', processId: process.ppid });
  const notes = join(folder, 'efs');
  const [file = ''] = await readdir(notes);
  await writeFile(join(notes, file), text);
  expect(await loadUpload(transfer)).toBeUndefined();
  await clearNotes();
  expect(await readdir(notes)).toEqual([]);
});
