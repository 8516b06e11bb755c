// s5cmd, which runs many concurrent requests with AWS's SDK for Go.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const film = sampleBytes('s5cmd', 20_000_001);

describe.each(buckets)('in bucket %s', (bucket) => {
  test('s5cmd syncs a folder, shows, copies, moves and removes it', async () => {
    const s5cmd = (...words: string[]) =>
      s3.run('s5cmd', '--endpoint-url', s3.url, '--numworkers', '16', ...words);
    const tree = join(s3.folder, 'tree');
    await mkdir(join(tree, 'deep'), { recursive: true });
    await writeFile(join(tree, 'film.bin'), film);
    for (let index = 0; index < 30; index++) {
      await writeFile(join(tree, 'deep', `${index}.txt`), `file ${index}`);
    }
    const there = `s3://${bucket}/tree/`;
    await s5cmd('cp', '--part-size', '5', 'tree/', there);
    expect((await s5cmd('ls', `${there}*`)).output.toString().trim().split('\n')).toHaveLength(31);
    await mkdir(join(s3.folder, `back-${bucket}`));
    await s5cmd('cp', '--part-size', '5', `${there}*`, `back-${bucket}/`);
    await expectFile(join(s3.folder, `back-${bucket}`, 'film.bin'), film);
    await writeFile(join(tree, 'deep', '7.txt'), 'longer than before');
    const synced = (await s5cmd('sync', '--size-only', 'tree/', there)).output.toString();
    expect(synced.trim().split('\n')).toEqual([expect.stringContaining('7.txt')]);
    expect((await s5cmd('cat', `${there}deep/7.txt`)).output.toString()).toBe('longer than before');
    await s5cmd('cp', `${there}film.bin`, `${there}copy.bin`);
    await s5cmd('mv', `${there}copy.bin`, `${there}moved.bin`);
    expect((await s5cmd('du', `${there}*`)).output.toString()).toMatch(/32 objects/);
    await s5cmd('rm', `${there}*`);
    const { code } = await s3.tryRun('s5cmd', '--endpoint-url', s3.url, 'ls', `${there}*`);
    expect(code, 'of a listing without objects').toBe(1);
    await s5cmd('mb', `s3://${bucket}S5`);
    await s5cmd('rb', `s3://${bucket}S5`);
  });
});
