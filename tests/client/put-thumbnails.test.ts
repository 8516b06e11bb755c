// `efs put --thumbnails`: which files get a thumbnail, and what it shows.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headerEnd } from '../../packages/client/src/age/header.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { keyFor, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import type { CommandSettings } from './command-runs.ts';

let service: Service;
let folder: string;
let settings: CommandSettings;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-thumbnails-'));
  settings = { folder, environment: { EFS_URL: service.base, EFS_API_KEY: service.apiKey } };
  await mkdir(join(folder, 'album/in'), { recursive: true });
  await writeFile(join(folder, 'album/turned.jpg'), await photo(2_400, 1_200, 6));
  await writeFile(join(folder, 'album/in/small.png'), await photo(40, 20));
  await writeFile(join(folder, 'album/broken.jpg'), 'no picture');
  await writeFile(join(folder, 'album/drawing.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, 'album/note.txt'), 'hello');
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);

/** Returns a picture of noise; `orientation`: by EXIF. */
async function photo(width: number, height: number, orientation = 1): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 80 } as const;
  const made = sharp({ create: { width, height, channels: 3, background: 'white', noise } });
  return made.withMetadata({ orientation }).jpeg().toBuffer();
}

async function thumbnails(...names: string[]) {
  const { base: url, apiKey, bucket } = service;
  const paths = names.map((name) => `photos/${name}`);
  return createHttpStorage({ url, apiKey }).thumbnails.read({ bucket, paths });
}

test('efs put -r --thumbnails gives pictures a thumbnail, turned as they say', async () => {
  const { code, errors } = await efs(
    ...['put', '-r', '--thumbnails', 'album/', `${service.bucket}/photos/`],
  );
  expect(code, errors).toBe(0);
  expect(errors).toContain('No thumbnail of');
  expect(errors).toContain('photos/broken.jpg');
  const names = ['turned.jpg', 'in/small.png', 'broken.jpg', 'drawing.svg', 'note.txt'];
  const found = await thumbnails(...names);
  expect([...found.keys()]).toEqual(['photos/turned.jpg', 'photos/in/small.png']);
  const sizes = [...found.values()].map(({ bytes }) => sharp(bytes).metadata());
  expect(await Promise.all(sizes)).toMatchObject([
    { format: 'webp', width: 160, height: 320 },
    { format: 'webp', width: 40, height: 20 },
  ]);
  for (const { bytes } of found.values()) expect(bytes.length).toBeLessThanOrEqual(32_768);
});

test('efs put --thumbnails of one file stores its thumbnail', async () => {
  const sent = ['put', '--thumbnails', 'album/turned.jpg', `${service.bucket}/photos/one.jpg`];
  expect(await efs(...sent)).toMatchObject({ code: 0 });
  expect((await thumbnails('one.jpg')).size).toBe(1);
});

test('efs put --thumbnails refuses standard input', async () => {
  const ended = await efs('put', '--thumbnails', '-', `${service.bucket}/photos/input.jpg`);
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.errors).toContain('--thumbnails is for files');
});

test('efs put --thumbnails with a key that may only add files stores them and fails', async () => {
  const owner = personOf(service, 'owner');
  const request = keyFor([service.bucket], ['upload']);
  const { secret } = await owner.get<{ secret: string }>('createApiKey', request);
  const environment = { EFS_URL: service.base, EFS_API_KEY: secret };
  const sent = ['put', '--thumbnails', 'album/turned.jpg', `${service.bucket}/photos/added.jpg`];
  const ended = await callCommand(sent, { ...settings, environment });
  expect(ended.code).not.toBe(0);
  expect(ended.errors).toContain('photos/added.jpg is not given a thumbnail');
  expect(ended.output).toContain('photos/added.jpg');
  expect((await thumbnails('added.jpg')).size).toBe(0);
});

test('efs put --thumbnails encrypts the thumbnails of an end-to-end bucket, without an identity', async () => {
  const { host, canisterId, identityPem, base: url } = service;
  const options = { host, canisterId, identity: identityFromPem(identityPem) };
  const owner = createNodeStorage({ ...options, endToEnd: nodeEndToEnd() });
  await owner.buckets.create('safe', { endToEnd: {} });
  await owner.upload(new Blob(['publishes the recipient']), { bucket: 'safe', path: 'first' });
  const permissions = ['write', 'read'] as const;
  const { secret } = await owner.keys.create({ name: 'efs', buckets: ['safe'], permissions });
  const environment = { EFS_URL: url, EFS_API_KEY: secret };
  const { code, errors } = await callCommand(
    ['put', '-r', '--thumbnails', 'album/', 'safe/photos/'],
    { ...settings, environment },
  );
  expect(code, errors).toBe(0);
  expect(errors).toContain('photos/broken.jpg');
  const paths = ['turned.jpg', 'in/small.png', 'drawing.svg'].map((name) => `photos/${name}`);
  const found = await owner.thumbnails.read({ bucket: 'safe', paths });
  expect([...found.keys()]).toEqual(paths.slice(0, 2));
  const [turned] = paths;
  const size = await sharp(found.get(turned ?? '')?.bytes).metadata();
  expect(size).toMatchObject({ format: 'webp', width: 160, height: 320 });
  const stored = createHttpStorage({ url, apiKey: secret });
  for (const path of paths.slice(0, 2)) {
    const file = await (await stored.download({ bucket: 'safe', path })).bytes();
    const sealed = (await stored.thumbnails.read({ bucket: 'safe', paths: [path] })).get(path);
    const header = Buffer.from(file.subarray(0, headerEnd(file)));
    expect(Buffer.from(sealed?.bytes.subarray(0, header.length) ?? '')).toEqual(header);
  }
});
