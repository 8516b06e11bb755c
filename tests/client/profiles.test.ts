// Profiles: how they are stored and chosen. A profile's key is sent only to the profile's address.

import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type GlobalOptions, readConfiguration } from '../../packages/efs/src/config/config.ts';
import {
  forgetSecret,
  type Keyring,
  keepSecret,
  recallSecret,
} from '../../packages/efs/src/config/keyring.ts';
import { callCommand } from './command-calls.ts';
import { runCommand } from './command-runs.ts';

const url = 'https://rwlgt-iiaaa-aaaaa-aaaaa-cai.icp0.io';
const other = 'https://rrkah-fqaaa-aaaaa-aaaaq-cai.icp.net';
const folders: string[] = [];
let home: string;
let file: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'efs-profiles-')));
  folders.push(home);
  file = join(home, 'config/efs/profiles.json');
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, { folder: home });
const add = (name: string, ...words: string[]) =>
  efs('profile', 'add', name, '--no-keyring', ...words);

/** Reads the configuration of the folder, without a process. */
function read(flags: GlobalOptions = {}, environment: Record<string, string> = {}) {
  const former = process.cwd();
  process.chdir(home);
  try {
    const where = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
    return readConfiguration(flags, { ...where, ...environment });
  } finally {
    process.chdir(former);
  }
}

async function makeReplica(folder: string): Promise<void> {
  const service = {
    gateway: 'http://rwlgt-iiaaa-aaaaa-aaaaa-cai.localhost:4943',
    url: 'http://localhost:4943',
    canisterId: 'rwlgt-iiaaa-aaaaa-aaaaa-cai',
    apiKey: 'efs_local',
    identityPem: 'local identity',
  };
  await mkdir(join(folder, '.replica'), { recursive: true });
  await writeFile(join(folder, '.replica/service.json'), JSON.stringify(service));
}

describe('efs profile', () => {
  test('stores services in a file that only its user can read, and lists, selects and removes them', async () => {
    const added = await add('prod', '--url', url, '--api-key', 'efs_secret');
    expect(added).toMatchObject({ code: 0, output: 'prod\n' });
    expect(added.errors).toContain(`The key of the profile is in ${file}. The profile is in use.`);
    await add('second', '--url', other, '--identity', 'alice');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'config/efs'))).mode & 0o777).toBe(0o700);
    const { output } = await efs('profile', 'ls');
    expect(output).toMatch(/^\* +prod +https:\/\/rwlgt.* in the file$/m);
    expect(output).toMatch(/^ +second +https:\/\/rrkah.* alice/m);
    expect(output).not.toContain('efs_secret');
    await efs('profile', 'use', 'second');
    const listed = JSON.parse((await efs('profile', 'ls', '--json')).output);
    expect(listed).toMatchObject([{ isInUse: false }, { isInUse: true, identity: 'alice' }]);
    expect((await efs('profile', 'rm', 'second')).output).toBe('second\n');
    expect((await efs('profile', 'use', 'second')).errors).toContain(
      'Profile second does not exist',
    );
    expect(read().profile).toBeUndefined();
  });

  test('keeps pinned recipients and the age identity when it is added again with another key', async () => {
    const [digest, second] = ['a'.repeat(43), 'b'.repeat(43)];
    const pinned = { inbox: digest };
    const trust = ['--pin-recipients', `inbox=${digest}`, '--age-identity', 'key.txt'];
    await add('box', '--url', url, '--api-key', 'efs_one', ...trust);
    const ageIdentity = join(home, 'key.txt');
    const again = await add('box', '--url', `${url}/`, '--api-key', 'efs_two');
    expect(again.errors).toContain('The recipients of bucket inbox stay pinned.');
    expect(read()).toMatchObject({ apiKey: 'efs_two', ageIdentity, pinnedRecipients: pinned });
    const canister = [
      '--host',
      'https://icp-api.io',
      '--canister-id',
      'rwlgt-iiaaa-aaaaa-aaaaa-cai',
    ];
    await add('box', ...canister, '--identity', 'alice', '--pin-recipients', `other=${second}`);
    expect(read().pinnedRecipients).toEqual({ ...pinned, other: second });
    await add('box', '--url', url, '--pin-recipients', `inbox=${second}`);
    expect(read().pinnedRecipients).toEqual({ inbox: second, other: second });
    const moved = await add('box', '--url', other, '--api-key', 'efs_three');
    expect(moved.errors).toContain(
      'The pin of bucket inbox was removed, because the profile now names another service: ',
    );
    expect(read()).toMatchObject({ ageIdentity: undefined, pinnedRecipients: {} });
  });

  test('keeps pinned recipients when the canister of the same address is added or omitted', async () => {
    const own = ['--url', 'https://files.example', '--api-key', 'efs_one'];
    const canister = ['--canister-id', 'rwlgt-iiaaa-aaaaa-aaaaa-cai'];
    const pinned = { inbox: 'a'.repeat(43) };
    await add('box', ...own, '--pin-recipients', `inbox=${pinned.inbox}`);
    for (const more of [canister, []]) {
      const again = await add('box', ...own, ...more);
      expect(again.errors).toContain('The recipients of bucket inbox stay pinned.');
      expect(read().pinnedRecipients).toEqual(pinned);
    }
    await add('box', ...own, ...canister);
    await add('box', ...own, '--canister-id', 'rrkah-fqaaa-aaaaa-aaaaq-cai');
    expect(read().pinnedRecipients).toEqual({});
  });

  test('reads a key from standard input', async () => {
    const words = ['profile', 'add', 'piped', '--no-keyring', '--url', url, '--api-key', '-'];
    const input = new TextEncoder().encode('efs_piped\n');
    expect((await runCommand(words, { folder: home, input })).code).toBe(0);
    expect(read().apiKey).toBe('efs_piped');
  });

  test('requires an address, a valid name, and a key without spaces', async () => {
    expect((await add('x')).errors).toContain('https://<canister id>.icp.net');
    expect((await add('../x', '--url', url)).errors).toContain('The name of a profile');
    expect((await add('x', '--url', 'files.example')).errors).toContain('must begin with http');
    expect((await add('x', '--url', url, '--api-key', 'a b')).errors).toContain('has spaces');
  });

  test('reports a damaged file and one of a later version', async () => {
    await mkdir(join(home, 'config/efs'), { recursive: true });
    await writeFile(file, 'x');
    expect((await efs('ls')).errors).toContain('profiles.json is damaged');
    await writeFile(file, '{"version":2,"profiles":{}}');
    expect((await efs('ls')).errors).toContain('by a later version of efs');
  });

  test('warns when others can read the keys', async () => {
    await add('prod', '--url', url, '--api-key', 'efs_secret');
    expect(read().notes).toEqual([]);
    await chmod(file, 0o644);
    expect(read().notes).toEqual([expect.stringContaining(`chmod 600 ${file}`)]);
  });
});

describe('readConfiguration() chooses', () => {
  beforeEach(async () => {
    await add('prod', '--url', url, '--api-key', 'efs_prod');
    await add('second', '--url', other, '--api-key', 'efs_second');
  });

  test('the profile in use by default', () => {
    expect(read()).toMatchObject({
      url,
      host: 'https://icp-api.io',
      canisterId: 'rwlgt-iiaaa-aaaaa-aaaaa-cai',
      apiKey: 'efs_prod',
      profile: 'prod',
    });
  });

  test('a local replica in this folder or above it instead of the profile in use, with a note', async () => {
    await makeReplica(home);
    const found = read();
    expect(found).toMatchObject({ apiKey: 'efs_local', profile: undefined });
    expect(found.replica).toBe(join(home, '.replica'));
    expect(found.notes).toEqual([expect.stringContaining('not profile prod')]);
    const below = join(home, 'a/b');
    await mkdir(below, { recursive: true });
    const { output } = await callCommand(['whoami', '--json', '-q'], {
      folder: below,
      environment: { HOME: home },
    }).catch((error) => ({ output: String(error) }));
    expect(output).not.toContain('efs_prod');
    const former = process.cwd();
    process.chdir(below);
    try {
      expect(readConfiguration({}, { HOME: home }).apiKey).toBe('efs_local');
      // The search ends at the home folder.
      expect(readConfiguration({}, { HOME: join(home, 'a') }).apiKey).toBeUndefined();
    } finally {
      process.chdir(former);
    }
  });

  test('a named profile instead of a replica, and --profile over EFS_PROFILE', async () => {
    await makeReplica(home);
    expect(read({}, { EFS_PROFILE: 'second' }).apiKey).toBe('efs_second');
    expect(read({ profile: 'prod' }, { EFS_PROFILE: 'second' }).apiKey).toBe('efs_prod');
    expect(() => read({ profile: 'none' })).toThrow('the profiles are prod, second');
    expect(() => read({ profile: 'prod', replica: '.replica' })).toThrow('not both');
  });

  test('EFS_URL and EFS_API_KEY over EFS_PROFILE, but not over --profile', () => {
    const environment = { EFS_API_KEY: 'efs_mine', EFS_URL: 'https://files.example' };
    expect(read({}, { ...environment, EFS_PROFILE: 'second' })).toMatchObject({
      apiKey: 'efs_mine',
      url: 'https://files.example',
    });
    expect(read({ profile: 'second' }, environment)).toMatchObject({
      apiKey: 'efs_second',
      url: other,
    });
  });

  test('no key of a profile for another address', () => {
    expect(read({ url: 'https://files.example' }).apiKey).toBeUndefined();
    expect(read({ canisterId: 'aaaaa-aa' }).apiKey).toBeUndefined();
    expect(read({}, { EFS_PROFILE: 'prod', EFS_HOST: 'https://evil.example' }).apiKey).toBe(
      undefined,
    );
    expect(read({ url: `${url}/` }).apiKey).toBe('efs_prod');
    expect(() => read({ profile: 'prod', url: other })).toThrow('only sent to its own address');
  });
});

test('efs without a service shows an example address and the command that adds it', async () => {
  for (const words of [['ls', 'demo'], ['bucket', 'ls'], ['doctor']]) {
    const { code, output, errors } = await efs(...words);
    expect(code).not.toBe(0);
    expect(output + errors).toContain('https://<canister id>.icp.net');
    expect(output + errors).toContain('efs profile add');
  }
});

test('keepSecret() reports whether the keyring can return the secret it stored', () => {
  const kept = new Map<string, string>();
  const keyring: Keyring = {
    get: (account) => kept.get(account),
    set: (account, secret) => void kept.set(account, secret),
    remove: (account) => void kept.delete(account),
  };
  expect(keepSecret(keyring, 'prod', 'efs_secret')).toBe(true);
  expect(recallSecret(keyring, 'prod')).toBe('efs_secret');
  forgetSecret(keyring, 'prod');
  expect(recallSecret(keyring, 'prod')).toBeUndefined();
  const locked = () => {
    throw new Error('locked');
  };
  const broken: Keyring = { get: locked, set: locked, remove: locked };
  for (const without of [broken, undefined, { ...keyring, set: () => {} }]) {
    expect(keepSecret(without, 'prod', 'efs_secret')).toBe(false);
    expect(recallSecret(without, 'prod')).toBeUndefined();
    forgetSecret(without, 'prod');
  }
});

test('readConfiguration() reports a key that the keyring should have but does not return', async () => {
  await mkdir(join(home, 'config/efs'), { recursive: true });
  const profiles = { prod: { url, isInKeyring: true } };
  await writeFile(file, JSON.stringify({ version: 1, inUse: 'prod', profiles }));
  expect(() => read()).toThrow("The system's keyring does not return the key of profile");
  expect(read({}, { EFS_API_KEY: 'efs_mine' }).apiKey).toBe('efs_mine');
  expect(JSON.parse(await readFile(file, 'utf8')).profiles).toEqual(profiles);
});
