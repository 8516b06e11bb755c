// The door killed without warning, and started again, while clients put: their retries end right, and
// until an object is whole nothing of it is seen.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { buckets, openDoor } from './support/s3-door.ts';

const door = openDoor();
const film = sampleBytes('s3 kills', 60_000_000);

async function storedDigest(bucket: string, path: string): Promise<string> {
  const { bytes } = await door.storage.download({ bucket, path });
  return sha256Hex(await bytes());
}

/** At times that differ from bucket to bucket: in parts, between them, at the end. */
async function killSome(first: number): Promise<void> {
  for (const milliseconds of [first, 1_500]) {
    await wait(milliseconds);
    await door.killAndStart();
  }
}

test.each(buckets)(
  'aws puts a file in parts into bucket %s, while the door dies',
  async (bucket) => {
    const source = join(door.folder, 'film.bin');
    await writeFile(source, film);
    await door.run('aws', 'configure', 'set', 'default.retry_mode', 'adaptive');
    await door.run('aws', 'configure', 'set', 'default.max_attempts', '10');
    const put = door.tryRun('aws', 's3', 'cp', '--no-progress', source, `s3://${bucket}/film.bin`);
    await killSome(900 + 300 * buckets.indexOf(bucket));
    const { code, errors } = await put;
    if (code !== 0) {
      // In words, with nothing to be seen; the next attempt ends right.
      expect(errors).toMatch(/Could not connect|Connection|InternalError|SlowDown/);
      await expect(door.storage.stat({ bucket, path: 'film.bin' })).rejects.toThrow();
      await door.run('aws', 's3', 'cp', '--no-progress', source, `s3://${bucket}/film.bin`);
    }
    expect(await storedDigest(bucket, 'film.bin')).toBe(sha256Hex(film));
  },
);

test.each(buckets)(
  'rclone syncs many files into bucket %s, while the door dies',
  async (bucket) => {
    const tree = join(door.folder, 'tree');
    await mkdir(tree, { recursive: true });
    const digests = new Map<string, string>();
    for (let index = 0; index < 300; index++) {
      const bytes = sampleBytes(`kills ${index}`, 20_000);
      await writeFile(join(tree, `${index}.bin`), bytes);
      digests.set(`tree/${index}.bin`, sha256Hex(bytes));
    }
    const { url, accessKeyId, secretAccessKey } = door;
    const keys = `access_key_id=${accessKeyId},secret_access_key='${secretAccessKey}'`;
    const there = `:s3,provider=Other,endpoint='${url}',region=auto,${keys}:${bucket}/tree`;
    const sync = () =>
      door.tryRun('rclone', 'sync', '--retries', '10', '--transfers', '8', tree, there);
    const first = sync();
    await killSome(600);
    const { code } = await first;
    if (code !== 0) expect((await sync()).code).toBe(0);
    for (const [path, digest] of digests) {
      if (Number(/\d+/.exec(path)?.[0]) % 30 === 0) {
        expect(await storedDigest(bucket, path), path).toBe(digest);
      }
    }
    expect(await door.storage.usage({ bucket, prefix: 'tree/' })).toMatchObject({ files: 300 });
  },
);
