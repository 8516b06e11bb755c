// mc, MinIO's client, which reads settings of a bucket first.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const film = sampleBytes('mc', 20_000_001);

describe.each(buckets)('in bucket %s', (bucket) => {
  test('mc mirrors a folder, shows, copies, moves, tags and removes it', async () => {
    const { url, accessKeyId, secretAccessKey } = s3;
    const mc = (...words: string[]) => s3.run('mc', '--quiet', '--no-color', ...words);
    await mc('alias', 'set', 'efs', url, accessKeyId, secretAccessKey, '--path', 'on');
    const tree = join(s3.folder, 'tree');
    await mkdir(join(tree, 'deep'), { recursive: true });
    await writeFile(join(tree, 'film.bin'), film);
    for (let index = 0; index < 10; index++) {
      await writeFile(join(tree, 'deep', `${index}.txt`), `file ${index}`);
    }
    const there = `efs/${bucket}/tree`;
    await mc('mirror', 'tree', there);
    const { output } = await mc('ls', '--recursive', there);
    expect(output.toString().trim().split('\n')).toHaveLength(11);
    await mc('mirror', there, `back-${bucket}`);
    await expectFile(join(s3.folder, `back-${bucket}`, 'film.bin'), film);
    expect((await mc('cat', `${there}/deep/3.txt`)).output.toString()).toBe('file 3');
    await mc('cp', `${there}/film.bin`, `${there}/copy.bin`);
    await mc('mv', `${there}/copy.bin`, `${there}/moved.bin`);
    expect((await mc('stat', `${there}/moved.bin`)).output.toString()).toMatch(/Size\s*: 19 MiB/);
    await mc('tag', 'set', `${there}/deep/3.txt`, 'env=prod');
    expect((await mc('tag', 'list', `${there}/deep/3.txt`)).output.toString()).toContain('prod');
    expect((await mc('anonymous', 'get', `efs/${bucket}`)).output.toString()).toContain('private');
    await mc('share', 'download', `${there}/film.bin`);
    await mc('rm', '--recursive', '--force', `${there}/`);
    expect((await mc('ls', '--recursive', there)).output.toString().trim()).toBe('');
    await mc('mb', `efs/${bucket}mc`);
    await mc('mb', '--ignore-existing', `efs/${bucket}mc`);
    await mc('rb', `efs/${bucket}mc`);
  });
});
