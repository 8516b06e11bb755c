// Switches over HTTP, by the verifying gateway, and by the actor method.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesDigest } from '../../packages/client/src/bytes/files-digest.ts';
import { refusalOf } from '../support/http-client.ts';
import { type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

const bucketId = 'www';
let service: Service;
let owner: Person;
let key: string;

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  await owner.get('createBucket', bucketId, [{ isPublic: [true], isSite: [true] }]);
  const permissions = ['read', 'write', 'delete'];
  const request = { name: 'ci', buckets: [bucketId], permissions };
  key = (await owner.get<{ secret: string }>('createApiKey', request)).secret;
});
afterAll(() => service?.stop());

function send(method: string, path: string, body: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'text/html' };
  return fetch(`${service.base}/api/v1/bucket/${bucketId}/${path}`, { method, headers, body });
}

async function put(path: string, body = path): Promise<void> {
  expect((await send('PUT', `files/${path}`, body)).ok).toBe(true);
}

const post = (body: object) => send('POST', 'switch', JSON.stringify(body));

async function shown(path: string): Promise<string> {
  const response = await fetch(`${service.base}/cloud/${bucketId}/${path}`, { redirect: 'manual' });
  return `${response.status} ${response.headers.get('location') ?? (await response.text())}`;
}

const prefixes = { fromPrefix: '.efs-deploy/', toPrefix: '' };

describe('POST switch', () => {
  test('replaces a site, with its rules, at all its addresses', async () => {
    await put('index.html', 'one');
    await put('old.html', 'old');
    for (const path of ['index.html', 'blog/index.html', 'about.html', '404.html']) {
      await put(`.efs-deploy/${path}`, `two ${path}`);
    }
    await put('.efs-deploy/_redirects', '/former /about 302');
    await put('.efs-deploy/_headers', '/*\n  X-Site: two');
    expect(await shown('')).toBe('200 one');
    expect(await shown('blog/')).toMatch(/^404 /);
    expect(await shown('.efs-deploy/blog/')).toMatch(/^404 /);
    expect(await shown('.efs-deploy/about')).toMatch(/^404 /);
    const answer = await post({ ...prefixes, deletes: ['old.html'] });
    expect(await answer.json()).toEqual({ moved: 6, deleted: 1 });
    expect(await shown('')).toBe('200 two index.html');
    expect(await shown('blog/')).toBe('200 two blog/index.html');
    expect(await shown('about')).toBe('200 two about.html');
    expect(await shown('former')).toBe(`302 /cloud/${bucketId}/about`);
    expect(await shown('old')).toBe('404 two 404.html');
    const page = await fetch(`${service.base}/cloud/${bucketId}/about`);
    expect(page.headers.get('x-site')).toBe('two');
  });

  test('changes nothing if a file has a fault, or the result is another one', async () => {
    await put('.efs-deploy/index.html', 'three');
    await put('.efs-deploy/_redirects', '/a /b 999');
    const faulty = await refusalOf(await post(prefixes));
    expect(faulty).toMatchObject({ status: 400, code: 'InvalidArgument' });
    expect(faulty.message).toContain('line 1');
    expect(await shown('')).toBe('200 two index.html');
    await put('.efs-deploy/_redirects', '/a /b 301');
    const other = await refusalOf(await post({ ...prefixes, ifResult: '0'.repeat(64) }));
    expect(other).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect(await shown('')).toBe('200 two index.html');
  });

  test('refuses bodies without prefixes, prefixes within each other, and other keys', async () => {
    const faults = [{ fromPrefix: 'a' }, { fromPrefix: 'a', toPrefix: 'ab' }];
    for (const body of [...faults, { ...prefixes, deletes: Array(1_001).fill('x') }]) {
      expect(await refusalOf(await post(body))).toMatchObject({ code: 'InvalidArgument' });
    }
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    const init = { method: 'POST', headers, body: JSON.stringify(prefixes) };
    const url = `${service.base}/api/v1/bucket/${bucketId}/switch`;
    expect(await refusalOf(await fetch(url, init))).toMatchObject({ code: 'AccessDenied' });
    const strange = await fetch(url, { method: 'POST', body: '{}' });
    expect(await refusalOf(strange)).toMatchObject({ status: 401 });
  });
});

test('switchFiles moves the files whose digest it names, once', async () => {
  const items = [];
  for (const path of ['index.html', 'blog/index.html', 'about.html', '404.html', '_headers']) {
    items.push(await owner.get<{ etag: string }>('getFile', bucketId, path, []));
  }
  const staged = ['index.html', '_redirects'].map((path) => `.efs-deploy/${path}`);
  for (const path of staged) items.push(await owner.get('getFile', bucketId, path, []));
  const files = (items as { path: string; etag: string; contentType: string }[])
    .map((file) => ({ ...file, path: file.path.replace('.efs-deploy/', '') }))
    .filter(({ path }, index) => path !== 'index.html' || index > 0);
  const request = { bucketId, ...prefixes, ifResult: [await filesDigest(files)] };
  expect(await owner.ask('switchFiles', request)).toEqual({ ok: { moved: 2n, deleted: 0n } });
  expect(await shown('')).toBe('200 three');
  expect(await owner.ask('switchFiles', request)).toEqual({ ok: { moved: 0n, deleted: 0n } });
  expect(await personOf(service, 7).ask('switchFiles', { bucketId, ...prefixes })).toEqual({
    err: expect.stringMatching(/^AccessDenied: /),
  });
});
