// rclone with an S3 remote: copy, sync, check, a server-side copy, former versions, retention, and, if
// the system allows it, a mount.

import { spawn } from 'node:child_process';
import { accessSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { expectFile } from './support/client-cases.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

const s3 = openS3Process();
const film = sampleBytes('rclone', 12_000_001);

function canMount(): boolean {
  try {
    accessSync('/dev/fuse');
    return true;
  } catch {
    return false;
  }
}

/** Returns a remote without a configuration file. */
function place(path: string): string {
  const { url, accessKeyId, secretAccessKey } = s3;
  const options = {
    provider: 'Other',
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    endpoint: url,
    region: 'auto',
    force_path_style: 'true',
    chunk_size: '5Mi',
    upload_cutoff: '5Mi',
  };
  const told = Object.entries(options).map(([name, value]) => `${name}='${value}'`);
  return `:s3,${told.join(',')}:${path}`;
}

const rclone = (...words: string[]) => s3.run('rclone', '--retries', '1', ...words);

async function fillTree(): Promise<void> {
  const tree = join(s3.folder, 'tree');
  await rm(tree, { recursive: true, force: true });
  await mkdir(join(tree, 'deep', 'er'), { recursive: true });
  await writeFile(join(tree, 'film.bin'), film);
  for (let index = 0; index < 30; index++) {
    await writeFile(join(tree, 'deep', 'er', `${index} ä+%.txt`), `file ${index}`);
  }
}

describe.each(buckets)('in bucket %s', (bucket) => {
  test('a folder is copied, checked, synced, copied on the server, and copied back', async () => {
    await fillTree();
    const there = place(`${bucket}/tree`);
    await rclone('copy', 'tree', there);
    await rclone('check', ...(bucket === 'safe' ? ['--download'] : []), 'tree', there);
    await writeFile(join(s3.folder, 'tree', 'deep', 'new.txt'), 'new');
    const { errors } = await rclone('sync', '-v', 'tree', there);
    if (bucket !== 'safe') expect(errors).toMatch(/Transferred:\s+1 \/ 1/);
    const listed = (await rclone('lsf', '-R', there)).output.toString();
    expect(listed).toContain('deep/er/7 ä+%.txt');
    await rclone('copy', `${there}/deep`, place(`${bucket}/copied`));
    await rclone('moveto', place(`${bucket}/copied/new.txt`), place(`${bucket}/copied/moved.txt`));
    expect((await rclone('cat', place(`${bucket}/copied/moved.txt`))).output.toString()).toBe(
      'new',
    );
    await rclone('copy', there, `back-${bucket}`);
    await expectFile(join(s3.folder, `back-${bucket}`, 'film.bin'), film);
    await rclone('purge', place(`${bucket}/copied`));
    await rclone('purge', there);
  });

  test('a former version is listed and fetched', async () => {
    const kept = `${bucket}Kept`;
    const { endToEnd } = await s3.storage.buckets.get(bucket);
    await s3.storage.buckets.create(kept, endToEnd ? { endToEnd: {} } : {});
    await rclone('backend', 'versioning', place(kept), 'Enabled');
    for (const text of ['one', 'second']) {
      await writeFile(join(s3.folder, 'kept.txt'), text);
      await rclone('copyto', '--ignore-times', 'kept.txt', place(`${kept}/a/kept.txt`));
    }
    const former = place(`${kept}/a`).replace(':s3,', ":s3,versions='true',");
    const names = (await rclone('lsf', former)).output.toString().trim().split('\n');
    expect(names).toEqual([expect.stringMatching(/^kept-v[\d-]+\.txt$/), 'kept.txt']);
    await rclone('copy', former, `former-${bucket}`);
    for (const [name = '', text] of [
      [names[0], 'one'],
      ['kept.txt', 'second'],
    ] as const) {
      await expectFile(join(s3.folder, `former-${bucket}`, name), Buffer.from(text));
    }
  });

  test('a retained version is replaced, and kept by backend cleanup-hidden', async () => {
    const locked = `${bucket}Locked`;
    const { endToEnd } = await s3.storage.buckets.get(bucket);
    const sealed = endToEnd ? { endToEnd: {} } : {};
    const retention = [{ mode: 'governance', days: 1 }] as const;
    await s3.storage.buckets.create(locked, { keepVersionsDays: 1, retention, ...sealed });
    const versionsOf = async () => {
      const paths: string[] = [];
      for await (const { path } of s3.storage.versions.list({ bucket: locked })) paths.push(path);
      return paths;
    };
    for (const text of ['one', 'second']) {
      await writeFile(join(s3.folder, 'locked.txt'), text);
      await rclone('copyto', '--ignore-times', 'locked.txt', place(`${locked}/locked.txt`));
    }
    await rclone('delete', place(locked));
    expect(await versionsOf()).toEqual(['locked.txt', 'locked.txt']);
    const cleanup = ['rclone', 'backend', 'cleanup-hidden', place(locked)] as const;
    expect((await s3.tryRun(...cleanup)).errors.toString()).toContain('AccessDenied');
    expect(await versionsOf()).toEqual(['locked.txt', 'locked.txt']);
    for (const version of [1, 2]) {
      const file = { bucket: locked, path: 'locked.txt' };
      await s3.storage.retention.end(file, { version, bypassGovernance: true });
    }
    await s3.run(...cleanup);
    expect(await versionsOf()).toEqual([]);
  });

  test.skipIf(!canMount())('a mount is written to and read', async () => {
    const point = join(s3.folder, `mount-${bucket}`);
    await mkdir(point);
    const words = ['mount', '--vfs-cache-mode', 'writes', '--vfs-write-back', '0s'];
    const child = spawn('rclone', [...words, place(`${bucket}/mounted`), point], {
      env: { PATH: process.env.PATH ?? '', HOME: s3.folder },
      stdio: 'ignore',
    });
    try {
      // The mount exists when /proc/mounts lists its folder.
      await expect
        .poll(() => readFile('/proc/mounts', 'utf8'), { timeout: 20_000 })
        .toContain(point);
      await writeFile(join(point, 'a.txt'), 'written by a mount');
      await expect
        .poll(() => s3.storage.stat({ bucket, path: 'mounted/a.txt' }).catch(() => undefined), {
          timeout: 20_000,
        })
        .toBeDefined();
      expect(await readdir(point)).toEqual(['a.txt']);
      expect(await readFile(join(point, 'a.txt'), 'utf8')).toBe('written by a mount');
      await wait(1_500);
    } finally {
      await s3.tryRun('fusermount', '-u', point);
      child.kill();
    }
  });
});
