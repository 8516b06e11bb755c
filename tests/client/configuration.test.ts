// Where the command finds the service: flags, then the environment, then a local replica, whose
// secrets go nowhere else.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import { type GlobalOptions, readConfiguration } from '../../packages/efs/src/config.ts';
import { exitCodeOf } from '../../packages/efs/src/exit-code.ts';
import { formatBytes, formatSeconds, printable } from '../../packages/efs/src/output.ts';
import { UsageError } from '../../packages/efs/src/usage-error.ts';

const local = {
  gateway: 'http://rwlgt-iiaaa-aaaaa-aaaaa-cai.localhost:4943',
  url: 'http://localhost:4943',
  canisterId: 'rwlgt-iiaaa-aaaaa-aaaaa-cai',
  bucket: 'demo',
  apiKey: 'efs_local',
  identityPem: 'local identity',
};
let replica: string;

beforeAll(async () => {
  replica = await mkdtemp(join(tmpdir(), 'efs-config-'));
  await writeFile(join(replica, 'service.json'), JSON.stringify(local));
});
afterAll(() => rm(replica, { recursive: true, force: true }));

const read = (flags: GlobalOptions, environment: Record<string, string> = {}) =>
  readConfiguration({ replica, ...flags }, environment);

describe('readConfiguration()', () => {
  test('takes a local replica’s service when nothing else is named', () => {
    const { url, canisterId, apiKey, identityPem } = local;
    expect(read({})).toMatchObject({ url, host: url, canisterId, apiKey, identityPem });
    expect(read({ url: local.gateway })).toMatchObject({ host: url, canisterId, apiKey });
    // As its owner, who may use all buckets; a key that is told is meant.
    expect(read({}).transport).toBe('actor');
    expect(read({ apiKey: 'efs_mine' }).transport).toBe('http');
    expect(read({ transport: 'http' })).toMatchObject({ transport: 'http', apiKey });
  });

  test('sends no secret of a local replica to another service', () => {
    for (const flags of [
      { url: 'https://aaaaa-aa.icp0.io' },
      { host: 'https://icp-api.io' },
      { canisterId: 'aaaaa-aa' },
    ]) {
      const { apiKey, identityPem } = read(flags);
      expect([apiKey, identityPem]).toEqual([undefined, undefined]);
    }
    expect(read({}, { EFS_URL: 'https://files.example' }).apiKey).toBeUndefined();
  });

  test('takes no service from the folder but one of this machine, unless it is named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'efs-cloned-'));
    const former = process.cwd();
    try {
      await mkdir(join(folder, '.replica'));
      const foreign = { ...local, url: 'https://files.example', gateway: 'https://files.example' };
      await writeFile(join(folder, '.replica/service.json'), JSON.stringify(foreign));
      process.chdir(folder);
      const found = readConfiguration({}, { EFS_API_KEY: 'efs_mine' });
      expect(found).toMatchObject({ url: undefined, host: undefined, identityPem: undefined });
      const named = readConfiguration({ replica: '.replica' }, { EFS_API_KEY: 'efs_mine' });
      expect(named.url).toBe(foreign.url);
    } finally {
      process.chdir(former);
      await rm(folder, { recursive: true });
    }
  });

  test('takes what is set to nothing for not set, and no line end for a part of it', () => {
    const { apiKey, url } = local;
    const environment = { EFS_API_KEY: '', EFS_URL: ' ', EFS_TIMEOUT: '' };
    expect(read({}, environment)).toMatchObject({ apiKey, url, timeoutMs: 60_000 });
    expect(read({}, { EFS_API_KEY: 'efs_mine\r\n' }).apiKey).toBe('efs_mine');
  });

  test('refuses an address without a scheme, and a time that no timer takes', () => {
    for (const flags of [{ url: 'localhost:4943' }, { host: 'ftp://x' }, { timeout: '3000000' }]) {
      expect(() => read(flags)).toThrow(UsageError);
    }
  });

  test('prefers flags to the environment', () => {
    const environment = { EFS_API_KEY: 'efs_environment', EFS_TRANSPORT: 'actor' };
    expect(read({}, environment)).toMatchObject({ apiKey: 'efs_environment', transport: 'actor' });
    const flags = { apiKey: 'efs_flag', transport: 'http' };
    expect(read(flags, environment)).toMatchObject(flags);
  });

  test.each([
    [`https://${local.canisterId}.icp.net`, 'https://icp-api.io'],
    [`https://${local.canisterId}.icp0.io/`, 'https://icp-api.io'],
    [`https://${local.canisterId}.ic0.app`, 'https://icp-api.io'],
    [`http://${local.canisterId}.localhost:9000`, 'http://localhost:9000'],
  ])('finds the canister and the host for agents in %s', (url, host) => {
    const { canisterId } = local;
    expect(readConfiguration({ url, replica: 'none' }, {})).toMatchObject({ canisterId, host });
  });

  test.each([
    // A name that looks like an id, on the domain of somebody else.
    'https://files-app.example.com',
    // Ids are valid only with their checksum.
    'https://files-app.icp.net',
    'https://rwlgt-iiaaa-aaaaa-aaaab-cai.icp.net',
    // A valid id, but its parent might be anybody's.
    `https://${local.canisterId}.example.com`,
    `https://${local.canisterId}.icp.net.evil.example`,
    `https://${local.canisterId}.x.icp.net`,
  ])('takes %s for no canister, and sends signed calls nowhere else', (url) => {
    const found = readConfiguration({ url, replica: 'none' }, {});
    expect(found).toMatchObject({ canisterId: undefined, host: url });
  });

  test('refuses a transport or a timeout that is none', () => {
    expect(() => read({ transport: 'ftp' })).toThrow('http or actor');
    expect(() => read({ timeout: 'soon' })).toThrow('number of seconds');
  });
});

test('exit codes follow the kind of failure', () => {
  const codeOf = (code: string, status?: number) =>
    exitCodeOf(new StorageError(code, '', { status }));
  expect(codeOf('NoSuchBucket')).toBe(3);
  expect(codeOf('AccessDenied')).toBe(4);
  expect(codeOf('PreconditionFailed')).toBe(5);
  expect(codeOf('QuotaExceeded')).toBe(6);
  expect(codeOf('ServiceUnavailable')).toBe(7);
  expect(codeOf('NetworkError')).toBe(7);
  expect(codeOf('IntegrityError')).toBe(8);
  expect(codeOf('Aborted')).toBe(130);
  expect(codeOf('HttpError', 504)).toBe(7);
  expect(exitCodeOf(new Error('else'))).toBe(1);
});

test('sizes and times are short', () => {
  const sizes = [0, 999, 1_000, 12_345, 999_499, 999_500, 1_900_000_000];
  expect(sizes.map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.00 kB',
    '12.3 kB',
    '999 kB',
    '1.00 MB',
    '1.90 GB',
  ]);
  expect([3, 125, 3_723].map(formatSeconds)).toEqual(['3 s', '2:05', '1:02:03']);
});

test('printable() lets no name act on a terminal', () => {
  expect(printable('a\u001b[2Jb\u202ec\nd é 文')).toBe('a\\u{1b}[2Jb\\u{202e}c\\u{a}d é 文');
});
