// Runs Ceph's S3 tests (ceph/s3-tests) against a server for three users. The failing tests must be
// exactly those in the list of expected failures, which has a reason for each.
//   EFS_S3_TESTS  a folder with ceph/s3-tests; by default fetched from GitHub into a temporary one

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bucketSecrets } from '../../packages/client/src/bucket-secrets.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Account } from '../../packages/s3/src/index.ts';
import type { AccessKey } from '../../packages/s3/src/signature/verify.ts';
import {
  openS3Server,
  ownerAccount,
  ownerKey,
  type TestS3Server,
} from '../s3/support/s3-server.ts';
import { openService, type Service } from '../support/service.ts';
import { runProgram, runUntilDone } from './support/run-program.ts';
import {
  expectedFailures,
  markersLeftOut,
  suiteCommit,
  tooLong,
} from './support/s3-tests-expected.ts';

/** Ends tests that hang; the longest takes five minutes on a busy machine. */
const testSeconds = 900;
const suiteMilliseconds = 3 * 3_600_000;
const files = ['s3tests/functional/test_s3.py', 's3tests/functional/test_headers.py'];

const otherKeys = ['alt', 'tenant'].map(
  (name): AccessKey => ({
    accessKeyId: `AKIDOTHER${name}`,
    secretAccessKey: `${name}-secret`,
    access: { profile: name },
  }),
);

/** Reasons of failures by test name. */
type Outcomes = ReadonlyMap<string, string>;

let folder: string;
let suite: string;
let service: Service;
let s3Server: TestS3Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 's3-ceph-'));
  suite = process.env.EFS_S3_TESTS ?? (await fetchSuite());
  service = await openService({});
  s3Server = await openServerForThree();
  await writeFile(join(folder, 's3tests.conf'), configuration(new URL(s3Server.url)));
});

afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function fetchSuite(): Promise<string> {
  const clone = join(folder, 's3-tests');
  await mkdir(clone);
  const address = 'https://github.com/ceph/s3-tests';
  const git = (...words: string[]) => runUntilDone(['git', ...words], { folder: clone, times: 1 });
  try {
    await git('init', '--quiet');
    await git('fetch', '--quiet', '--depth', '1', address, suiteCommit);
    await git('checkout', '--quiet', 'FETCH_HEAD');
  } catch (cause) {
    const words = `Without a network, set EFS_S3_TESTS to a folder with ${address} at ${suiteCommit}.`;
    throw new Error(words, { cause });
  }
  return clone;
}

/** The two other users may create their own buckets. */
async function openServerForThree(): Promise<TestS3Server> {
  const { host, canisterId } = service;
  const owner = ownerAccount(service);
  const accounts = new Map<string | undefined, Account>([[ownerKey.accessKeyId, owner]]);
  const anybody = { host, canisterId };
  accounts.set(undefined, accountBy(anybody));
  for (const { accessKeyId } of otherKeys) {
    const identity = Ed25519KeyIdentity.generate();
    accounts.set(accessKeyId, accountBy({ ...anybody, identity }));
    await owner.storage.access.update({ allow: [identity.getPrincipal().toText()] });
  }
  const keys = [ownerKey, ...otherKeys];
  return openS3Server(service, {
    credentials: { find: async (id) => keys.find(({ accessKeyId }) => accessKeyId === id) },
    openAccount: async (credential) =>
      accounts.get(credential?.accessKeyId) ?? expect.fail('nobody has this key'),
    multipart: { folder: join(folder, 'parts') },
  });
}

function accountBy(options: Parameters<typeof createNodeStorage>[0]): Account {
  return { storage: createNodeStorage(options), secrets: bucketSecrets(options, {}) };
}

function configuration({ hostname, port }: URL): string {
  const [alt = ownerKey, tenant = ownerKey] = otherKeys;
  const users = [
    { section: 's3 main', name: 'efs', key: ownerKey },
    { section: 's3 alt', name: 'alt', key: alt },
    ...['s3 tenant', 'iam', 'iam root', 'iam alt root'].map((section) => {
      return { section, name: section.replaceAll(' ', ''), key: tenant };
    }),
  ];
  return [
    ...['[DEFAULT]', `host = ${hostname}`, `port = ${port}`, 'is_secure = False'],
    ...['ssl_verify = False', '[fixtures]', 'bucket prefix = t{random}'],
    ...['iam name prefix = s3-tests-', 'iam path prefix = /s3-tests/'],
    ...users.flatMap(({ section, name, key }) => [
      ...[`[${section}]`, `access_key = ${key.accessKeyId}`, `secret_key = ${key.secretAccessKey}`],
      ...[`display_name = ${name}`, `user_id = ${name}`, `email = ${name}@example.com`],
      'tenant = t',
    ]),
    ...['[webidentity]', 'token=a', 'aud=a', 'sub=a', 'azp=a', 'user_token=a', 'thumbprint=a'],
    ...['KC_REALM=a', ''],
  ].join('\n');
}

async function runTests(...words: string[]): Promise<{ failed: Outcomes; passed: Outcomes }> {
  const pytest = ['-m', 'pytest', '-q', '-rfEp', '--tb=no', '-p', 'no:cacheprovider'];
  const env = {
    S3TEST_CONF: join(folder, 's3tests.conf'),
    PYTHONDONTWRITEBYTECODE: '1',
    // pytest truncates the reasons to the terminal's width.
    COLUMNS: '400',
  };
  const { output, errors } = await runProgram(
    ['python3', ...pytest, '--timeout', `${testSeconds}`, ...words],
    { folder: suite, env, milliseconds: suiteMilliseconds },
  );
  const lines = output.toString();
  if (!/ (?:passed|failed)/.test(lines)) expect.fail(`pytest ran no tests: ${lines}${errors}`);
  return { failed: outcomes(lines, 'FAILED|ERROR'), passed: outcomes(lines, 'PASSED') };
}

function outcomes(lines: string, word: string): Outcomes {
  const form = new RegExp(`^(?:${word}) \\S+::(\\w+)(.*)$`, 'gm');
  return new Map([...lines.matchAll(form)].map(([, name = '', reason = '']) => [name, reason]));
}

/** Several tests run concurrently, so one that hit the limit is repeated alone. */
async function repeatTimeouts(failed: Outcomes): Promise<Outcomes> {
  const late = [...failed].filter(([, reason]) => reason.includes('Timeout'));
  if (late.length === 0) return failed;
  const names = new Set(late.map(([name]) => name));
  const again = await runTests('-k', [...names].join(' or '), ...files);
  const others = [...failed].filter(([name]) => !names.has(name));
  return new Map([...others, ...[...again.failed].filter(([name]) => names.has(name))]);
}

test('only the expected tests of ceph/s3-tests fail', { timeout: suiteMilliseconds }, async () => {
  const leftOut = files.flatMap((file) => tooLong.map((name) => `--deselect=${file}::${name}`));
  const marked = `not (${markersLeftOut.join(' or ')})`;
  const first = await runTests('-n', '4', '-m', marked, ...leftOut, ...files);
  const failed = await repeatTimeouts(first.failed);
  const expected = Object.values(expectedFailures).flat();
  const unexpected = [...failed].filter(([name]) => !expected.includes(name));
  expect(
    unexpected.map(([name, reason]) => `${name}${reason}`),
    'these fail unexpectedly: fix the server, or add them to the list with a reason',
  ).toEqual([]);
  expect(
    expected.filter((name) => !failed.has(name)),
    'these do not fail any more: remove their lines from s3-tests-expected.ts',
  ).toEqual([]);
  expect(first.passed.size).toBeGreaterThan(250);
});
