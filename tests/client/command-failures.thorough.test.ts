// Errors of the command name the user's arguments, say what to do, and contain no words of HTTP.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { inWords } from '../../packages/efs/src/output/failure-words.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { callCommand } from './command-calls.ts';
import { commandEnvironment, runCommand, startCommand } from './command-runs.ts';

const script = join(projectDir, 'packages/efs/bin/efs.js');
const httpWords = /header|Authorization|Bearer|X-Bucket|If-None|If-Match|\b(?:GET|PUT|POST|HTTP)\b/;

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-failures-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const storage = createNodeStorage({ url: service.base, apiKey: service.apiKey });
  for (const path of ['wrong/a', 'wrong/b', 'wrong/c']) {
    await storage.upload(sampleBytes(path, 10), { bucket: service.bucket, path });
  }
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function settings(more: Readonly<Record<string, string>> = {}) {
  const environment = { EFS_URL: service.base, EFS_API_KEY: service.apiKey, ...more };
  return { folder, environment };
}
const efs = (...words: string[]) => callCommand(words, settings());

function efsAsOwner(...words: string[]) {
  const { host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
  const environment = { EFS_HOST, EFS_CANISTER_ID, EFS_IDENTITY: join(folder, 'identity.pem') };
  return callCommand(words, { folder, environment });
}

/** Returns an address where nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

test.each(['http', 'actor'])(
  'efs: without a server, the command reports its retries (%s)',
  async (way) => {
    const address = await closedAddress();
    const { canisterId: EFS_CANISTER_ID } = service;
    const environment = { EFS_URL: address, EFS_HOST: address, EFS_CANISTER_ID };
    const words = ['--transport', way, 'ls', service.bucket];
    const run = startCommand(words, { folder, environment });
    let errors = '';
    await new Promise<void>((resolve) => {
      run.process.stderr?.on('data', (text: Buffer) => {
        errors += text.toString();
        if (errors.includes('\n')) resolve();
      });
    });
    run.process.kill('SIGINT');
    const ended = await run.ended;
    expect(errors).toMatch(
      /^Retrying http:\/\/127\.0\.0\.1:\d+ in \d s, attempt \d of 10: fetch failed/,
    );
    expect(ended.code).toBe(130);
    expect(ended.errors).toMatch(/efs: Stopped\. \[Aborted\]\n$/);
  },
);

test.each(['url', 'host'])(
  'efs: a name that cannot be resolved is reported (by %s)',
  async (way) => {
    const address = 'http://nowhere.invalid';
    const { canisterId, apiKey } = service;
    const retry = { attemptsMax: 1 };
    const storage = createNodeStorage(
      way === 'url' ? { url: address, apiKey, retry } : { host: address, canisterId, retry },
    );
    const error = await storage.status().catch((thrown) => thrown);
    expect(inWords(error)).toMatch(
      /^The name nowhere\.invalid cannot be resolved; check --url, --host/,
    );
  },
);

test.each([['get'], ['get', '--transport', 'actor'], ['cat'], ['stat'], ['link', 'create']])(
  'efs: %s %s %s reports a file that does not exist',
  async (...words) => {
    const { host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
    const more = settings({ EFS_HOST, EFS_CANISTER_ID });
    const ended = await callCommand([...words, `${service.bucket}/no/such`], more);
    expect(ended.code).toBe(3);
    expect(ended.errors).toContain('no/such');
    expect(ended.errors).not.toMatch(httpWords);
  },
);

describe('efs: keys', () => {
  test('with a key for another bucket, the error names the bucket and ways to get access', async () => {
    await efsAsOwner('bucket', 'create', 'photos');
    for (const words of [
      ['ls', 'photos'],
      ['rm', 'photos/x'],
      ['put', 'identity.pem', 'photos/'],
    ]) {
      const ended = await efs(...words);
      expect(ended.code).toBe(4);
      expect(ended.errors).toContain('This API key is not for bucket photos');
      expect(ended.errors).toContain('efs key create photos');
      expect(ended.errors).toContain('--identity');
      expect(ended.errors).not.toMatch(httpWords);
    }
  });

  test('without a key, with an unknown one or without the permission, the error says so', async () => {
    const { bucket } = service;
    const key = async (...words: string[]) =>
      (await efsAsOwner('key', 'create', ...words)).output.trim();
    const cases: [string, RegExp][] = [
      ['', /give an API key by EFS_API_KEY/],
      ['efs_unknown', /API key is not valid/],
      [await key(bucket, '--permissions', 'read'), /lacks the permission upload; it has read/],
    ];
    for (const [apiKey, words] of cases) {
      const ended = await callCommand(
        ['put', 'identity.pem', `${bucket}/denied`],
        settings({ EFS_API_KEY: apiKey }),
      );
      expect(ended.code).toBe(4);
      expect(ended.errors).toMatch(words);
      expect(ended.errors).not.toMatch(httpWords);
    }
  });
});

test('efs: errors name commands and flags where the service names methods and headers', async () => {
  const { bucket } = service;
  const unknown = await efsAsOwner('key', 'revoke', 'nothing');
  expect(unknown.errors).toBe(
    'efs: API key "nothing" does not exist in your buckets: efs key ls BUCKET shows the ids. ' +
      '[AccessDenied]\n',
  );
  const nowhere = await efsAsOwner('ls', 'nowhere');
  expect(nowhere.errors).toContain('Bucket nowhere does not exist, or you have no right to it');
  const type = await efs('put', '--type', 'foo', 'identity.pem', `${bucket}/typed`);
  expect(type.errors).toContain('The --type "foo" is not a media type');
  const long = ['--cache-control', 'a'.repeat(3_000)];
  const header = await efs('put', ...long, 'identity.pem', `${bucket}/typed`);
  expect(header.errors).toContain('(--cache-control, --header) must have at most 1024 visible');
});

test('efs: a refusal to replace an existing file names the flag --no-replace', async () => {
  const { bucket } = service;
  const ended = await efs('put', '--no-replace', 'identity.pem', `${bucket}/wrong/a`);
  expect(ended.code).toBe(5);
  expect(ended.errors).toContain('A file with that name exists, and --no-replace keeps it.');
});

test('efs: rm continues after a missing file and reports a summary', async () => {
  const { bucket } = service;
  const names = ['a', 'missing', 'b'].map((name) => `${bucket}/wrong/${name}`);
  const ended = await efs('rm', ...names);
  expect(ended.output).toBe(`${names[0]}\n${names[2]}\n`);
  expect(ended.errors).toContain(`${names[1]} is not removed: `);
  expect(ended.errors).toContain('efs: 2 removed, 1 failed.');
  expect(ended.code).toBe(3);
});

test('efs: quotas are set with units, removed by the value none, and shown with their use', async () => {
  await efsAsOwner('bucket', 'create', 'small', '--quota', '10MB', '--quota-files', '7');
  const record = async () => {
    const { output } = await efsAsOwner('bucket', 'ls', '--json');
    return JSON.parse(output).find(({ id }: { id: string }) => id === 'small');
  };
  expect(await record()).toMatchObject({ quotaBytes: 10_000_000, quotaFiles: 7 });
  const shown = (await efsAsOwner('bucket', 'ls')).output;
  expect(shown).toMatch(/^BUCKET +FILES +SIZE +QUOTA/);
  expect(shown).toMatch(/^small +0 of 7 +0 B +\d % of 10\.0 MB/m);
  await efsAsOwner('bucket', 'set', 'small', '--quota', 'none', '--quota-files', '0');
  expect((await record()).quotaBytes).toBeUndefined();
  expect((await efsAsOwner('bucket', 'ls')).output).toMatch(/^small +0 +0 B +\S+ +private/m);
  expect((await efsAsOwner('bucket', 'set', 'small', '--quota', '10 X')).code).toBe(2);
});

test('efs: ls shows all files; with --limit, it shows fewer and says so', async () => {
  const { bucket } = service;
  const storage = createNodeStorage({ url: service.base, apiKey: service.apiKey });
  const files = Array.from({ length: 120 }, (_, index) => ({
    path: `many/${1_000 + index}`,
    source: sampleBytes('x', 1),
  }));
  for await (const { error } of storage.uploadAll(files, { bucket })) expect(error).toBeUndefined();
  const all = await efs('ls', `${bucket}/many/`);
  expect(all.output.split('\n')).toHaveLength(122);
  expect(all.errors).toBe('');
  const some = await efs('ls', '--limit', '5', `${bucket}/many/`);
  expect(some.output.split('\n')).toHaveLength(7);
  expect(some.errors).toBe('These are the first 5: there are more without --limit.\n');
});

test('efs: times have their offset from UTC, and are ISO 8601 in JSON', async () => {
  const { bucket } = service;
  const table = await efs('ls', `${bucket}/wrong/`);
  expect(table.output).toMatch(/ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d /);
  const json = await efs('ls', '--json', `${bucket}/wrong/`);
  expect(JSON.parse(json.output)[0].updatedAt).toMatch(/^\d{4}-.*T.*Z$/);
});

test.each(['--cache-control', '--type'])('efs: a line end in %s is a usage error', async (flag) => {
  const words = ['put', flag, 'a\nb', 'identity.pem', `${service.bucket}/line`];
  const ended = await efs(...words);
  expect(ended).toMatchObject({ code: 2, output: '' });
  expect(ended.errors).toContain('It must be one line, without control characters.');
});

test('efs: 32 requests at a time print no warning', async () => {
  // 13 chunks: Node warns from the eleventh listener on.
  await writeFile(join(folder, 'large.bin'), sampleBytes('large', 24_000_000));
  const { host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
  const more = settings({ EFS_HOST, EFS_CANISTER_ID });
  const name = `${service.bucket}/large.bin`;
  for (const words of [
    ['put', 'large.bin', name],
    ['get', name, 'back.bin'],
    ['--transport', 'actor', 'get', name, 'back.bin'],
    ['sync', `${service.bucket}/many`, './many'],
  ]) {
    const run = await runCommand([...words, '-p', '32'], more);
    expect(run.code).toBe(0);
    expect(run.errors).not.toContain('MaxListeners');
  }
});

test('efs: Ctrl-C immediately ends a put that waits for standard input, with a message', async () => {
  const child = spawn(process.execPath, [script, 'put', '-', `${service.bucket}/typed`], {
    cwd: folder,
    env: commandEnvironment(settings()),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  // More than a pipe can buffer: after the write, the command is reading.
  await new Promise((resolve) => child.stdin.write(Buffer.alloc(4_000_000), resolve));
  child.kill('SIGINT');
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(130);
  expect(errors).toContain(`Nothing is stored: ${service.bucket}/typed is unchanged.`);
  expect((await efs('stat', `${service.bucket}/typed`)).code).toBe(3);
});
