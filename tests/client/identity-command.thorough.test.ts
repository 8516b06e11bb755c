// `--identity` with the identities of dfx, icp-cli and files, encrypted or not. Each creates a
// bucket on the real canister, after a controller has allowed it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignIdentity } from '@dfinity/agent';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { ed25519Seed } from '../support/owner-key.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { runCommand } from './command-runs.ts';
import {
  asSec1WithoutCurve,
  asVersion2,
  encryptedAsIcpCli,
  newKey,
  pemOf,
  storeInDfx,
  storeInIcpCli,
} from './identity-files.ts';

const passphrase = 'open sesame';
let service: Service;
let home: string;
let where: Record<string, string>;

beforeAll(async () => {
  service = await openService();
  home = await mkdtemp(join(tmpdir(), 'efs-identities-'));
  await writeFile(join(home, 'owner.pem'), service.identityPem);
  where = { HOME: home, EFS_HOST: service.host, EFS_CANISTER_ID: service.canisterId };
});
afterAll(async () => {
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

const efs = (words: string[], environment: Record<string, string> = {}) =>
  callCommand(words, { folder: home, environment: { ...where, ...environment } });
const efsAsOwner = (...words: string[]) => efs(['--identity', 'owner.pem', ...words]);

const keys = {
  secp256k1: newKey('secp256k1'),
  ed25519: newKey('ed25519'),
  p256: newKey('prime256v1'),
};
const encrypted = { cipher: 'aes-256-cbc', passphrase };

interface Stored {
  /** Value of `--identity`. */
  readonly name: string;
  /** Set if key derivation takes seconds: then the test does not run `efs whoami`. */
  readonly principal?: string;
}

const principalIn = (pem: string) => identityFromPem(pem).getPrincipal().toText();

const stored: Record<string, () => Promise<Stored>> = {
  dfxPlain: async () => {
    await storeInDfx(home, { name: 'alice', pem: asSec1WithoutCurve(keys.secp256k1) });
    return { name: 'alice' };
  },
  dfxEncrypted: async () => {
    const key = newKey('secp256k1');
    await storeInDfx(home, { name: 'bob', pem: asSec1WithoutCurve(key), passphrase });
    return { name: 'dfx:bob', principal: principalIn(pemOf(key, 'pkcs8')) };
  },
  icpEncrypted: async () => {
    const key = newKey('secp256k1');
    const principal = principalIn(pemOf(key, 'pkcs8'));
    const spec = { kind: 'pem', format: 'pbes2', algorithm: 'secp256k1', principal };
    await storeInIcpCli(home, { name: 'carol', pem: encryptedAsIcpCli(key, passphrase), spec });
    return { name: 'carol', principal };
  },
  p256: async () => ({ name: await inFile('p256.pem', pemOf(keys.p256, 'pkcs8')) }),
  p256Encrypted: async () => ({
    name: await inFile('p256-e.pem', pemOf(keys.p256, 'sec1', encrypted)),
  }),
  ed25519: async () => ({ name: await inFile('ed25519.pem', asVersion2(keys.ed25519)) }),
  pkcs8Encrypted: async () => ({
    name: await inFile('e.pem', pemOf(keys.secp256k1, 'pkcs8', encrypted)),
  }),
};

async function inFile(name: string, pem: string): Promise<string> {
  await writeFile(join(home, name), pem);
  return name;
}

test.each(Object.entries(stored))('efs --identity: %s creates a bucket', async (bucket, store) => {
  const { name, principal: known } = await store();
  const environment = { EFS_IDENTITY_PASSPHRASE: passphrase };
  const asThey = (...words: string[]) => efs(['--identity', name, ...words], environment);
  const principal: string =
    known ?? JSON.parse((await asThey('whoami', '--json')).output).principal;
  const allowed = await efsAsOwner('access', 'allow', principal);
  expect(allowed.output).toContain(principal);
  const created = await asThey('bucket', 'create', bucket);
  expect(created).toEqual({ code: 0, output: `${bucket}\n`, errors: '' });
  if (known !== undefined) return;
  const listed = await asThey('bucket', 'ls', '--json');
  expect(JSON.parse(listed.output)).toMatchObject([{ owner: principal }]);
  await asThey('bucket', 'rm', bucket);
});

describe('efs --identity: an encrypted identity', () => {
  test('reads its passphrase from a file', async () => {
    const file = await inFile('dave.pem', pemOf(keys.p256, 'pkcs8', encrypted));
    await writeFile(join(home, 'secret'), `${passphrase}\n`);
    const words = ['--identity', file, '--identity-passphrase-file', 'secret', 'whoami'];
    const { output } = await efs(words);
    expect(output).toContain(identityFromPem(pemOf(keys.p256, 'pkcs8')).getPrincipal().toText());
    expect(output).toContain(file);
  });

  test('explains how to pass a passphrase without a terminal, and reports a wrong one', async () => {
    const asked = await runCommand(['--identity', 'dfx:bob', 'bucket', 'ls'], {
      folder: home,
      environment: where,
    });
    expect(asked.code).toBe(2);
    expect(asked.errors).toContain('no terminal to ask for its passphrase: set EFS_IDENTITY_PASS');
    const wrong = await efs(['--identity', 'dfx:bob', 'whoami'], { EFS_IDENTITY_PASSPHRASE: 'x' });
    expect(wrong.code).toBe(2);
    expect(wrong.errors).toContain('The given passphrase does not decrypt identity dfx:bob');
  });
});

describe('efs --identity: a name', () => {
  test('that does not exist is reported', async () => {
    for (const name of ['nobody', 'icp:alice', '../identity', 'dfx:..']) {
      const { code, errors } = await efs(['--identity', name, 'whoami']);
      expect([code, errors]).toEqual([
        2,
        expect.stringContaining(`Identity ${name} does not exist`),
      ]);
    }
  });

  test('that both tools know needs the name of the tool', async () => {
    const spec = { kind: 'pem', format: 'plaintext' };
    await storeInDfx(home, { name: 'twin', pem: asSec1WithoutCurve(keys.secp256k1) });
    await storeInIcpCli(home, { name: 'twin', pem: pemOf(keys.p256, 'pkcs8'), spec });
    const both = await efs(['--identity', 'twin', 'whoami']);
    expect([both.code, both.errors]).toEqual([2, expect.stringContaining('dfx:twin or icp:twin')]);
    expect((await efs(['--identity', 'icp:twin', 'whoami'])).output).toContain('P-256');
    expect((await efs(['--identity', 'dfx:twin', 'whoami'])).output).toContain('secp256k1');
  });

  test('whose key is in a keyring is refused with the command that exports it', async () => {
    await storeInIcpCli(home, { name: 'kept', pem: '', spec: { kind: 'keyring' } });
    const { code, errors } = await efs(['--identity', 'kept', 'whoami']);
    expect([code, errors]).toEqual([2, expect.stringContaining('icp identity export kept')]);
    await storeInDfx(home, { name: 'ringed', pem: '', settings: { keyring_identity_suffix: 'r' } });
    const ofDfx = await efs(['--identity', 'ringed', 'whoami']);
    expect(ofDfx.errors).toContain('dfx identity export ringed > ringed.pem');
  });
});

test('efs --identity: whoami without an identity says so', async () => {
  const { output } = await efs(['whoami'], { EFS_API_KEY: 'efs_abcdefghi', EFS_URL: service.base });
  expect(output).toMatch(/principal +2vxsx-fae/);
  expect(output).toContain('none: calls are anonymous');
  expect(output).toContain('efs_abcd');
  expect(output).not.toContain('efs_abcdefghi');
});

test('createStorage() accepts identities of @icp-sdk/core and of @dfinity/agent', async () => {
  const { host, canisterId } = service;
  const seed = ed25519Seed(service.identityPem);
  class Former extends SignIdentity {
    readonly inner = Ed25519KeyIdentity.fromSecretKey(seed);
    getPublicKey() {
      return this.inner.getPublicKey() as never;
    }
    async sign(bytes: Uint8Array) {
      return (await this.inner.sign(bytes)) as never;
    }
  }
  for (const identity of [Ed25519KeyIdentity.fromSecretKey(seed), new Former()]) {
    const storage = createStorage({ host, canisterId, identity });
    await storage.buckets.create('either');
    const file = { bucket: 'either', path: 'large' };
    await storage.upload(new Uint8Array(2_500_000), { ...file, contentType: 'a/b' });
    await storage.remove(file);
    await storage.buckets.remove('either');
  }
});
