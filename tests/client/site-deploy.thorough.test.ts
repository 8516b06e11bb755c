// `efs site deploy`, by the command's `main()`, and the sites that gateways then serve.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let owner: Storage;
let folder: string;
let efs: (...words: string[]) => ReturnType<typeof callCommand>;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await openService();
  owner = ownerOf(service);
  folder = await mkdtemp(join(tmpdir(), 'efs-deploys-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  efs = (...words) => callCommand(words, { folder, environment });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Replaces the folder `dist`. */
async function build(files: Readonly<Record<string, string>>): Promise<void> {
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'dist', path)), { recursive: true });
    await writeFile(join(folder, 'dist', path), text);
  }
}

async function deploy(bucket: string, ...flags: string[]) {
  const words = ['site', 'deploy', 'dist', '--bucket', bucket, '--json', ...flags];
  const { code, output, errors } = await efs(...words);
  const result = output.startsWith('{') ? JSON.parse(output) : undefined;
  return { code, errors, ...result };
}

async function shown(path: string): Promise<string> {
  const response = await fetch(`${service.base}/cloud/${path}`, { redirect: 'manual' });
  return `${response.status} ${response.headers.get('location') ?? (await response.text())}`;
}

async function pathsOf(bucket: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of owner.list({ bucket })) paths.push(path);
  return paths.sort();
}

const first = { 'index.html': 'one', 'blog/index.html': 'one', 'app.1.js': '1', 'same.css': 's' };

test('efs site deploy creates the bucket, and then sends only changes', async () => {
  const hidden = { '.git/config': 'x', '.DS_Store': 'x', '.well-known/about': 'known' };
  await build({ ...first, ...hidden });
  const url = `${service.base}/cloud/www/`;
  const made = await deploy('www');
  expect(made).toMatchObject({ code: 0, url, changed: 5, deleted: 0, same: 0 });
  expect(await pathsOf('www')).toEqual(['.well-known/about', ...Object.keys(first)].sort());
  expect(await shown('www/blog/')).toBe('200 one');
  expect(await deploy('www')).toMatchObject({ code: 0, changed: 0, deleted: 0, same: 5 });

  const rules = { _redirects: '/former /blog/ 302', _headers: '/*\n  X-Site: two' };
  const second = { ...first, ...rules, 'index.html': 'two', 'app.2.js': '2' };
  const { 'app.1.js': _, ...others } = second;
  await build(others);
  const dry = await deploy('www', '--dry-run');
  expect(dry).toMatchObject({ code: 0, isDryRun: true, changed: 4, deleted: 2, same: 2 });
  expect(await shown('www/')).toBe('200 one');
  expect(await deploy('www')).toMatchObject({ code: 0, changed: 4, deleted: 2, same: 2 });
  expect(await pathsOf('www')).toEqual(Object.keys(others).sort());
  expect(await shown('www/former')).toBe('302 /cloud/www/blog/');
  const same = await fetch(`${url}same.css`);
  expect([same.headers.get('x-site'), same.headers.get('content-type')]).toEqual([
    'two',
    'text/css',
  ]);
});

test('efs site deploy --preview has its own bucket and address', async () => {
  await build({ ...first, 'index.html': 'preview' });
  const made = await deploy('www', '--preview', 'fix-7');
  expect(made).toMatchObject({ code: 0, bucket: 'www--fix-7', changed: 4 });
  expect(made.url).toBe(`${service.base}/cloud/www--fix-7/`);
  expect(await shown('www--fix-7/')).toBe('200 preview');
  expect(await shown('www/')).toBe('200 two');
  const refused = await deploy('www', '--preview', 'fix/7');
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('fix/7') });
});

test('efs site deploy keeps a site as it is if a rule has a fault', async () => {
  await build({ ...first, 'index.html': 'three', _redirects: '/a /b 301\nnonsense' });
  const refused = await deploy('www');
  expect(refused.code).not.toBe(0);
  expect(refused.errors).toContain('line 2');
  expect(await shown('www/')).toBe('200 two');
  await build({ ...first, 'index.html': 'three' });
  expect(await deploy('www')).toMatchObject({ code: 0 });
  expect(await pathsOf('www')).toEqual(Object.keys(first).sort());
});

test('efs site deploy refuses folders and buckets that are not sites without a flag', async () => {
  await build({ 'page.html': 'x' });
  const refused = await deploy('www');
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('no index.html') });
  expect(await deploy('www', '--keep')).toMatchObject({ code: 0, changed: 1, deleted: 0 });
  const few = await deploy('www', '--max-delete', '3');
  expect(few).toMatchObject({ code: 2, errors: expect.stringContaining('4 files would be') });
  expect(await deploy('www', '--max-delete', '4')).toMatchObject({ code: 0, deleted: 4 });
  const bucket = await efs('bucket', 'create', 'papers');
  expect(bucket.code).toBe(0);
  const papers = await deploy('papers', '--keep');
  expect(papers).toMatchObject({ code: 2, errors: expect.stringContaining('is not a site') });
});

test('efs site deploy with only an API key publishes, and creates no bucket', async () => {
  await build(first);
  const permissions = ['read', 'write', 'delete'] as const;
  const { secret } = await owner.keys.create({ name: 'ci', buckets: ['www'], permissions });
  const ci = (...words: string[]) =>
    callCommand(words, { folder, environment: { EFS_URL: service.base, EFS_API_KEY: secret } });
  const done = await ci('site', 'deploy', 'dist', '--bucket', 'www', '--max-delete', '10');
  expect(done.code).toBe(0);
  expect(done.output).toMatch(new RegExp(`^${service.base}/cloud/www/$`, 'm'));
  expect(await pathsOf('www')).toEqual(Object.keys(first).sort());
  expect((await ci('site', 'deploy', 'dist', '--bucket', 'none')).code).not.toBe(0);
});

test('efs site deploy through a node that lies about a list changes nothing', async () => {
  await build({ ...first, 'index.html': 'four', 'app.3.js': '3' });
  const lie = createHash('sha256').update('four').digest('hex');
  const node = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const body = parts.length > 0 ? new Blob(parts as never) : undefined;
    const { authorization = '', 'content-type': type = '' } = headers;
    const sent = { authorization, ...(type && { 'content-type': type }) };
    const answer = await fetch(service.base + url, { method, headers: sent, body } as RequestInit);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const unchanged = [...answer.headers].filter(
      ([name]) => !/^(content-(length|encoding)|connection|transfer-encoding)$/.test(name),
    );
    response.writeHead(answer.status, Object.fromEntries(unchanged));
    // The node says that the present page is the new one, so that it would stay
    const isList = method === 'GET' && url?.includes('/files?');
    const page = /("path":"index.html".*?"size":)3(.*?"etag":")[^"]*/;
    response.end(isList ? bytes.toString().replace(page, `$14$2${lie}`) : bytes);
  });
  await new Promise<void>((done) => node.listen(0, '127.0.0.1', done));
  try {
    const EFS_URL = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const permissions = ['read', 'write', 'delete'] as const;
    const { secret } = await owner.keys.create({ name: 'lied', buckets: ['www'], permissions });
    const flags = ['--bucket', 'www', '--transport', 'http'];
    const lied = await callCommand(['site', 'deploy', 'dist', ...flags], {
      folder,
      environment: { EFS_URL, EFS_API_KEY: secret },
    });
    expect(lied.errors).toContain('change while they are compared');
    expect(lied.code).not.toBe(0);
    expect(await shown('www/app.3.js')).toMatch(/^404/);
    expect(await shown('www/')).toBe('200 one');
  } finally {
    node.close();
  }
  expect(await deploy('www')).toMatchObject({ code: 0, changed: 2 });
  expect(await shown('www/')).toBe('200 four');
});

test('efs site deploy keeps files that are excluded, and those below a link to a folder', async () => {
  await build({ ...first, 'down/a.zip': 'a', 'assets/b.css': 'b', '.env/c': 'c' });
  expect(await deploy('kept', '--dotfiles')).toMatchObject({ code: 0, changed: 7 });
  await rm(join(folder, 'dist', 'assets'), { recursive: true });
  await symlink(folder, join(folder, 'dist', 'assets'));
  const again = await deploy('kept', '--exclude', 'down/**');
  expect(again).toMatchObject({ code: 0, changed: 0, deleted: 0, same: 4 });
  expect(await pathsOf('kept')).toEqual(
    [...Object.keys(first), 'down/a.zip', 'assets/b.css', '.env/c'].sort(),
  );
});

test('efs site deploy by a key refuses to delete in a bucket that does not look like a site', async () => {
  await build(first);
  await owner.buckets.create('letters');
  await owner.upload(new Blob(['x']), { bucket: 'letters', path: 'will.pdf' });
  const permissions = ['read', 'write', 'delete'] as const;
  const key = await owner.keys.create({ name: 'ci', buckets: ['letters'], permissions });
  const byKey = (...flags: string[]) =>
    callCommand(['site', 'deploy', 'dist', '--bucket', 'letters', ...flags], {
      folder,
      environment: { EFS_URL: service.base, EFS_API_KEY: key.secret },
    });
  const refused = await byKey();
  expect(refused.code).toBe(2);
  expect(refused.errors).toContain('1 files would be deleted');
  expect(await pathsOf('letters')).toEqual(['will.pdf']);
  expect((await byKey('--max-delete', '1')).code).toBe(0);
  expect(await pathsOf('letters')).toEqual(Object.keys(first).sort());
});
