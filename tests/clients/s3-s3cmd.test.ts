// s3cmd, which compares the MD5 of local files with the entity tags of objects.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const film = sampleBytes('s3cmd', 16_000_001);

function s3cmd(...words: string[]) {
  const { url, accessKeyId, secretAccessKey } = s3;
  const { host } = new URL(url);
  return s3.run(
    ...(['s3cmd', '--no-ssl', `--host=${host}`, `--host-bucket=${host}`] as const),
    ...[`--access_key=${accessKeyId}`, `--secret_key=${secretAccessKey}`, '--no-progress'],
    ...words,
  );
}

describe.each(buckets)('in bucket %s', (bucket) => {
  test('a folder is synced by MD5, and downloaded', async () => {
    const tree = join(s3.folder, 'tree');
    await mkdir(tree, { recursive: true });
    await writeFile(join(tree, 'film.bin'), film);
    for (let index = 0; index < 20; index++) {
      await writeFile(join(tree, `${index}.txt`), `file ${index}`);
    }
    const there = `s3://${bucket}/tree/`;
    await s3cmd('sync', '--multipart-chunk-size-mb=5', 'tree/', there);
    // The same size and another content: only the MD5 differs.
    await writeFile(join(tree, '7.txt'), 'FILE 7');
    const { output } = await s3cmd('sync', '--multipart-chunk-size-mb=5', 'tree/', there);
    if (bucket !== 'safe') {
      expect(output.toString()).toContain('7.txt');
      expect(output.toString()).not.toContain('8.txt');
      await s3cmd('get', '--force', `${there}7.txt`, 'seven');
      expect(await readFile(join(s3.folder, 'seven'), 'utf8')).toBe('FILE 7');
    }
    await mkdir(join(s3.folder, `back-${bucket}`));
    await s3cmd('sync', there, `back-${bucket}/`);
    await expectFile(join(s3.folder, `back-${bucket}`, 'film.bin'), film);
    await s3cmd('del', '--recursive', '--force', there);
    expect((await s3cmd('ls', there)).output.toString().trim()).toBe('');
  });
});
