// restic with a repository in each bucket: a thousand files backed up, checked, restored, pruned.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const files = 1_000;

test.each(buckets)('a back-up of a thousand files in bucket %s can be restored', async (bucket) => {
  const source = join(s3.folder, 'source');
  for (let index = 0; index < files; index++) {
    const folder = join(source, String(index % 10));
    if (index < 10) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${index}.bin`), sampleBytes(`restic ${index}`, 3_000));
  }
  await writeFile(join(s3.folder, 'password'), 'a long password');
  const restic = (...words: string[]) =>
    s3.run(
      ...(['restic', '-r', `s3:${s3.url}/${bucket}/backup`] as const),
      ...['--password-file', join(s3.folder, 'password'), '--no-cache', ...words],
    );
  await restic('init');
  await restic('backup', source);
  await writeFile(join(source, '0', '0.bin'), 'changed');
  await restic('backup', source);
  await restic('check', '--read-data');
  const target = join(s3.folder, `restored-${bucket}`);
  await restic('restore', 'latest', '--target', target);
  expect(await readFile(join(target, source, '0', '0.bin'), 'utf8')).toBe('changed');
  await expectFile(join(target, source, '9', '999.bin'), sampleBytes('restic 999', 3_000));
  await restic('forget', '--keep-last', '1', '--prune');
  await restic('check');
  const snapshots = JSON.parse((await restic('snapshots', '--json')).output.toString());
  expect(snapshots).toHaveLength(1);
});
