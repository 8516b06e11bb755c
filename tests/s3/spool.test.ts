// Multipart uploads on the S3 server's disk, without a service.

import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../packages/s3/src/account.ts';
import {
  type MultipartOptions,
  MultipartUploads,
} from '../../packages/s3/src/multipart/multipart-uploads.ts';
import type { PartWork } from '../../packages/s3/src/multipart/part-work.ts';
import { Spool } from '../../packages/s3/src/multipart/spool.ts';
import { logPath, UploadLog } from '../../packages/s3/src/multipart/upload-log.ts';

let root: string;
let folder: string;
let count = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'efs-spool-'));
});
beforeEach(async () => {
  count += 1;
  folder = join(root, `${count}`);
  await mkdir(folder);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function* bytesOf(length: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(length);
}

const uploadId = 'a'.repeat(32);
interface Part {
  readonly uploadId: string;
  readonly holder: string;
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
}

/** Puts a part of an end-to-end bucket, which waits in the spool. */
async function put(uploads: MultipartUploads, { uploadId, size, ...owner }: Part): Promise<void> {
  const upload = await uploads.find(uploadId, owner);
  const work = { isSealed: true, signal: new AbortController().signal } as PartWork;
  const number = upload.state.parts.size + 1;
  const digests = () => ({ md5: new Uint8Array(16) }) as never;
  await upload.putPart(work, { number, size, stream: bytesOf(size), digests, isCopied: false });
}

const start = { holder: 'A', bucket: 'demo', path: 'x', key: 'x', description: {} as never };
const other = { ...start, holder: 'B' };

describe('Spool.write', () => {
  test('has room again after a file that could not be created', async () => {
    const spool = await Spool.open(folder, 20, new Map());
    await rm(folder, { recursive: true });
    await expect(spool.write(uploadId, bytesOf(10), 10)).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(folder);
    expect(await spool.write(uploadId, bytesOf(10), 10)).toMatch(/\.part$/);
    await expect(spool.write(uploadId, bytesOf(1), 1)).rejects.toMatchObject({ code: 'SlowDown' });
  });
});

describe('MultipartUploads', () => {
  test('opens its folder at a later request if it could not be created at first', async () => {
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, '');
    const uploads = new MultipartUploads({ folder: join(blocked, 'uploads') });
    await expect(uploads.create(start)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await rm(blocked);
    expect(await uploads.create(start)).toMatch(/^[0-9a-f]{32}$/);
  });

  test('pass over logs that cannot be read, report them, and remove them after a day', async () => {
    const uploads = new MultipartUploads({ folder });
    const whole = await uploads.create(start);
    const [damaged, unreadable] = ['d'.repeat(32), 'e'.repeat(32)];
    await writeFile(logPath(folder, damaged), 'damaged\n');
    // Reading a folder fails, as does reading a file of another user or on a failing disk.
    await mkdir(logPath(folder, unreadable));
    const lines: string[] = [];
    const again = new MultipartUploads({ folder }, (line) => lines.push(line));
    const added = await again.create(start);
    // Both can begin in one millisecond, so their order is not tested
    const listed = (await again.list(start)).map(({ uploadId }) => uploadId);
    expect(listed.sort()).toEqual([whole, added].sort());
    expect((await again.find(whole, start)).state.start.uploadId).toBe(whole);
    expect(await again.list(start)).toHaveLength(2);
    expect(lines.map((line) => line.split(' ')[2]).sort()).toEqual([
      `${damaged}.log`,
      `${unreadable}.log`,
    ]);
    await rm(logPath(folder, unreadable), { recursive: true });
    for (const [uploadId, hours] of [
      [damaged, 2],
      [whole, 25],
    ] as const) {
      const time = new Date(Date.now() - hours * 3_600_000);
      await utimes(logPath(folder, uploadId), time, time);
    }
    const later = new MultipartUploads({ folder });
    await later.create(start);
    const names = await readdir(folder);
    expect([names.includes(`${damaged}.log`), names.includes(`${whole}.log`)]).toEqual([
      true,
      false,
    ]);
  });

  test('continue while a part of one upload cannot be read', async () => {
    const uploads = new MultipartUploads({ folder });
    const whole = await uploads.create(start);
    // A link to itself cannot be examined, as a file on a failing disk.
    const broken = `${'b'.repeat(32)}.0123456789abcdef.part`;
    await symlink(broken, join(folder, broken));
    const lines: string[] = [];
    const again = new MultipartUploads({ folder }, (line) => lines.push(line));
    expect(await again.list(start)).toMatchObject([{ uploadId: whole }]);
    await put(again, { uploadId: whole, size: 5, ...start });
    expect(lines).toMatchObject([expect.stringContaining(broken)]);
  });

  test('count an aborted upload until its log is removed', async () => {
    const uploads = new MultipartUploads({ folder, uploadsMax: 2 });
    const uploadId = await uploads.create(start);
    await rm(logPath(folder, uploadId));
    await mkdir(logPath(folder, uploadId));
    await expect(uploads.forget(uploadId)).rejects.toThrow();
    await expect(uploads.create(start)).rejects.toMatchObject({ code: 'SlowDown' });
    await rm(logPath(folder, uploadId), { recursive: true });
    await uploads.forget(uploadId);
    await uploads.create(start);
  });

  test('let one access key use half of the spool, also after a restart', async () => {
    const open = () => new MultipartUploads({ folder, spoolBytesMax: 20 });
    const uploads = open();
    const first = await uploads.create(start);
    const second = await uploads.create(other);
    await put(uploads, { uploadId: first, size: 10, ...start });
    const full = { code: 'SlowDown', message: expect.stringContaining('at most 10 are for it') };
    await expect(put(uploads, { uploadId: first, size: 1, ...start })).rejects.toMatchObject(full);
    await put(uploads, { uploadId: second, size: 5, ...other });
    const again = open();
    await expect(put(again, { uploadId: second, size: 1, ...other })).rejects.toMatchObject({
      code: 'SlowDown',
    });
    const found = await again.find(first, start);
    await found.abort({ storage: {} } as Account);
    await again.forget(first);
    await put(again, { uploadId: second, size: 5, ...other });
  });

  test('let one access key begin half of the uploads, also after a restart', async () => {
    const open = () => new MultipartUploads({ folder, uploadsMax: 4 });
    const uploads = open();
    const own = [await uploads.create(start), await uploads.create(start)];
    for (const each of [uploads, open()]) {
      await expect(each.create(start)).rejects.toMatchObject({
        code: 'SlowDown',
        message: expect.stringContaining('has 2 open multipart uploads; at most 2 are for it now'),
      });
    }
    await uploads.create(other);
    for (const uploadId of own) await uploads.forget(uploadId);
    await uploads.create(start);
  });

  test('count no completed upload, and remove its log after an hour', async () => {
    const options: MultipartOptions = { folder, uploadsMax: 2 };
    const uploads = new MultipartUploads(options);
    const ids: string[] = [];
    for (let number = 0; number < 3; number += 1) {
      const uploadId = await uploads.create(start);
      ids.push(uploadId);
      const log = await UploadLog.open(folder, uploadId);
      await log?.append({ kind: 'completed', completed: { etag: 'x' } });
      uploads.release(uploadId);
    }
    const [old = '', young = ''] = ids;
    const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(logPath(folder, old), twoHoursAgo, twoHoursAgo);
    const again = new MultipartUploads(options);
    const open = await again.create(start);
    await expect(again.find(old, start)).rejects.toMatchObject({ code: 'NoSuchUpload' });
    expect((await again.find(young, start)).state.completed).toEqual({ etag: 'x' });
    await utimes(logPath(folder, open), twoHoursAgo, twoHoursAgo);
    const later = new MultipartUploads({ ...options, uploadsMax: 4 });
    await later.create(start);
    expect((await later.find(open, start)).state.completed).toBeUndefined();
  });
});
