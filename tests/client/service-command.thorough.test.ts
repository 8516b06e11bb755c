// `efs` with a service of three volumes on a local replica: users see one service.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import {
  deployLocally,
  principalOf,
  type ServiceDescription,
} from '../../scripts/local-service.ts';
import { FrontSetting } from '../../src/actor/candid/service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { runCommand, startCommand } from './command-runs.ts';

let folder: string;
let replica: Replica;
let service: ServiceDescription;
const names = ['albums', 'books', 'letters', 'maps'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'volumes-'));
  const stateDir = join(folder, '.replica');
  await copyPreparedState(stateDir);
  replica = await startReplica({ stateDir, sync: false, port: 0 });
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  service = await deployLocally({ replica, stateDir, wasm, hasFront: true, volumeCount: 3 });
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function efs(...words: string[]): Promise<string> {
  const { code, output, errors } = await runCommand(words, { folder });
  expect(code, errors).toBe(0);
  return output;
}

const frontOf = ({ front }: ServiceDescription) => front?.canisterId ?? expect.fail();

/** Makes the canister a volume of a front, or of none. */
async function setFront(volume: string, setting: object[]): Promise<void> {
  const argument = IDL.encode([IDL.Opt(FrontSetting)], [setting]);
  await replica.call(volume, 'setFront', argument, { sender: principalOf(service.identityPem) });
}

/** Retries while the front waits for the first reports of new volumes. */
async function create(name: string): Promise<void> {
  await expect
    .poll(async () => (await runCommand(['bucket', 'create', name], { folder })).code)
    .toBe(0);
}

describe('efs', () => {
  test('bucket create spreads buckets over the volumes, and ls lists them all', async () => {
    expect(service.front?.volumes).toHaveLength(3);
    for (const name of names) await create(name);
    const listed = JSON.parse(await efs('bucket', 'ls', '--json')) as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual([...names, 'demo'].sort());
    const urls = await Promise.all(
      names.map(async (name) => {
        const key = JSON.parse(await efs('key', 'create', name, '--json')) as { url: string };
        return key.url;
      }),
    );
    expect(new Set(urls).size).toBe(3);
  });

  test('put, ls, cat, get, sync, mv and rm find the volume of each bucket', async () => {
    await writeFile(join(folder, 'note.txt'), 'hello');
    await mkdir(join(folder, 'tree'));
    for (const name of ['a', 'b']) await writeFile(join(folder, 'tree', name), name);
    for (const name of names.slice(0, 3)) {
      await efs('put', 'note.txt', `${name}/x/`);
      await efs('sync', 'tree', `${name}/tree/`);
      expect(await efs('ls', '-r', `${name}/`)).toContain('tree/b');
      expect(await efs('cat', `${name}/x/note.txt`)).toBe('hello');
      await efs('mv', `${name}/x/note.txt`, `${name}/y.txt`);
      await efs('get', `${name}/y.txt`, `${name}.txt`);
      expect(await readFile(join(folder, `${name}.txt`), 'utf8')).toBe('hello');
      await efs('rm', `${name}/y.txt`);
      const left = await efs('ls', '-r', `${name}/`);
      expect(left).not.toContain('y.txt');
    }
  });

  test('cp, mv and sync copy between buckets of different volumes', async () => {
    const [one = '', other = ''] = names;
    await efs('put', 'note.txt', `${one}/n.txt`, '--tag', 'x');
    await efs('cp', `${one}/n.txt`, `${other}/n.txt`);
    await efs('mv', `${one}/n.txt`, `${other}/m.txt`);
    expect(await efs('cat', `${other}/n.txt`)).toBe('hello');
    expect(await efs('ls', '-r', `${other}/`, '--tag', 'x')).toContain('m.txt');
    expect(await efs('ls', '-r', `${one}/`)).not.toContain('n.txt');
    expect(await efs('sync', `${one}/tree/`, `${other}/copied/`)).toContain('copied/a');
    const again = JSON.parse(await efs('sync', `${one}/tree/`, `${other}/copied/`, '--json'));
    expect(again).toMatchObject({ done: 0, same: 2 });
  });

  test('get finds a bucket again that was created at another volume by another command', async () => {
    await create('leaving');
    await efs('put', 'note.txt', 'leaving/');
    const addressOf = async () =>
      (JSON.parse(await efs('key', 'create', 'leaving', '--json')) as { url: string }).url;
    const before = await addressOf();
    // The replica's own address has the front, so commands with it use the whole service.
    const others = service.front?.volumes.filter((id) => id !== service.canisterId) ?? [];
    const canisterId = others.find((id) => !before.includes(id)) ?? '';
    const pem = join(folder, 'owner.pem');
    await writeFile(pem, service.identityPem, { mode: 0o600 });
    const volume = ['--host', service.url, '--canister-id', canisterId, '--identity', pem];
    const elsewhere = { folder, environment: { XDG_CONFIG_HOME: join(folder, 'other') } };
    const other = async (...words: string[]) => {
      const { code, errors } = await runCommand(words, elsewhere);
      expect(code, errors).toBe(0);
    };
    await other('bucket', 'rm', 'leaving', '--force');
    const { code, errors } = await runCommand(
      [...volume, 'bucket', 'create', 'leaving'],
      elsewhere,
    );
    expect([code, errors]).toEqual([4, expect.stringContaining(`--front ${frontOf(service)}`)]);
    await setFront(canisterId, []);
    await other(...volume, 'bucket', 'create', 'leaving');
    const setting = { front: Principal.fromText(frontOf(service)), url: [service.front?.gateway] };
    await setFront(canisterId, [setting]);
    await other(...volume, 'put', 'note.txt', 'leaving/');
    expect(await addressOf()).toContain(canisterId);
    expect(await efs('cat', 'leaving/note.txt')).toBe('hello');
    await efs('bucket', 'rm', 'leaving', '--force');
  });

  test('serve s3 has the buckets of all volumes for a profile with a front', async () => {
    const pem = join(folder, 'owner.pem');
    await writeFile(pem, service.identityPem, { mode: 0o600 });
    const front = service.front?.canisterId ?? '';
    const place = ['--host', service.url, '--front', front, '--identity', pem];
    await efs('profile', 'add', 'all', ...place);
    const key = ['--profile', 'all', 'serve', 's3', 'credentials', 'create', '--json'];
    const { accessKeyId, secretAccessKey } = JSON.parse(await efs(...key));
    const words = ['--profile', 'all', 'serve', 's3', '--listen', '127.0.0.1:0'];
    const server = startCommand(words, { folder });
    let output = '';
    server.process.stdout?.on('data', (text) => {
      output += text;
    });
    await expect.poll(() => output).toMatch(/^S3 at \S+$/m);
    const endpoint = /^S3 at (\S+)$/m.exec(output)?.[1] ?? '';
    const credentials = { accessKeyId, secretAccessKey };
    const client = new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials });
    const { Buckets } = await client.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual([...names, 'demo'].sort());
    for (const Bucket of names.slice(0, 3)) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'tree/a' }));
      expect(await Body?.transformToString()).toBe('a');
    }
    client.destroy();
    server.process.kill('SIGINT');
    expect((await server.ended).code).toBe(0);
  });

  test('key create prints the address of the volume, where the key works', async () => {
    const key = JSON.parse(await efs('key', 'create', 'maps', '--json')) as {
      url: string;
      secret: string;
    };
    const canisterId = new URL(key.url).hostname.split('.')[0] ?? '';
    expect(service.front?.volumes).toContain(canisterId);
    const flags = ['--host', service.url, '--canister-id', canisterId, '--transport', 'actor'];
    const environment = { EFS_API_KEY: key.secret };
    const elsewhere = await mkdtemp(join(tmpdir(), 'volumes-'));
    await writeFile(join(elsewhere, 'k.txt'), 'by key');
    const ended = await runCommand([...flags, 'put', 'k.txt', 'maps/'], {
      ...{ folder: elsewhere, environment },
    });
    expect(ended.code, ended.errors).toBe(0);
    expect(await efs('cat', 'maps/k.txt')).toBe('by key');
    await rm(elsewhere, { recursive: true });
  });

  test('opens end-to-end buckets at every volume', async () => {
    for (const name of ['safe-a', 'safe-b']) {
      await efs('bucket', 'create', name, '--end-to-end');
      await efs('put', 'note.txt', `${name}/`);
      await efs('sync', 'tree', `${name}/tree/`);
      expect(await efs('sync', 'tree', `${name}/tree/`)).not.toContain('new');
      expect(await efs('cat', `${name}/note.txt`)).toBe('hello');
    }
  });

  test('volume ls, close, open, set and rm show and change the volumes', async () => {
    const shown = async () =>
      JSON.parse(await efs('volume', 'ls', '--json')) as { state: string }[];
    const [first = ''] = service.front?.volumes ?? [];
    await efs('volume', 'close', first);
    expect((await shown()).map(({ state }) => state)).toEqual(['closed', 'open', 'open']);
    await efs('volume', 'open', first);
    await efs('volume', 'set', first, '--limit', '300GiB');
    expect(await efs('volume', 'ls')).toContain(`${first}  open`);
    const removed = await runCommand(['volume', 'rm', first], { folder });
    expect(removed.errors).toContain(`The volume ${first} has`);
    const wrong = await runCommand(['volume', 'set', first], { folder });
    expect(wrong.errors).toContain("required option '--limit <size>'");
    await efs('volume', 'add', first);
    expect(await shown()).toHaveLength(3);
  });

  test('bucket ls shows the buckets of the other volumes if one does not answer', async () => {
    const [, second = ''] = service.front?.volumes ?? [];
    const argument = { canister_id: Principal.fromText(second) };
    const sender = principalOf(service.identityPem);
    await manage(replica, 'stop_canister', { ...argument, sender });
    const { code, output, errors } = await runCommand(['bucket', 'ls'], { folder });
    expect(code).not.toBe(0);
    expect(output).toContain('demo');
    expect(errors).toContain(`The volume ${second}: `);
    await manage(replica, 'start_canister', { ...argument, sender });
  });

  test('status adds the volumes up', async () => {
    const status = JSON.parse(await efs('status', '--json')) as { buckets: number };
    expect(status.buckets).toBe(names.length + 1 + 2);
  });

  test('top-up set, send and ls show and change the cycles that the front sends', async () => {
    const [first = ''] = service.front?.volumes ?? [];
    const set = await efs('top-up', 'set', '--below', '1T', '--to', '1.5T', '--daily', '3T');
    expect(set).toContain('Volumes below 1.00 T cycles are filled up to 1.50 T cycles');
    await efs('top-up', 'send', first, '500G');
    const shown = await efs('top-up', 'ls');
    expect(shown).toMatch(new RegExp(`${first} +500 G cycles +request`));
    expect(shown).toMatch(new RegExp(`${first} +\\S+ [GT] cycles`));
    const { code, errors } = await runCommand(['top-up', 'set', '--below', 'much'], { folder });
    expect([code, errors]).toEqual([2, expect.stringContaining('such as 2T')]);
  });
});
