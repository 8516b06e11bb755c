// Folders, usage and lists by cursors: the library over both transports, and the command.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
const root = 'client folders/';
const names = ['a', 'b/1', 'b/2/3', 'b-', 'c/x/y/z', 'd'];
let overHttp: Storage;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-folders-'));
  const { base: url, apiKey } = service;
  overHttp = createStorage({ url, apiKey });
  await Promise.all(names.map((name) => put(root + name, name.length)));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function put(path: string, size: number) {
  const { bucket } = service;
  return overHttp.upload(new Uint8Array(size), { bucket, path, contentType: 'a/b' });
}

const transports: readonly [string, () => Storage][] = [
  ['HTTP', () => overHttp],
  [
    'the actor',
    () => {
      const { host, canisterId, apiKey } = service;
      return createStorage({ host, canisterId, apiKey });
    },
  ],
];

describe.each(transports)('Storage.listFolder(): over %s', (way, open) => {
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });

  test('a page of a folder has files, folders and a cursor', async () => {
    const { bucket } = service;
    const request = { bucket, prefix: root, delimiter: '/', limit: 3 } as const;
    const first = await storage.listFolder(request);
    expect(first).toMatchObject({
      items: [{ path: `${root}a`, size: 1 }, { path: `${root}b-` }],
      folders: [{ path: `${root}b/` }],
      nextCursor: expect.any(String),
    });
    const second = await storage.listFolder({ ...request, cursor: first.nextCursor });
    expect(second).toMatchObject({
      items: [{ path: `${root}d` }],
      folders: [{ path: `${root}c/` }],
    });
    expect(second.nextCursor).toBeUndefined();
    const down = await storage.listFolder({ bucket, prefix: root, sort: 'name_desc', limit: 1 });
    expect(down.items).toMatchObject([{ path: `${root}d` }]);
    const refused = storage.listFolder({ ...request, limit: 0 });
    await expect(refused).rejects.toMatchObject({ code: 'InvalidArgument' });
  });

  test('usage returns files and bytes', async () => {
    const { bucket } = service;
    expect(await storage.usage({ bucket, prefix: `${root}b/` })).toEqual({ files: 2, bytes: 8 });
    expect((await storage.usage({ bucket })).files).toBeGreaterThanOrEqual(names.length);
  });

  test('a list skips nothing if listed files are removed meanwhile', async () => {
    const { bucket } = service;
    const prefix = `client cursors ${way}/`;
    const paths = Array.from({ length: 104 }, (_, at) => `${prefix}${1_000 + at}`);
    await Promise.all(paths.map((path) => put(path, 1)));
    const found: string[] = [];
    for await (const { path } of storage.list({ bucket, prefix })) {
      found.push(path);
      await overHttp.remove({ bucket, path });
    }
    expect(found).toEqual(paths);
  });
});

test('Storage.listFolder() reads page by page from an older service without cursors', async () => {
  const fetch = (input: unknown) => {
    const isLast = new URL(String(input)).searchParams.get('page') === '2';
    const items = isLast ? [{ path: 'a' }, { path: 'f/b' }] : [];
    const answer = { items, page: 1, pageSize: 10, total: 20, nextPage: isLast ? null : 2 };
    return Promise.resolve(Response.json(answer));
  };
  const storage = createStorage({ url: 'http://localhost', apiKey: 'k', fetch });
  const listed = await storage.listFolder({ bucket: 'b', delimiter: '/' });
  expect(listed).toEqual({ items: [{ path: 'a' }], folders: [{ path: 'f/' }] });
});

describe('efs', () => {
  const efs = async (...words: string[]) => {
    const environment = { EFS_URL: service.base, EFS_API_KEY: service.apiKey };
    const ended = await callCommand(words, { folder, environment });
    return { ...ended, output: Buffer.from(ended.output, 'latin1').toString() };
  };
  const place = () => `${service.bucket}/${root}`;
  const pathsOf = (output: string) => output.match(/client folders\/.*$/gm);

  test('ls prints files and folders, and with -r all files', async () => {
    const shown = await efs('ls', place());
    expect(pathsOf(shown.output)).toEqual(['a', 'b-', 'b/', 'c/', 'd'].map((name) => root + name));
    expect(shown.output).toMatch(/ folder +client folders\/b\/$/m);
    const down = await efs('ls', place(), '--sort', 'name_desc');
    expect(pathsOf(down.output)).toEqual(pathsOf(shown.output)?.toReversed());
    const all = await efs('ls', '-r', place());
    expect(pathsOf(all.output)).toEqual(names.map((name) => root + name).sort());
    const byDate = await efs('ls', place(), '--sort', 'date_asc');
    expect(pathsOf(byDate.output)).toHaveLength(names.length);
    const files = JSON.parse((await efs('ls', place(), '--json')).output);
    expect(files).toHaveLength(names.length);
    const shallow = ['ls', place(), '--no-recursive'];
    const json = JSON.parse((await efs(...shallow, '--json')).output);
    expect(json).toMatchObject([{ size: 1 }, { size: 2 }, { path: `${root}b/` }, {}, {}]);
    const prefixed = await efs('ls', service.bucket, '--prefix', root, '--json');
    expect(JSON.parse(prefixed.output)).toHaveLength(names.length);
    expect((await efs(...shallow, '--sort', 'date_asc')).code).toBe(2);
    expect((await efs(...shallow, '--tag', 'none')).output).toBe('');
  });

  test('tree draws the contents of a folder to the given depth', async () => {
    const whole = await efs('tree', place());
    expect(whole.output.split('\n')).toEqual([
      place(),
      '├── a',
      '├── b-',
      '├── b/',
      '│   ├── 1',
      '│   └── 2/',
      '│       └── 3',
      '├── c/',
      '│   └── x/',
      '│       └── y/',
      '│           └── z',
      '└── d',
      '',
      '5 folders, 6 files',
      '',
    ]);
    const shallow = await efs('tree', '-L', '2', `${service.bucket}/client folders`);
    expect(shallow.output).toContain('│   └── x/\n└── d\n\n4 folders, 4 files\n');
    expect(JSON.parse((await efs('tree', '--json', '-L', '1', place())).output)).toEqual([
      { name: 'a' },
      { name: 'b-' },
      { name: 'b/', entries: [] },
      { name: 'c/', entries: [] },
      { name: 'd' },
    ]);
    expect((await efs('tree', '-L', '0', place())).code).toBe(2);
  });

  test('du sums files and bytes per folder', async () => {
    const shown = await efs('du', place());
    expect(shown.output).toBe(`8\t2\t${place()}b/\n7\t1\t${place()}c/\n19\t6\t${place()}\n`);
    const whole = await efs('du', '-s', '-h', `${service.bucket}/client folders`);
    expect(whole.output).toBe(`19 B\t6\t${place()}\n`);
    expect(JSON.parse((await efs('du', '-s', '--json', place())).output)).toEqual([
      { path: root, files: 6, bytes: 19 },
    ]);
    expect((await efs('du', '--help')).output).toContain('--summarize');
  });
});
