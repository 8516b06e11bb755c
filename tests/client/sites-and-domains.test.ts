// `efs bucket create --site`, `efs domain` and `efs well-known`, by the command's `main()`, and
// their effect at gateways.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
let efs: (...words: string[]) => ReturnType<typeof callCommand>;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-sites-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_API_KEY: service.apiKey,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  efs = (...words) => callCommand(words, { folder, environment });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string) => fetch(`${service.base}${path}`, { redirect: 'manual' });

test('efs: a bucket becomes a site, is listed as one, and ceases to be one', async () => {
  expect(await efs('bucket', 'create', '--site', 'www')).toMatchObject({ code: 0 });
  expect((await efs('bucket', 'ls')).output).toMatch(/^www .* site /m);
  const changed = await efs('bucket', 'set', '--no-site', '--json', 'www');
  expect(JSON.parse(changed.output)).toMatchObject({ isPublic: true, isSite: false });
  expect((await efs('bucket', 'ls')).output).toMatch(/^www .* public /m);
  const refused = await efs('bucket', 'set', '--private', '--site', 'www');
  expect(refused.code).not.toBe(0);
  expect(refused.errors).toContain('a site must be public');
  const kept = await efs('bucket', 'set', '--json', '--quota', '5000', 'www');
  expect(JSON.parse(kept.output)).toMatchObject({ isPublic: true, isSite: false });
});

test('efs: a bucket is listed by everybody, until it is private', async () => {
  expect(await efs('bucket', 'create', '--listed', 'gallery')).toMatchObject({ code: 0 });
  expect((await efs('bucket', 'ls')).output).toMatch(/^gallery .* public, listed /m);
  const list = () => get('/api/v1/bucket/gallery/files');
  expect(await (await list()).json()).toMatchObject({ items: [], total: 0 });
  await efs('bucket', 'set', '--no-listed', 'gallery');
  expect((await list()).status).toBe(401);
  await efs('bucket', 'set', '--listed', 'gallery');
  const hidden = await efs('bucket', 'set', '--private', '--json', 'gallery');
  expect(JSON.parse(hidden.output)).toMatchObject({ isPublic: false, isListed: false });
  const refused = await efs('bucket', 'set', '--listed', 'gallery');
  expect(refused.errors).toContain('only a public bucket can be listed by everybody');
});

test('efs: a folder of the site is served by its index.html', async () => {
  await efs('bucket', 'set', '--public', '--site', service.bucket);
  await writeFile(join(folder, 'index.html'), '<p>hello');
  expect(await efs('put', 'index.html', `${service.bucket}/docs/`)).toMatchObject({ code: 0 });
  const answer = await get(`/cloud/${service.bucket}/docs/`);
  expect(`${answer.status} ${await answer.text()}`).toBe('200 <p>hello');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  const moved = await get(`/cloud/${service.bucket}/docs`);
  expect([moved.status, moved.headers.get('location')]).toEqual([308, './docs/']);
});

test('efs: domains are added, listed and removed, with instructions for the DNS', async () => {
  const added = await efs('domain', 'add', 'Files.example.org');
  expect(added).toMatchObject({ code: 0, output: 'files.example.org\n' });
  expect(added.errors).toContain(`_canister-id.files.example.org  TXT  "${service.canisterId}"`);
  expect(added.errors).toContain('https://icp.net/custom-domains/v1/files.example.org');
  await efs('domain', 'add', 'docs.example.org');
  await efs('domain', 'add', 'docs.example.org');
  expect((await efs('domain', 'ls')).output).toBe('files.example.org\ndocs.example.org\n');
  const shown = await get('/.well-known/ic-domains');
  expect(await shown.text()).toBe('files.example.org\ndocs.example.org\n');
  await efs('domain', 'rm', 'files.example.org');
  expect(JSON.parse((await efs('domain', 'ls', '--json')).output)).toEqual(['docs.example.org']);
  expect((await efs('domain', 'rm', 'files.example.org')).code).not.toBe(0);
  await efs('domain', 'rm', 'docs.example.org');
  expect((await get('/.well-known/ic-domains')).status).toBe(404);
  for (const name of ['https://a.example.org', 'localhost', 'a..b', '-a.example.org', 'a b.c']) {
    const refused = await efs('domain', 'add', '--', name);
    expect(refused.errors, name).toContain('A domain must look like');
  }
});

test('efs: a well-known text is set from a file, listed and removed', async () => {
  const body = '{"alternativeOrigins":["https://files.example.org"]}';
  await writeFile(join(folder, 'origins.json'), body);
  expect(await efs('well-known', 'set', 'ii-alternative-origins', 'origins.json')).toMatchObject({
    output: '/.well-known/ii-alternative-origins\n',
  });
  const shown = await get('/.well-known/ii-alternative-origins');
  expect(await shown.text()).toBe(body);
  expect(shown.headers.get('content-type')).toBe('application/json');
  expect(shown.headers.get('access-control-allow-origin')).toBe('*');
  const [listed] = JSON.parse((await efs('well-known', 'ls', '--json')).output);
  expect(listed).toEqual({ name: 'ii-alternative-origins', contentType: 'application/json', body });
  expect((await efs('well-known', 'ls')).output).toMatch(/ii-alternative-origins +application/);
  const refused = await efs('well-known', 'set', 'a/b/c', 'origins.json');
  expect(refused.errors).toContain('one or two segments');
  await efs('well-known', 'rm', 'ii-alternative-origins');
  expect((await efs('well-known', 'ls')).output).toBe('');
});

test('efs: domains and texts cannot be managed over HTTP', async () => {
  const { wellKnown } = createStorage({ url: service.base, apiKey: service.apiKey });
  await expect(wellKnown.list()).rejects.toMatchObject({ code: 'Unsupported' });
});
