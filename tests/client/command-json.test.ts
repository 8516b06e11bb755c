// `--json`: every command except `cat` and `completion` supports it. Standard output is one JSON
// value, and each line of standard error is another.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
let bucket: string;

beforeAll(async () => {
  service = await openService();
  ({ bucket } = service);
  folder = await mkdtemp(join(tmpdir(), 'efs-json-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  await mkdir(join(folder, 'tree'));
  await writeFile(join(folder, 'tree/a.txt'), 'a');
  await writeFile(join(folder, 'b.txt'), 'b');
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function efs(...words: string[]) {
  const { host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
  const EFS_IDENTITY = join(folder, 'identity.pem');
  const environment = { EFS_HOST, EFS_CANISTER_ID, EFS_IDENTITY };
  const { code, output, errors } = await callCommand([...words, '--json'], { folder, environment });
  const lines = errors.split('\n').filter(Boolean);
  return {
    code,
    value: output === '' ? undefined : JSON.parse(output),
    errors: lines.map((line) => JSON.parse(line)),
  };
}

/** Commands whose output is bytes, a script, or goes on without an end. */
const withoutJson = ['cat', 'journal export', 'events', 'serve metrics', 'serve mcp', 'completion'];

test('efs --json: every command has the flag whose output is one value or a list', async () => {
  const { output } = await callCommand(['completion', 'bash'], { folder });
  const leaves = [...output.matchAll(/^ +'([^']+)'\) commands='' flags='([^']*)'/gm)];
  expect(leaves.length).toBeGreaterThan(20);
  const without = leaves.filter(([, , flags = '']) => !flags.split(' ').includes('--json'));
  expect(without.map(([, path]) => path)).toEqual(withoutJson);
});

test('efs --json: each command prints exactly one value when it succeeds', async () => {
  const place = `${bucket}/json`;
  const values: Record<string, unknown> = {};
  for (const line of [
    `put b.txt ${place}/b.txt`,
    `put -r tree b.txt ${place}/many/`,
    `get ${place}/b.txt back.txt`,
    `get -r ${place}/many/ back`,
    `sync tree ${place}/synced`,
    `sync ${place}/synced ./synced`,
    `sync ${place}/synced ${place}-copied`,
    `cp ${place}/b.txt ${place}/c.txt`,
    `cp -r ${place}/many/ ${place}/many2/`,
    `mv -r ${place}/many2/ ${place}/many3/`,
    `set --tag t ${place}/c.txt`,
    `rm ${place}/c.txt`,
    `rm -r ${place}/many3`,
    `ls ${place}/`,
    `tree ${place}`,
    `du ${place}`,
    `stat ${place}/b.txt`,
    'site deploy tree --bucket made-site --keep',
    'status',
    `uploads ls ${bucket}`,
    `uploads cancel --all ${bucket}`,
    `versions ls ${bucket}`,
    `versions rm -r ${bucket}/json`,
    `link ls ${bucket}`,
    'bucket create made',
    'bucket set made --quota 1GB',
    'bucket ls',
    'key create made',
    'key ls made',
    'bucket rm made',
  ]) {
    const { code, value, errors } = await efs(...line.split(' '));
    expect({ line, code, errors }).toEqual({ line, code: 0, errors: [] });
    expect(value).toBeDefined();
    values[line.replaceAll(place, '')] = value;
  }
  expect(values).toMatchObject({
    'put b.txt /b.txt': [{ path: 'json/b.txt', size: 1 }],
    'get /b.txt back.txt': { bucket, path: 'json/b.txt', size: 1 },
    'rm /c.txt': { verb: 'removed', done: 1, failed: 0, names: [`${place}/c.txt`] },
    'mv -r /many2/ /many3/': { verb: 'moved', done: 2, failed: 0 },
    'bucket rm made': { removed: 'made' },
  });
  const key = await efs('key', 'create', bucket);
  const { id } = key.value as { id: string };
  expect(await efs('key', 'revoke', id)).toMatchObject({ code: 0, value: { revoked: id } });
  const link = (await efs('link', 'create', `${place}/b.txt`)).value as { id: string };
  const removed = await callCommand(['link', 'rm', '--json', bucket, '--', link.id], {
    folder,
    environment: { EFS_URL: service.base, EFS_API_KEY: service.apiKey },
  });
  expect(JSON.parse(removed.output)).toMatchObject({ verb: 'removed', names: [link.id] });
});

test('efs --json: failures are lines of JSON on standard error, the fatal one last', async () => {
  const missing = await efs('get', `${bucket}/none`);
  expect(missing).toMatchObject({ code: 3, value: undefined });
  expect(missing.errors).toMatchObject([
    { error: { code: 'NoSuchFile', message: expect.stringContaining(`${bucket}/none`) } },
  ]);
  const partly = await efs('put', 'b.txt', 'none.txt', 'tree', `${bucket}/partly/`);
  expect(partly).toMatchObject({ code: 1, value: [{ path: 'partly/b.txt' }] });
  expect(partly.errors).toMatchObject([
    { error: { code: 'ENOENT', name: 'none.txt' } },
    { error: { code: 'Failed', name: 'tree' } },
    { error: { message: '1 sent, 2 failed.' } },
  ]);
  expect(await efs('ls', '--unlikely')).toMatchObject({
    code: 2,
    value: undefined,
    errors: [{ error: { code: 'Usage', message: "unknown option '--unlikely'" } }],
  });
  expect((await efs('sync', './none', bucket)).errors).toMatchObject([
    {
      error: {
        code: 'Usage',
        message: expect.stringContaining('The folder "./none" does not exist'),
      },
    },
  ]);
});
