// `efs service deploy` and `efs volume create` set up a service on an empty local replica, and
// continue after an interrupted run.

import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createByIcp } from '../../packages/efs/src/service/new-canister.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { subnetOf } from '../../packages/replica/src/subnet-ranges.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { readSections, withCustomSection, writeSections } from '../../scripts/wasm-sections.ts';
import { type Ended, runCommand, startCommand } from './command-runs.ts';

let folder: string;
let replica: Replica;
let place: string[];
let owner: string;
let front: string;
let first: string;
const module = 'file_storage.wasm.gz';
const subnetCount = 2;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'set-up-'));
  const stateDir = join(folder, 'state');
  replica = await startReplica({ stateDir, sync: false, port: 0, subnets: subnetCount });
  const wasm = await readFile((await buildCanister({ force: false })).wasmPath);
  await writeFile(join(folder, module), wasm);
  const changed = withCustomSection(readSections(gunzipSync(wasm)), {
    ...{ name: 'icp:public efs:test', content: Buffer.from('other') },
  });
  await writeFile(join(folder, 'other.wasm.gz'), gzipSync(writeSections(changed)));
  const pem = newIdentity();
  owner = principalOf(pem).toText();
  await writeFile(join(folder, 'me.pem'), pem, { mode: 0o600 });
  await writeFile(join(folder, 'stranger.pem'), newIdentity(), { mode: 0o600 });
  place = ['--host', `http://localhost:${replica.port}`, '--identity', 'me.pem'];
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...words: string[]): Promise<Ended> => runCommand([...place, ...words], { folder });
const atFront = (...words: string[]) => run('--front', front, ...words);

async function resultOf(running: Promise<Ended>): Promise<Record<string, string>> {
  const { code, output, errors } = await running;
  expect(code, errors).toBe(0);
  return JSON.parse(output);
}

async function statesOf(): Promise<Record<string, string>> {
  const listed = JSON.parse((await atFront('volume', 'ls', '--json')).output) as {
    readonly canisterId: string;
    readonly state: string;
  }[];
  return Object.fromEntries(listed.map(({ canisterId, state }) => [canisterId, state]));
}

const canisterCount = () => replica.canisters().length;
const cyclesOf = (id: string) => replica.canisters().find((one) => one.id.toText() === id)?.cycles;
const createdIn = (text: string) => /Created ([a-z0-9-]+) for/.exec(text)?.[1] ?? '';

describe('efs service deploy', () => {
  test('creates a front and a volume, and prints a command that makes the profile', async () => {
    const { code, output, errors } = await run('service', 'deploy', module);
    expect(code, errors).toBe(0);
    [, front = '', first = ''] = /^front +(\S+)\nvolume +(\S+)$/m.exec(output) ?? [];
    expect(errors).toContain(`Created ${front} for the front`);
    expect(errors).toContain(`efs service deploy ${module} --canister ${front} --volume ${first}`);
    expect(await statesOf()).toEqual({ [first]: 'open' });
    const command = /^efs (profile add .*)$/m.exec(output)?.[1]?.split(' ') ?? [];
    expect((await runCommand(command, { folder })).code).toBe(0);
    const asProfile = (...words: string[]) =>
      runCommand(['--profile', 'files', ...words], { folder });
    expect((await asProfile('bucket', 'create', 'albums')).errors).toBe('');
    await asProfile('put', 'me.pem', 'albums/');
    expect((await asProfile('ls', 'albums')).output).toContain('me.pem');
    expect(Number(cyclesOf(front))).toBeLessThan(1e12);
    expect(Number(cyclesOf(first))).toBeGreaterThan(2.5e12);
  });

  test('continues after a kill, and creates nothing twice', async () => {
    const before = canisterCount();
    const killed = startCommand([...place, 'service', 'deploy', module], { folder });
    let errors = '';
    killed.process.stderr?.on('data', (text) => {
      errors += text;
      killed.process.kill('SIGKILL');
    });
    await killed.ended;
    const canister = createdIn(errors);
    const again = ['service', 'deploy', module, '--canister', canister, '--json'];
    const made = await resultOf(run(...again));
    expect(made.front).toBe(canister);
    expect(canisterCount()).toBe(before + 2);
    expect(await resultOf(run(...again, '--volume', made.volume ?? ''))).toEqual(made);
    expect(canisterCount()).toBe(before + 2);
  });

  test('refuses canisters with other code, canisters of others and files of another kind', async () => {
    const before = canisterCount();
    const words = ['--canister', front, '--volume', first];
    const other = await run('service', 'deploy', 'other.wasm.gz', ...words);
    expect(other.errors).toMatch(/has other code \(SHA-256 [0-9a-f]{64}\), which is never overwri/);
    const stranger = await run('--identity', 'stranger.pem', 'service', 'deploy', module, ...words);
    expect(stranger.errors).toMatch(`is not a controller of ${front}`);
    expect((await run('service', 'deploy', 'me.pem')).errors).toContain('is not a module');
    expect((await run('service', 'deploy', module, '--canister', 'x')).errors).toContain(
      '"x" is not the id of a canister',
    );
    const swapped = ['--canister', first, '--volume', front];
    expect((await run('service', 'deploy', module, ...swapped)).code).not.toBe(0);
    expect(canisterCount()).toBe(before);
    expect(await statesOf()).toEqual({ [first]: 'open' });
  });
});

describe('efs volume', () => {
  test('create adds a canister of the chosen subnet and prints its id', async () => {
    const subnet = replica.subnets[1]?.toText() ?? '';
    const words = ['volume', 'create', module, '--subnet', subnet, '--cycles', '2T', '--json'];
    const { canisterId = '' } = await resultOf(atFront(...words));
    expect(await statesOf()).toEqual({ [first]: 'open', [canisterId]: 'open' });
    const { id } = replica.canisters().find((one) => one.id.toText() === canisterId) ?? {};
    expect(id && subnetOf(id, subnetCount)).toBe(2);
    expect(Number(cyclesOf(canisterId))).toBeLessThan(2e12);
    const again = await atFront('volume', 'create', module, '--canister', canisterId);
    expect([again.output, again.errors]).toEqual([`${canisterId}\n`, '']);
  });

  test('create continues with an empty canister, and refuses the front itself', async () => {
    const created = await replica.createCanister({
      controllers: [principalOf(await pemOfOwner())],
    });
    const canister = created.toText();
    const create = ['volume', 'create', module, '--canister'];
    expect((await atFront(...create, canister)).output).toBe(`${canister}\n`);
    expect((await statesOf())[canister]).toBe('open');
    expect((await atFront(...create, front)).code).not.toBe(0);
    expect((await atFront('volume', 'rm', canister)).code).toBe(0);
    const words = ['--canister-id', first, 'volume', 'create', module];
    const environment = { XDG_CONFIG_HOME: join(folder, 'other') };
    const alone = await runCommand([...place, ...words], { folder, environment });
    expect([alone.code, alone.errors]).toEqual([2, expect.stringContaining('pass --front')]);
  });
});

const pemOfOwner = () => readFile(join(folder, 'me.pem'), 'utf8');

// icp-cli and the network's ledgers cannot run here: a program of its name records its words.
describe('createByIcp', () => {
  const wanted = { cycles: 3e12, again: (id: string) => `efs volume create f --canister ${id}` };

  async function withIcp(script: string, use: () => Promise<void>): Promise<void> {
    const bin = join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'icp'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'icp'), 0o755);
    const { PATH } = process.env;
    process.env.PATH = `${bin}${delimiter}${PATH}`;
    try {
      await use();
    } finally {
      process.env.PATH = PATH;
    }
  }

  test('passes controller, cycles, subnet and payer, and returns the printed id', async () => {
    const script = `echo "$@" > ${join(folder, 'words')}; echo ryjl3-tyaaa-aaaaa-aaaba-cai`;
    await withIcp(script, async () => {
      const settings = { ...wanted, subnet: 'the-subnet', payer: 'storage' };
      expect(await createByIcp(owner, settings)).toBe('ryjl3-tyaaa-aaaaa-aaaba-cai');
      const subnet = '--subnet the-subnet --identity storage';
      expect(await readFile(join(folder, 'words'), 'utf8')).toBe(
        `canister create --detached -q -n ic --controller ${owner} --cycles 3000000000000 ${subnet}\n`,
      );
    });
  });

  test('says how to continue after a failure, and after an output without an id', async () => {
    await withIcp('exit 3', async () => {
      await expect(createByIcp(owner, wanted)).rejects.toThrow(
        /has failed \(3\).* icp canister create --detached.* efs volume create f --canister <id>/,
      );
    });
    await withIcp('echo done', async () => {
      await expect(createByIcp(owner, wanted)).rejects.toThrow(
        /has printed no id of a canister, but "done\\n".*continue with efs volume create f/,
      );
    });
  });

  test('names the command to run by hand if icp-cli is not installed', async () => {
    const environment = { PATH: folder };
    const network = ['--host', 'https://icp-api.io', '--identity', 'me.pem'];
    const words = [...network, 'service', 'deploy', module];
    const { code, errors } = await runCommand(words, { folder, environment });
    expect(code).toBe(1);
    expect(errors).toMatch(
      /^efs: icp-cli cannot be started .*--cycles 1000000000000, then efs serv/,
    );
  });
});
