// Multipart uploads on the S3 server's disk, without a service.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MultipartUploads } from '../../packages/s3/src/multipart/multipart-uploads.ts';
import { Spool } from '../../packages/s3/src/multipart/spool.ts';

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
const start = { holder: 'A', bucket: 'demo', path: 'x', key: 'x', description: {} as never };

describe('Spool.write', () => {
  test('has room again after a file that could not be created', async () => {
    const spool = await Spool.open(folder, 10);
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
});
