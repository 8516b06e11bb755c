// `efs doctor` reports each fault with its remedy. Also tests `efs member`, `access`, `rotate` and
// `status`, with the real canister.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { topUpHint } from '../../packages/efs/src/service/status.ts';
import { daysLeft } from '../../packages/wire/src/metrics/room.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { newKey, pemOf } from './identity-files.ts';

let service: Service;
let folder: string;
let environment: Record<string, string>;
let stranger: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-doctor-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem);
  const key = pemOf(newKey('secp256k1'), 'pkcs8');
  stranger = identityFromPem(key).getPrincipal().toText();
  await writeFile(join(folder, 'stranger.pem'), key);
  environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_API_KEY: service.apiKey,
    EFS_IDENTITY: 'owner.pem',
  };
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (words: string[], others: Record<string, string> = {}) =>
  callCommand(words, { folder, environment: { ...environment, ...others } });

interface Row {
  readonly check: string;
  readonly isGood: boolean | null;
  readonly message: string;
  readonly advice?: string;
}

async function examined(others: Record<string, string> = {}, ...words: string[]) {
  const { code, output } = await efs(['doctor', '--json', ...words], others);
  const rows = JSON.parse(Buffer.from(output, 'latin1').toString()) as Row[];
  return { code, rows: Object.fromEntries(rows.map((row) => [row.check, row])) };
}

describe('efs doctor', () => {
  test('reports no problem on a healthy service', async () => {
    const { code, output } = await efs(['doctor', service.bucket]);
    const text = Buffer.from(output, 'latin1').toString();
    expect(text).not.toContain('✗');
    expect(text).toMatch(/✓ address .* answers in \d+ ms/);
    expect(text).toContain(`reads ${service.bucket}`);
    expect(text).toContain(`${service.bucket} (owner`);
    expect(text).toMatch(/✓ certificate/);
    expect(text).toMatch(/✓ clock/);
    expect(code).toBe(0);
  });

  test('reports an address where nothing answers, or another service', async () => {
    const nothing = await examined({ EFS_URL: 'http://localhost:9' });
    expect(nothing.code).toBe(1);
    expect(nothing.rows.address).toMatchObject({
      isGood: false,
      advice: expect.stringContaining('npm start'),
    });
    expect(nothing.rows.key?.isGood).toBe(null);
    const nowhere = await examined({ EFS_URL: 'https://files.invalid' });
    expect(nowhere.rows.address?.message).toContain('files.invalid cannot be resolved');
    await withServer({}, async (EFS_URL) => {
      const foreign = await examined({ EFS_URL });
      expect(foreign.rows.address?.message).toContain('is not this service');
    });
  });

  test('reports a clock that is off', async () => {
    await withServer({ aheadMs: 600_000, body: '{"version":"0.2.0"}' }, async (EFS_URL) => {
      const { rows, code } = await examined({ EFS_URL });
      expect(code).toBe(1);
      expect(rows.clock).toMatchObject({
        isGood: false,
        message: expect.stringMatching(/clock is (?:59\d|60\d) s behind/),
        advice: expect.stringContaining('NTP'),
      });
    });
  });

  test('reports a service of another version', async () => {
    await withServer({ body: '{"version":"0.1.0"}' }, async (EFS_URL) => {
      const { rows } = await examined({ EFS_URL });
      expect(rows.versions).toMatchObject({
        isGood: null,
        advice: expect.stringContaining('upgrade the canister'),
      });
    });
  });

  test('reports a key that is unknown, or for another bucket', async () => {
    const wrong = await examined({ EFS_API_KEY: `${service.apiKey.slice(0, -3)}AAA` });
    expect(wrong.code).toBe(1);
    expect(wrong.rows.key).toMatchObject({
      isGood: false,
      message: expect.stringContaining('is not a valid key of this service'),
      advice: expect.stringContaining('efs key create'),
    });
    const good = await examined();
    expect(good.rows.key?.message).toContain('is valid');
    const elsewhere = await examined({}, 'elsewhere');
    expect(elsewhere.rows.key?.message).toContain('cannot read bucket elsewhere');
    expect(elsewhere.rows.buckets?.message).toContain('Bucket elsewhere does not exist');
  });

  test('reports an identity without rights, and one that does not exist', async () => {
    const without = await examined({ EFS_IDENTITY: 'stranger.pem' });
    expect(without.rows.identity).toMatchObject({ isGood: true, message: stranger });
    expect(without.rows.buckets).toMatchObject({
      isGood: null,
      advice: expect.stringContaining(`efs access allow ${stranger}`),
    });
    const missing = await examined({ EFS_IDENTITY: 'none.pem' });
    expect(missing.code).toBe(1);
    expect(missing.rows.identity?.message).toContain('Identity none.pem does not exist');
  });

  test('reports a wrong canister id, and a bucket that is nearly full', async () => {
    const other = await examined({ EFS_CANISTER_ID: 'aaaaa-aa' });
    expect(other.rows.certificate?.isGood).toBe(false);
    await efs(['bucket', 'create', 'tight', '--quota-files', '1']);
    await writeFile(join(folder, 'one'), 'x');
    await efs(['--transport', 'actor', 'put', 'one', 'tight/'], { EFS_API_KEY: '' });
    const { rows } = await examined();
    expect(rows.buckets).toMatchObject({
      isGood: false,
      message: expect.stringContaining('tight is nearly full: 1 of 1 files'),
    });
    await efs(['bucket', 'rm', '--force', 'tight']);
  });
});

interface Answer {
  /** How far the server's clock is ahead. */
  readonly aheadMs?: number;
  readonly body?: string;
}

/** Runs a server that gives the same answer to every request. */
async function withServer(
  { aheadMs = 0, body = '<html>' }: Answer,
  use: (url: string) => Promise<void>,
) {
  const server: Server = createServer((_, response) => {
    response.setHeader('Date', new Date(Date.now() + aheadMs).toUTCString());
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  try {
    await use(`http://localhost:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test('efs member adds members, changes their role and name, and removes them', async () => {
  const { bucket } = service;
  await efs(['member', 'add', bucket, stranger]);
  const listed = await efs(['member', 'ls', bucket, '--json']);
  expect(JSON.parse(listed.output)).toContainEqual({ principal: stranger, role: 'reader' });
  await efs(['member', 'add', bucket, stranger, '--role', 'writer', '--name', 'Ada L.']);
  expect((await efs(['member', 'ls', bucket])).output).toMatch(`${stranger}  writer  Ada L.`);
  const asStranger = { EFS_IDENTITY: 'stranger.pem' };
  expect((await examined(asStranger)).rows.buckets?.message).toContain(`${bucket} (not the owner`);
  expect((await efs(['member', 'rm', bucket, stranger], asStranger)).code).toBe(4);
  expect((await efs(['member', 'rm', bucket, stranger])).output).toBe(`${stranger}\n`);
  expect((await efs(['member', 'ls', bucket])).output).not.toContain(stranger);
  const wrong = await efs(['member', 'add', bucket, stranger, '--role', 'king']);
  expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('reader, writer, owner')]);
});

test('efs access shows and changes the bucket creators and the anonymous budget', async () => {
  await efs(['access', 'allow', stranger]);
  expect((await efs(['access', 'ls'])).output).toBe(`${stranger}\n`);
  await efs(['access', 'anonymous', '--burst', '77', '--per-minute', '7']);
  const { principals, anonymousUpdates } = JSON.parse(
    (await efs(['access', 'ls', '--json'])).output,
  );
  expect(principals).toEqual([stranger]);
  expect(anonymousUpdates).toMatchObject({ burst: 77, perMinute: 7 });
  expect((await efs(['access', 'disallow', stranger])).output).toBe('');
  expect((await efs(['access', 'ls'])).errors).toContain('Nobody but the controllers');
  expect((await efs(['access', 'ls'], { EFS_IDENTITY: 'stranger.pem' })).code).toBe(4);
});

test('efs rotate --wait rotates keys and waits for the end', async () => {
  const { bucket } = service;
  const rotated = await efs(['rotate', 'bucket', bucket, '--wait']);
  expect(rotated).toMatchObject({ code: 0, output: `${bucket}\n` });
  expect(rotated.errors).toContain('Done.');
  const root = await efs(['rotate', 'root', '--wait']);
  expect(root).toMatchObject({ code: 0, output: 'root\n' });
  const { errors, code } = await efs(['rotate', 'root', '--source', 'paper']);
  expect([code, errors]).toEqual([2, expect.stringContaining('vetkd:key_1')]);
});

test('efs status shows the cycles, and topUpHint() says when to top up', async () => {
  const { output } = await efs(['status']);
  expect(output).toMatch(/^cycles +\d+/m);
  expect(output).toMatch(/^daysOfStorage +\d+/m);
  const status = JSON.parse((await efs(['status', '--json'])).output);
  const low = { ...status, cycles: 1e9, stableBytes: 2 ** 30, heapBytes: 0 };
  expect(daysLeft(low)).toBe(0);
  expect(topUpHint(low, 'aaaaa-aa')).toContain('icp canister top-up aaaaa-aa --amount 1t');
  expect(topUpHint({ ...low, cycles: 1e15 }, 'aaaaa-aa')).toBeUndefined();
});
