// `efs service deploy` and `efs volume create` on a cloud engine, with a proxy canister beside it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { EncryptionStatus } from '../../packages/client/src/types/service.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { installProxy, nameProxy } from '../support/proxy-canister/install-proxy.ts';
import { type Ended, runCommand } from './command-runs.ts';

const module = 'file_storage.wasm.gz';
const pem = newIdentity();
let folder: string;
let replica: Replica;
let host: string;
let proxy: string;
let front: string;
let engine: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-set-up-'));
  const stateDir = join(folder, 'state');
  replica = await startReplica({ stateDir, sync: false, port: 0, subnetType: 'cloud-engine' });
  engine = replica.subnets[0]?.toText() ?? '';
  host = `http://localhost:${replica.port}`;
  await writeFile(
    join(folder, module),
    await readFile((await buildCanister({ force: false })).wasmPath),
  );
  await writeFile(join(folder, 'me.pem'), pem, { mode: 0o600 });
  proxy = (await installProxy(replica)).toText();
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...words: string[]): Promise<Ended> =>
  runCommand(['--host', host, '--identity', 'me.pem', ...words, '--subnet', engine], { folder });
const createdIn = (text: string) => /Created ([a-z0-9-]+) for/.exec(text)?.[1] ?? '';

/** Waits for the root key, which the proxy fetches after the installation. */
async function encryptionOf(canisterId: string): Promise<EncryptionStatus> {
  const storage = createNodeStorage({ host, canisterId });
  return vi.waitFor(async () => {
    const { encryption } = await storage.status();
    expect(encryption.isKeyPresent).toBe(true);
    return encryption;
  }, 60_000);
}

describe('efs service deploy on a cloud engine', () => {
  test('refuses vetKD without a proxy before it installs anything, and continues with one', async () => {
    const refused = await run('service', 'deploy', module, '--root-key', 'vetkd');
    const empty = createdIn(refused.errors);
    expect(refused.code).not.toBe(0);
    expect(refused.errors).toContain(
      `${empty} is on a cloud engine, which has no vetKD, and no proxy is named that asks another ` +
        'subnet for its key, so nothing was installed: add --vetkd-proxy <canister id>, or choose ' +
        `--root-key stored, and continue with efs service deploy ${module} --canister ${empty}.`,
    );
    const words = ['--canister', empty, '--vetkd-proxy', proxy, '--json'];
    const { code, output, errors } = await run('service', 'deploy', module, ...words);
    expect(code, errors).toBe(0);
    const made = JSON.parse(output) as { readonly front: string; readonly volume: string };
    expect(made.front).toBe(empty);
    front = made.front;
    expect(await encryptionOf(made.volume)).toMatchObject({ rootKey: 'vetkd', proxy });
  });

  test('refuses a proxy for a stored key, and texts that are no source or no canister', async () => {
    const before = replica.canisters().length;
    const deploy = (...words: string[]) => run('service', 'deploy', module, ...words);
    const stored = await deploy('--root-key', 'stored', '--vetkd-proxy', proxy);
    expect(stored.errors).toContain('A stored root key needs no proxy');
    expect((await deploy('--root-key', 'mine')).errors).toContain(
      '--root-key must be stored, vetkd or vetkd:key_1; got mine.',
    );
    expect((await deploy('--vetkd-proxy', 'mine')).errors).toContain(
      '--vetkd-proxy must be the id of a canister; got mine.',
    );
    expect(replica.canisters()).toHaveLength(before);
  });
});

describe('efs volume create on a cloud engine', () => {
  const create = (...words: string[]) =>
    run('--front', front, 'volume', 'create', module, '--json', ...words);

  test('asks the proxy for the named key', async () => {
    const words = ['--root-key', 'vetkd:key_1', '--vetkd-proxy', proxy];
    const { canisterId } = JSON.parse((await create(...words)).output);
    expect(await encryptionOf(canisterId)).toMatchObject({
      ...{ rootKey: 'vetkd', keyName: 'key_1', proxy },
    });
  });

  test('says plainly that the volume stores the key if no proxy is named', async () => {
    const { output, errors } = await create();
    const { canisterId } = JSON.parse(output);
    expect(errors).toContain('a volume stores its root key itself, which protects less');
    expect(await encryptionOf(canisterId)).toMatchObject({ rootKey: 'stored' });
  });

  test('accepts vetKD where the environment of the canister names the proxy', async () => {
    const sender = principalOf(pem);
    const subnet = replica.subnets[0] as Principal;
    const id = await replica.createCanister({ controllers: [sender], subnet });
    await nameProxy(replica, { canisterId: id, proxy: Principal.fromText(proxy), sender });
    const { code, errors } = await create('--canister', id.toText(), '--root-key', 'vetkd');
    expect(code, errors).toBe(0);
    expect(await encryptionOf(id.toText())).toMatchObject({ rootKey: 'vetkd', proxy });
  });
});
