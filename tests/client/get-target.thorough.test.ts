// `efs get` keeps the kind and permissions of an existing target, leaves other files as they are,
// and a failed run leaves nothing that stops the next one.

import { execFileSync, spawn } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, runCommand, startCommand } from './command-runs.ts';
import { noFaults, startProxy } from './unreliable-proxy.ts';

const longBytes = sampleBytes('long', 9_000_000);
const otherBytes = sampleBytes('other', 9_000_000);

let service: Service;
let base: string;
let folder: string;

beforeAll(async () => {
  service = await openService();
  base = await mkdtemp(join(tmpdir(), 'efs-get-'));
  folder = base;
  for (const [name, bytes] of Object.entries({
    'small.txt': Buffer.from('0123456789'),
    'long.bin': longBytes,
    'other.bin': otherBytes,
    'changing.bin': longBytes,
  })) {
    await writeFile(join(base, name), bytes);
    expect((await efs('put', name, remote(name))).code).toBe(0);
  }
});
afterAll(async () => {
  await service?.stop();
  await rm(base, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(base, 'run-'));
});

function settings(more: Readonly<Record<string, string>> = {}): CommandSettings {
  const { base: EFS_URL, apiKey: EFS_API_KEY, host: EFS_HOST, canisterId } = service;
  const own = { EFS_URL, EFS_API_KEY, EFS_HOST, EFS_CANISTER_ID: canisterId };
  return { folder, environment: { ...own, ...more } };
}

const efs = (...words: string[]) => callCommand(words, settings());
const remote = (name: string) => `${service.bucket}/${name}`;
const at = (name: string) => join(folder, name);
const text = (name: string) => readFile(at(name), 'utf8');
const done = { code: 0, output: '', errors: '' };

async function names(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name !== 'state').sort();
}

async function remembered(): Promise<string[]> {
  return readdir(at('state/efs')).catch(() => []);
}

/**
 * Interrupts the command with Ctrl-C after at least one chunk; returns the path of its temporary
 * file.
 */
async function interruptedGet(...words: string[]): Promise<string> {
  const proxy = await startProxy(service.base);
  proxy.faults = { ...noFaults, delayMsMax: 400 };
  const run = startCommand(['get', '-p', '1', ...words], settings({ EFS_URL: proxy.url }));
  let part: string | undefined;
  for (let size = 0; size < 1_900_000; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    part = (await readdir(folder)).find((name) => /^\.efs-[0-9a-f]{16}\.part$/.test(name));
    size = part === undefined ? 0 : (await stat(at(part))).size;
  }
  run.process.kill('SIGINT');
  expect((await run.ended).code).toBe(130);
  await proxy.stop();
  return at(part ?? '');
}

test('efs get writes into a pipe or a device without replacing it', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  const reader = spawn('cat', [at('pipe')]);
  let output = '';
  reader.stdout.on('data', (bytes) => {
    output += bytes;
  });
  const closed = new Promise((resolve) => reader.once('close', resolve));
  expect(await efs('get', remote('small.txt'), 'pipe')).toEqual(done);
  await closed;
  expect(output).toBe('0123456789');
  expect((await lstat(at('pipe'))).isFIFO()).toBe(true);
  await symlink('/dev/null', at('sink'));
  expect(await efs('get', remote('small.txt'), 'sink')).toEqual(done);
  expect((await stat(at('sink'))).isCharacterDevice()).toBe(true);
  expect(await names()).toEqual(['pipe', 'sink']);
});

test('efs get: a symbolic link stays, and its target is written, whether or not it exists', async () => {
  await mkdir(at('sub'));
  await writeFile(at('sub/there'), 'old');
  await symlink('sub/there', at('link'));
  await symlink('sub/new', at('dangling'));
  expect(await efs('get', remote('small.txt'), 'link')).toEqual(done);
  expect(await efs('get', remote('small.txt'), 'dangling')).toEqual(done);
  expect((await lstat(at('link'))).isSymbolicLink()).toBe(true);
  expect((await lstat(at('dangling'))).isSymbolicLink()).toBe(true);
  expect(await text('sub/there')).toBe('0123456789');
  expect(await text('sub/new')).toBe('0123456789');
  expect((await readdir(at('sub'))).sort()).toEqual(['new', 'there']);
});

test.each([0o600, 0o664, 0o444])(
  'efs get keeps the permissions %o of an existing file',
  async (mode) => {
    await writeFile(at('old'), 'old');
    await chmod(at('old'), mode);
    expect(await efs('get', remote('small.txt'), 'old')).toEqual(done);
    expect((await stat(at('old'))).mode & 0o777).toBe(mode);
    expect(await text('old')).toBe('0123456789');
  },
);

test("efs get: a user's own .part file is not touched", async () => {
  await writeFile(at('small.txt.part'), 'mine');
  expect(await efs('get', remote('small.txt'))).toEqual(done);
  expect(await text('small.txt.part')).toBe('mine');
  expect(await names()).toEqual(['small.txt', 'small.txt.part']);
});

test('efs get writes to a name of 252 bytes', async () => {
  const name = 'n'.repeat(252);
  expect(await efs('get', remote('small.txt'), name)).toEqual(done);
  expect(await names()).toEqual([name]);
});

test('efs get: concurrent runs to one target write separate files, and one result remains', async () => {
  const runs = ['long.bin', 'other.bin', 'long.bin'].map((name) =>
    runCommand(['get', '-p', '1', remote(name), 'same'], settings()),
  );
  expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([0, 0, 0]);
  const either = [longBytes, otherBytes].map(sha256Hex);
  expect(either).toContain(sha256Hex(await readFile(at('same'))));
  expect(await names()).toEqual(['same']);
  expect(await remembered()).toEqual([]);
});

test("efs get: a range becomes a file that begins with the range's first byte", async () => {
  await writeFile(at('short.part'), 'stale, and longer than the range');
  expect(await efs('get', '--range', '3-5', remote('small.txt'), 'short')).toEqual(done);
  expect(await text('short')).toBe('345');
  expect(await efs('get', '--range', '2000000-', remote('long.bin'))).toEqual(done);
  const tail = await readFile(at('long.bin'));
  expect(sha256Hex(tail)).toBe(sha256Hex(longBytes.subarray(2_000_000)));
  expect(await names()).toEqual(['long.bin', 'short', 'short.part']);
  expect(await remembered()).toEqual([]);
});

test('efs get: a range with --resume is refused before anything is fetched', async () => {
  const refused = await efs('get', '--range', '3-5', '--resume', remote('small.txt'), 'short');
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('--resume') });
  expect(await names()).toEqual([]);
});

test('efs get: after a --resume that found wrong bytes, the next one starts over', async () => {
  const words = [remote('long.bin'), 'back'];
  const handle = await open(await interruptedGet(...words), 'r+');
  await handle.write(Buffer.from('wrong'), 0, 5, 0);
  await handle.close();
  const wrong = await efs('get', '--resume', ...words);
  expect(wrong).toMatchObject({ code: 8, errors: expect.stringContaining('[IntegrityError]') });
  expect(await names()).toEqual([]);
  expect(await remembered()).toEqual([]);
  expect(await efs('get', '--resume', ...words)).toEqual(done);
  expect(sha256Hex(await readFile(at('back')))).toBe(sha256Hex(longBytes));
});

test('efs get: --resume of a replaced file starts over and says so', async () => {
  await interruptedGet(remote('changing.bin'), 'back');
  await writeFile(join(base, 'new.bin'), otherBytes.subarray(1));
  expect((await efs('put', '../new.bin', remote('changing.bin'))).code).toBe(0);
  const resumed = await efs('get', '--resume', remote('changing.bin'), 'back');
  const note = 'The file has been replaced since, so the download starts over.\n';
  expect(resumed).toEqual({ ...done, errors: note });
  expect(sha256Hex(await readFile(at('back')))).toBe(sha256Hex(otherBytes.subarray(1)));
  expect(await remembered()).toEqual([]);
});

test('efs get without --resume removes the remains of an interrupted one', async () => {
  await interruptedGet(remote('long.bin'), 'back');
  expect(await remembered()).toHaveLength(1);
  expect(await efs('get', remote('long.bin'), 'back')).toEqual(done);
  expect(await names()).toEqual(['back']);
  expect(await remembered()).toEqual([]);
});

test('efs get: --resume keeps the received bytes if another server answers 404', async () => {
  const words = ['get', '--resume', remote('long.bin'), 'back'];
  await interruptedGet(remote('long.bin'), 'back');
  const other = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const refused = await runCommand(words, settings({ EFS_URL: `http://127.0.0.1:${port}` }));
  await new Promise((resolve) => other.close(resolve));
  expect(refused.code).toBe(3);
  expect(await names()).toHaveLength(1);
  expect(await efs(...words)).toEqual(done);
  expect(sha256Hex(await readFile(at('back')))).toBe(sha256Hex(longBytes));
  expect(await names()).toEqual(['back']);
});

test.each([
  ['a folder with the name of the file', [], 'is a folder'],
  ['a folder with that name in the target', ['.'], 'is a folder'],
  ['a target in a missing folder', ['none/file'], 'The folder "none" does not exist'],
  ['a missing folder', ['none/'], 'The folder "none" does not exist'],
  ['a file where a folder must be', ['file/small.txt'], 'The folder "file" does not exist'],
])('efs get: %s is refused before anything is fetched', async (_, target, words) => {
  await mkdir(at('small.txt'));
  await writeFile(at('file'), '');
  // Nothing listens at this address, so a request would fail.
  const unreachable = settings({ EFS_URL: 'http://127.0.0.1:9' });
  const refused = await callCommand(['get', remote('small.txt'), ...target], unreachable);
  expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining(words) });
  expect(await names()).toEqual(['file', 'small.txt']);
});

test('efs get works if its state cannot be stored, and says so', async () => {
  const forgetful = settings({ XDG_STATE_HOME: '/dev/null' });
  const fetched = await callCommand(['get', remote('small.txt')], forgetful);
  expect(fetched).toMatchObject({
    code: 0,
    errors: expect.stringMatching(/^This transfer cannot/),
  });
  expect(await text('small.txt')).toBe('0123456789');
  expect(await names()).toEqual(['small.txt']);
});

describe('efs get of a link', () => {
  let link: string;
  beforeAll(async () => {
    const { output } = await efs('link', 'create', '-q', remote('small.txt'));
    const { pathname, search } = new URL(output.trim());
    link = service.base + pathname + search;
  });

  test('reports the name that it takes from the link, and never overwrites a file of that name', async () => {
    const note = 'Saves the file as "small.txt"; efs get <link> NAME gives it another name.\n';
    expect(await efs('get', link)).toEqual({ ...done, errors: note });
    await writeFile(at('small.txt'), 'mine');
    await symlink('nowhere', at('dangling.txt'));
    const again = await efs('get', link);
    expect(again.code).toBe(2);
    expect(again.errors).toContain('"small.txt" exists. Give a name: efs get <link> NAME.');
    expect((await efs('get', link, '.')).errors).toContain('"./small.txt" exists.');
    const named = `${link}#AAAA/dangling.txt`;
    expect((await efs('get', named)).errors).toContain('"dangling.txt" exists.');
    expect(await names()).toEqual(['dangling.txt', 'small.txt']);
    expect(await text('small.txt')).toBe('mine');
    // A typed name is used as given.
    expect(await efs('get', link, 'small.txt')).toEqual(done);
    expect(await text('small.txt')).toBe('0123456789');
  });

  test.each([
    ['.bashrc', 'begins with a dot'],
    ['..%5Cprofile.ps1', 'begins with a dot'],
    ['a%5Cprofile.ps1', 'slash or a backslash'],
    ['a%1B%5B2J.txt', 'control character'],
    ['.efs-0123456789abcdef.part', 'begins with a dot'],
  ])('refuses a name such as %s from the link', async (name, reason) => {
    for (const target of [[], ['.']]) {
      const refused = await efs('get', `${link}#AAAA/${name}`, ...target);
      expect(refused.code).toBe(2);
      expect(refused.errors).toContain(reason);
      expect(refused.errors).not.toContain('\u001b');
    }
    expect(await names()).toEqual([]);
  });
});
