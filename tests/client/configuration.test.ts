// The command takes the service's address from flags, then the environment, then a local replica,
// and sends a local replica's secrets only to that replica.

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import { type GlobalOptions, readConfiguration } from '../../packages/efs/src/config/config.ts';
import { exitCodeOf, sayFailure } from '../../packages/efs/src/output/exit-code.ts';
import {
  formatBytes,
  formatSeconds,
  formatTable,
  printFailure,
  printJson,
  printLine,
  printNote,
} from '../../packages/efs/src/output/output.ts';
import { printable } from '../../packages/efs/src/output/printable.ts';
import { UsageError } from '../../packages/efs/src/output/usage-error.ts';

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

/** Runs the work in a folder whose `.replica/service.json` has this text; passes its path. */
async function inFolder(text: string, work: (path: string) => unknown): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'efs-cloned-'));
  const former = process.cwd();
  try {
    await mkdir(join(folder, '.replica'));
    const path = join(folder, '.replica/service.json');
    await writeFile(path, text);
    process.chdir(folder);
    await work(path);
  } finally {
    process.chdir(former);
    await rm(folder, { recursive: true });
  }
}

describe('readConfiguration()', () => {
  test("uses a local replica's service by default", () => {
    const { url, canisterId, apiKey, identityPem } = local;
    expect(read({})).toMatchObject({ url, host: url, canisterId, apiKey, identityPem });
    expect(read({ url: local.gateway })).toMatchObject({ host: url, canisterId, apiKey });
    // The owner's identity may use all buckets; an explicit key has priority.
    expect(read({}).transport).toBe('actor');
    expect(read({ apiKey: 'efs_mine' }).transport).toBe('both');
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

  test.each([
    ['an address elsewhere', { url: 'https://files.example' }, 'is not one of this machine'],
    ['a gateway elsewhere', { gateway: 'http://localhost.example' }, 'is not one of this machine'],
    ['a field that is no string', { apiKey: { length: 1 } }, 'is not a JSON object'],
    ['a field that is missing', { identityPem: undefined }, 'is not a JSON object'],
  ])('refuses service.json with %s, found or named by --replica', async (_, change, reason) => {
    await inFolder(JSON.stringify({ ...local, ...change }), () => {
      const { url, host, apiKey, identityPem, notes } = readConfiguration({}, {});
      expect([url, host, apiKey, identityPem]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(notes).toEqual([expect.stringContaining(reason)]);
      expect(() => readConfiguration({ replica: '.replica' }, {})).toThrow(reason);
    });
  });

  test('refuses a service.json that belongs to another user or that others can change', async () => {
    await inFolder(JSON.stringify(local), async (path) => {
      await chmod(path, 0o666);
      expect(readConfiguration({}, {})).toMatchObject({
        url: undefined,
        notes: [expect.stringMatching(/mode 666.*chmod 600 .*service\.json/)],
      });
      await chmod(path, 0o600);
      const getuid = vi.spyOn(process, 'getuid').mockReturnValue(12_345);
      expect(readConfiguration({}, {}).notes).toEqual([expect.stringContaining('another user')]);
      getuid.mockRestore();
      expect(readConfiguration({}, {})).toMatchObject({ url: local.url, notes: [] });
    });
  });

  test('reads only the five known fields of service.json', async () => {
    const more = {
      identity: 'dfx:default',
      isInKeyring: true,
      profile: 'prod',
      ageIdentity: '/etc/passwd',
      host: 'https://evil.example',
      canister: 'x',
    };
    await inFolder(JSON.stringify({ ...local, ...more }), () => {
      expect(readConfiguration({}, {})).toMatchObject({
        apiKey: local.apiKey,
        identity: undefined,
        identityPem: local.identityPem,
        ageIdentity: undefined,
        host: local.url,
        profile: undefined,
      });
    });
  });

  test('sends no secret of the environment to an address from a file', () => {
    for (const name of ['EFS_API_KEY', 'EFS_IDENTITY']) {
      expect(() => read({}, { [name]: 'mine' })).toThrow(
        `${name} is set, but the address ${local.url} was only found in ${replica}/service.json`,
      );
      expect(() => read({ canisterId: local.canisterId }, { [name]: 'mine' })).toThrow(name);
    }
    const { url } = local;
    expect(read({}, { EFS_API_KEY: 'mine', EFS_URL: url })).toMatchObject({ apiKey: 'mine', url });
    expect(read({ url: local.gateway }, { EFS_IDENTITY: 'mine' }).identity).toBe('mine');
    expect(read({ apiKey: 'typed' }, { EFS_API_KEY: 'mine' }).apiKey).toBe('typed');
  });

  test('treats empty values as not set, and trims line ends', () => {
    const { apiKey, url } = local;
    const environment = { EFS_API_KEY: '', EFS_URL: ' ', EFS_TIMEOUT: '' };
    expect(read({}, environment)).toMatchObject({ apiKey, url, timeoutMs: 60_000 });
    expect(read({}, { EFS_API_KEY: 'efs_mine\r\n', EFS_URL: url }).apiKey).toBe('efs_mine');
  });

  test('refuses an address without a scheme, and a timeout that is too long for a timer', () => {
    for (const flags of [{ url: 'localhost:4943' }, { host: 'ftp://x' }, { timeout: '3000000' }]) {
      expect(() => read(flags)).toThrow(UsageError);
    }
  });

  test('prefers flags over the environment', () => {
    const { url: EFS_URL } = local;
    const environment = { EFS_URL, EFS_API_KEY: 'efs_environment', EFS_TRANSPORT: 'actor' };
    expect(read({}, environment)).toMatchObject({ apiKey: 'efs_environment', transport: 'actor' });
    const flags = { apiKey: 'efs_flag', transport: 'http' };
    expect(read(flags, environment)).toMatchObject(flags);
  });

  test.each([
    [`https://${local.canisterId}.icp.net`, 'https://icp-api.io'],
    [`https://${local.canisterId}.icp0.io/`, 'https://icp-api.io'],
    [`https://${local.canisterId}.ic0.app`, 'https://icp-api.io'],
    [`http://${local.canisterId}.localhost:9000`, 'http://localhost:9000'],
  ])('finds the canister and the agent host in %s', (url, host) => {
    const { canisterId } = local;
    expect(readConfiguration({ url, replica: 'none' }, {})).toMatchObject({ canisterId, host });
  });

  test.each([
    // A name that looks like an id, on the domain of another owner.
    'https://files-app.example.com',
    // Ids are valid only with their checksum.
    'https://files-app.icp.net',
    'https://rwlgt-iiaaa-aaaaa-aaaab-cai.icp.net',
    // A valid id, but anybody can own its parent domain.
    `https://${local.canisterId}.example.com`,
    `https://${local.canisterId}.icp.net.evil.example`,
    `https://${local.canisterId}.x.icp.net`,
  ])('finds no canister in %s, and sends signed calls only to that address', (url) => {
    const found = readConfiguration({ url, replica: 'none' }, {});
    expect(found).toMatchObject({ canisterId: undefined, host: url });
  });

  test('refuses an unknown transport and an invalid timeout', () => {
    expect(() => read({ transport: 'ftp' })).toThrow('http or actor');
    expect(() => read({ timeout: 'soon' })).toThrow('number of seconds');
  });
});

test('exitCodeOf() depends on the kind of failure', () => {
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

test('formatBytes() and formatSeconds() use short forms', () => {
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

test('printLine, printJson and printFailure escape terminal control sequences from others', async () => {
  const hostile = 'a\u001b[2J\u009b1m\r\u202eb\u2066\u{e0001}\u2028';
  const written: string[] = [];
  const collect = (text: string | Uint8Array) => {
    written.push(String(text));
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(collect as never),
  );
  const refusal = new StorageError('AccessDenied', `${hostile}\nefs: done`, { requestId: hostile });
  try {
    printLine(hostile);
    printJson({ time: hostile });
    printNote(hostile);
    printLine(formatTable([hostile], [{ title: 'TIME', value: (row) => `${row}\nefs` }]));
    printFailure(refusal, `efs: ${sayFailure(refusal)}`);
    const missing = new Error(`ENOENT: no such file, open '${hostile}\nefs: done'`);
    printFailure(missing, `efs: ${sayFailure(missing)}`);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  expect(written.join('')).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
  expect(JSON.parse(written[1] ?? '')).toEqual({ time: hostile });
  expect(written.map((text) => text.split('\n').length - 1)).toEqual([1, 3, 1, 2, 1, 1]);
});

test('printable() escapes terminal control sequences in names', () => {
  expect(printable('a\u001b[2Jb\u202ec\nd é 文')).toBe('a\\u{1b}[2Jb\\u{202e}c\\u{a}d é 文');
});
