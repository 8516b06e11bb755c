// s3fs: a bucket as a file system.

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();

test.each(buckets)('a mount shows files and folders of bucket %s', async (bucket) => {
  const { url, accessKeyId, secretAccessKey, folder } = s3;
  const point = join(folder, `mount-${bucket}`);
  const keys = join(folder, 'keys');
  await mkdir(point);
  await writeFile(keys, `${accessKeyId}:${secretAccessKey}`, { mode: 0o600 });
  const options = `passwd_file=${keys},url=${url},use_path_request_style,endpoint=auto`;
  await s3.run('s3fs', bucket, point, '-o', options);
  const film = sampleBytes('s3fs', 12_000_000);
  try {
    await mkdir(join(point, 'mounted'));
    await writeFile(join(point, 'mounted', 'a.txt'), 'written by a mount');
    await writeFile(join(point, 'mounted', 'film.bin'), film);
    expect((await readdir(join(point, 'mounted'))).sort()).toEqual(['a.txt', 'film.bin']);
    expect(await readFile(join(point, 'mounted', 'a.txt'), 'utf8')).toBe('written by a mount');
    await expectFile(join(point, 'mounted', 'film.bin'), film);
    await rename(join(point, 'mounted', 'a.txt'), join(point, 'mounted', 'b.txt'));
    const { bytes } = await s3.storage.download({ bucket, path: 'mounted/b.txt' });
    expect(new TextDecoder().decode(await bytes())).toBe('written by a mount');
    await rm(join(point, 'mounted'), { recursive: true });
    expect(await readdir(point)).not.toContain('mounted');
  } finally {
    await s3.tryRun('fusermount', '-u', point);
  }
});
