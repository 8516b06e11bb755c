// Upload links by the client library, over both transports, and by the command; and their use by
// fetch, forms and tus-js-client, none of which have a key.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { UploadLinkRecord } from '../../packages/client/src/types/upload-links.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';

let service: Service;
let owner: Storage;
let apiKey: string;
let folder: string;
const bucket = 'sent';

beforeAll(async () => {
  service = await openService();
  const { host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(bucket);
  const key = { name: 'links', buckets: [bucket], permissions: ['upload'] as const };
  ({ secret: apiKey } = await owner.keys.create(key));
  folder = await mkdtemp(join(tmpdir(), 'upload-links-'));
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the address at localhost: not every system resolves names below it. */
function here(url: string): string {
  const { pathname, search } = new URL(url, service.base);
  return `${service.base}${pathname}${search}`;
}

async function listed(storage: Storage): Promise<UploadLinkRecord[]> {
  const links: UploadLinkRecord[] = [];
  for await (const link of storage.uploadLinks.list({ bucket })) links.push(link);
  return links;
}

async function stored(path: string): Promise<Buffer> {
  const { bytes } = await owner.download({ bucket, path });
  return Buffer.from(await bytes());
}

const transports: readonly [string, () => Storage][] = [
  ['calls', () => owner],
  [
    'calls with a key',
    () => createStorage({ host: service.host, canisterId: service.canisterId, apiKey }),
  ],
  ['both ways', () => createStorage({ url: service.base, apiKey })],
  ['HTTP', () => createHttpStorage({ url: service.base, apiKey }) as unknown as Storage],
];

describe.each(transports)('Storage.uploadLinks: over %s', (name, open) => {
  test('a link is created, stores a file by PUT, is listed, and removed', async () => {
    const storage = open();
    const path = `${name}/ä b.txt`;
    const expiresAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 60_000);
    const link = await storage.uploadLinks.create({ bucket, path, expiresAt, maxFileBytes: 10 });
    expect(link.expiresAt).toBe(expiresAt.toISOString());
    const sent = await fetch(here(link.putUrl), { method: 'PUT', body: new Blob(['sent']) });
    expect(sent.status).toBe(201);
    expect((await stored(path)).toString()).toBe('sent');
    const [found] = (await listed(storage)).filter(({ id }) => id === link.id);
    expect(found).toMatchObject({ path, maxFileBytes: 10, maxFiles: 1, fileCount: 1 });
    expect(JSON.stringify(found)).not.toContain('efu_');
    await storage.uploadLinks.remove(bucket, link.id);
    expect((await listed(storage)).map(({ id }) => id)).not.toContain(link.id);
    const again = storage.uploadLinks.remove(bucket, link.id);
    await expect(again).rejects.toMatchObject({ code: 'NoSuchFile' });
  });

  test('a link for a prefix accepts a form', async () => {
    const link = await open().uploadLinks.create({ bucket, prefix: `${name}/form/` });
    const body = new FormData();
    body.append('note', 'ignored');
    body.append('files[]', new Blob(['formed']), 'form.txt');
    const sent = await fetch(here(link.formUrl), { method: 'POST', body });
    expect(sent.status).toBe(200);
    expect((await stored(`${name}/form/form.txt`)).toString()).toBe('formed');
  });
});

test('uploadLinks.create() refuses what the service refuses, with its code', async () => {
  const none = owner.uploadLinks.create({ bucket });
  await expect(none).rejects.toMatchObject({ code: 'InvalidArgument' });
  const late = owner.uploadLinks.create({ bucket, prefix: '', expiresAt: new Date(NaN) });
  await expect(late).rejects.toMatchObject({ code: 'InvalidArgument' });
  const rest = await owner.buckets.create('sealed', { endToEnd: {} });
  const sealed = owner.uploadLinks.create({ bucket: rest.id, prefix: '' });
  await expect(sealed).rejects.toMatchObject({ code: 'InvalidArgument' });
});

test('uploadLinks.create() returns an address by which alone tus-js-client uploads 4 MB', async () => {
  const { tusUrl } = await owner.uploadLinks.create({ bucket, prefix: 'tus/' });
  const bytes = Buffer.from(sampleBytes('by a link', 4_000_000));
  await new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      endpoint: here(tusUrl),
      metadata: { filename: 'film.bin' },
      chunkSize: 1_900_000,
      retryDelays: null,
      onError: reject,
      onSuccess: () => resolve(),
    }).start();
  });
  expect((await stored('tus/film.bin')).equals(bytes)).toBe(true);
});

describe.each(['actor', 'http'] as const)('keys.create() with upload, over the %s', (transport) => {
  test('makes a drop box for a number of files, which efs put fills and does not replace', async () => {
    const prefix = `box-${transport}/`;
    const limits = { maxFiles: 2, maxFileBytes: 3_000_000 };
    const key = { name: 'box', buckets: [bucket], permissions: ['upload'] as const, prefix };
    const { secret, id, fileCount } = await owner.keys.create({ ...key, ...limits });
    expect(fileCount).toBe(0);
    const { base: EFS_URL, host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
    const places = transport === 'actor' ? { EFS_HOST, EFS_CANISTER_ID } : { EFS_URL };
    const environment = { ...places, EFS_TRANSPORT: transport, EFS_API_KEY: secret };
    const put = (name: string, size: number) => {
      const input = sampleBytes(name, size);
      const place = `${bucket}/${prefix}${name}`;
      return startCommand(['put', '-', place], { folder, environment, input }).ended;
    };
    expect((await put('small.txt', 1_000)).errors).not.toContain('rror');
    expect((await put('small.txt', 1_000)).errors).toContain('can only add files');
    expect((await put('huge.bin', 4_000_000)).errors).toContain('at most 3000000 bytes');
    expect((await put('large.bin', 2_500_000)).code).toBe(0);
    expect((await put('more.txt', 10)).errors).toContain('is for 2 files, of which 2 are stored');
    const listed = (await owner.keys.list(bucket)).find((one) => one.id === id);
    expect(listed).toMatchObject({ maxFiles: 2, fileCount: 2, maxFileBytes: 3_000_000 });
    expect(
      (await stored(`${prefix}large.bin`)).equals(Buffer.from(sampleBytes('large.bin', 2_500_000))),
    ).toBe(true);
  });
});

test('efs upload-link create prints the addresses, ls lists the link, rm removes it', async () => {
  const settings = { folder, environment: { EFS_URL: service.base, EFS_API_KEY: apiKey } };
  const efs = (...words: string[]) => callCommand(words, settings);
  const made = await efs('upload-link', 'create', '--files', '2', '--max-bytes', '1kB', 'sent/in/');
  expect(made.output).toMatch(/^PUT {3}http.*\/in\/\{name\}\?upload=efu_/);
  expect(made.errors).toContain('adds files below sent/in/, without a key, until');
  const [, put = ''] = /^PUT +(\S+)$/m.exec(made.output) ?? [];
  const sent = await fetch(put.replace('{name}', 'a'), { method: 'PUT', body: 'x' });
  expect(sent.status).toBe(201);
  const [link] = JSON.parse((await efs('upload-link', 'ls', '--json', 'sent')).output).filter(
    ({ prefix }: UploadLinkRecord) => prefix === 'in/',
  );
  expect(link).toMatchObject({ maxFiles: 2, fileCount: 1, maxFileBytes: 1_000 });
  expect((await efs('upload-link', 'ls', 'sent')).output).toMatch(/ 1\/2 +in\/$/m);
  expect((await efs('upload-link', 'rm', 'sent', link.id)).code).toBe(0);
  const over = await fetch(put.replace('{name}', 'b'), { method: 'PUT', body: 'x' });
  expect(over.status).toBe(401);
});
