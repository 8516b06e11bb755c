// Kills the S3 server and the service without warning and restarts them, and cuts the network
// between them, while clients upload: their retries succeed or fail with an error, and an
// incomplete object is never visible.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { type KillableService, startKillableService } from './support/killable-service.ts';
import { buckets, openS3Process } from './support/s3-process.ts';

let service: KillableService;
const s3 = openS3Process(async () => {
  service = await startKillableService();
  return service;
});
const film = sampleBytes('s3 kills', 60_000_000);
const treeFiles = 300;
const digests = new Map<string, string>();

beforeAll(async () => {
  await writeFile(join(s3.folder, 'film.bin'), film);
  await mkdir(join(s3.folder, 'tree'));
  for (let index = 0; index < treeFiles; index++) {
    const bytes = sampleBytes(`kills ${index}`, 20_000);
    await writeFile(join(s3.folder, 'tree', `${index}.bin`), bytes);
    digests.set(`${index}.bin`, sha256Hex(bytes));
  }
  await s3.run('aws', 'configure', 'set', 'default.retry_mode', 'adaptive');
  await s3.run('aws', 'configure', 'set', 'default.max_attempts', '10');
});

/** Outages, each of which happens twice during an upload, at times that differ by bucket. */
const outages = {
  'the S3 server is killed': () => s3.killAndStart(),
  'the service is killed': () => service.killAndStart(),
  'the network is cut': () => service.cut(3_000),
};

async function twice(outage: () => Promise<void>, firstMs: number): Promise<void> {
  for (const milliseconds of [firstMs, 1_500]) {
    await wait(milliseconds);
    await outage();
  }
}

async function storedDigest(bucket: string, path: string): Promise<string> {
  const { bytes } = await s3.storage.download({ bucket, path });
  return sha256Hex(await bytes());
}

const inWords = /Could not connect|Connection|InternalError|SlowDown|IncompleteBody/;

/**
 * Uploads by aws; a failure must come with an error and without a visible object, and the next
 * attempt must succeed.
 */
async function putFilm(to: { readonly bucket: string; readonly path: string }, outage: Outage) {
  const { bucket, path } = to;
  const source = join(s3.folder, 'film.bin');
  const words = ['aws', 's3', 'cp', '--no-progress', source, `s3://${bucket}/${path}`] as const;
  const put = s3.tryRun(...words);
  await twice(outage, 900 + 300 * buckets.indexOf(bucket as (typeof buckets)[number]));
  const { code, errors } = await put;
  if (code !== 0) {
    expect(errors).toMatch(inWords);
    await expect(s3.storage.stat({ bucket, path })).rejects.toMatchObject({ code: 'NoSuchFile' });
    await s3.run(...words);
  }
  expect(await storedDigest(bucket, path)).toBe(sha256Hex(film));
}

type Outage = () => Promise<void>;

describe.each(Object.entries(outages))('while %s', (name, outage) => {
  const folder = name.replaceAll(' ', '-');

  test.each(buckets)('aws puts a file in parts into bucket %s', async (bucket) => {
    await s3.run('aws', 'configure', 'set', 's3.multipart_threshold', '8MB');
    await putFilm({ bucket, path: `${folder}/parts.bin` }, outage);
  });

  test.each(buckets)('aws puts a file in one request into bucket %s', async (bucket) => {
    await s3.run('aws', 'configure', 'set', 's3.multipart_threshold', '1GB');
    await putFilm({ bucket, path: `${folder}/whole.bin` }, outage);
  });

  test.each(buckets)('rclone syncs many files into bucket %s', async (bucket) => {
    const { url, accessKeyId, secretAccessKey } = s3;
    const keys = `access_key_id=${accessKeyId},secret_access_key='${secretAccessKey}'`;
    const place = `:s3,provider=Other,endpoint='${url}',region=auto,${keys}:${bucket}/${folder}/tree`;
    const words = ['--retries', '10', '--transfers', '8', join(s3.folder, 'tree'), place];
    const sync = () => s3.tryRun('rclone', 'sync', ...words);
    const first = sync();
    await twice(outage, 600);
    const { code } = await first;
    if (code !== 0) expect((await sync()).code).toBe(0);
    for (let index = 0; index < treeFiles; index += 30) {
      const path = `${folder}/tree/${index}.bin`;
      expect(await storedDigest(bucket, path), path).toBe(digests.get(`${index}.bin`));
    }
    const prefix = `${folder}/tree/`;
    expect(await s3.storage.usage({ bucket, prefix })).toMatchObject({ files: treeFiles });
  });
});
