// Commands, library and S3 server with a canister that cannot answer, and with gateways that answer
// in its place: each names the fault, its remedy and the command for it, mostly at once.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RetryNotice, RetryPolicy } from '../../packages/client/src/connection/retry.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { s3ErrorOf } from '../../packages/s3/src/storage-errors.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { openS3Server, type TestS3Server } from '../s3/support/s3-server.ts';
import { frozenWords } from '../support/canister-words.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await openService({});
  folder = await mkdtemp(join(tmpdir(), 'efs-unavailable-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem);
  await writeFile(join(folder, 'a.txt'), 'hello');
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function efs(words: readonly string[], others: Record<string, string> = {}) {
  const environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_API_KEY: service.apiKey,
    EFS_IDENTITY: 'owner.pem',
    ...others,
  };
  return callCommand(words, { folder, environment });
}

const commands: readonly (readonly string[])[] = [
  ['status'],
  ['ls', 'demo/'],
  ['--transport', 'actor', 'ls', 'demo/'],
  ['put', 'a.txt', 'demo/'],
  ['--transport', 'actor', 'put', 'a.txt', 'demo/'],
  ['get', 'demo/a.txt', 'b.txt'],
  ['bucket', 'ls'],
];

/** Removes the number of missing cycles, which only the refusal of an update contains. */
function withoutNumber(text: string): string {
  return text.replace(/ by \d+ cycles/, '');
}

/** Expects each command to fail at its first attempt with these sentences. */
async function expectAll(code: string, words: string): Promise<void> {
  await expectCommands(code, words);
  await expectDoctor(words);
  await expectLibrary(code, words);
}

async function expectCommands(code: string, words: string): Promise<void> {
  for (const command of commands) {
    const ended = await efs(command);
    const { errors } = ended;
    expect({
      command,
      code: ended.code,
      errors: withoutNumber(errors.replace(/, request [^\]]+\]/, ']')),
    }).toEqual({
      command,
      code: 7,
      errors: `efs: ${words} [${code}]\n`,
    });
  }
}

async function expectDoctor(words: string): Promise<void> {
  const { output } = await efs(['doctor']);
  const text = Buffer.from(output, 'latin1').toString();
  const [problem = '', advice = ''] = split(words);
  expect(text).toContain(`✗ address        ${problem}\n`);
  expect(text).toContain(`→ ${advice}\n`);
  expect(text).toContain(`– key            Not checked: ${problem}\n`);
}

/** Splits the text into two sentences: problem and advice. */
function split(words: string): readonly string[] {
  const end = words.indexOf('. ') + 1;
  return [words.slice(0, end), words.slice(end + 1)];
}

/** `retry`: of a fault that is retried. */
async function expectLibrary(
  code: string,
  message: string,
  retry?: Partial<RetryPolicy>,
): Promise<void> {
  const { host, canisterId, base: url, apiKey } = service;
  const retries: RetryNotice[] = [];
  const onRetry = (notice: RetryNotice) => retries.push(notice);
  const identity = identityFromPem(service.identityPem);
  for (const storage of [
    createStorage({ url, apiKey, onRetry, retry }),
    createStorage({ host, canisterId, identity, onRetry, retry }),
  ]) {
    const asked = [
      storage.status(),
      storage.upload(new Uint8Array(1), { bucket: 'demo', path: 'x' }),
    ];
    for (const error of await Promise.all(asked.map((one) => one.catch((thrown) => thrown)))) {
      expect(error).toMatchObject({ code, isRetryable: retry !== undefined });
      expect(withoutNumber(error.message)).toBe(message);
      const s3 = s3ErrorOf(error);
      const shown = withoutNumber(s3.message);
      expect([s3.status, s3.code, shown]).toEqual([503, 'ServiceUnavailable', message]);
    }
  }
  if (retry === undefined) expect(retries).toEqual([]);
  else expect(retries.length).toBeGreaterThan(0);
}

describe('createStorage(), efs and the S3 server report', () => {
  const canister = () => ({
    sender: principalOf(service.identityPem),
    canister_id: Principal.fromText(service.canisterId),
  });
  const setThreshold = (seconds: bigint) =>
    manage(service.replica as never, 'update_settings', {
      ...canister(),
      settings: { freezing_threshold: seconds },
    });

  /** Expects these words of a server that ran before the fault, and of one started after it. */
  async function expectOfS3Servers(before: TestS3Server, words: string): Promise<void> {
    const after = await openS3Server(service);
    try {
      for (const s3Server of [before, after]) {
        const client = s3Server.client();
        const object = { Bucket: 'demo', Key: 'x' };
        const asked = [
          client.send(new GetObjectCommand(object)),
          client.send(new PutObjectCommand({ ...object, Body: 'x' })),
          client.send(new ListObjectsV2Command({ Bucket: 'demo' })),
        ];
        const failures = await Promise.all(asked.map((one) => one.catch((thrown) => thrown)));
        for (const { name, message, $metadata } of failures) {
          const status = $metadata?.httpStatusCode;
          const shown = withoutNumber(message);
          expect([name, status, shown]).toEqual(['ServiceUnavailable', 503, words]);
        }
      }
    } finally {
      await after.stop();
    }
  }

  let running: TestS3Server;

  beforeAll(async () => {
    running = await openS3Server(service);
    await running.client().send(new ListObjectsV2Command({ Bucket: 'demo' }));
  });
  afterAll(() => running?.stop());

  test('a frozen canister', async () => {
    const { canisterId: id } = service;
    await setThreshold(2n ** 58n);
    const words = frozenWords(id);
    await expectAll('Frozen', words);
    await expectOfS3Servers(running, words);
    const { host } = service;
    const identity = identityFromPem(service.identityPem);
    const storage = createStorage({ host, canisterId: id, identity });
    // For an update of a controller, the network reports the number of missing cycles.
    await expect(storage.buckets.create('more')).rejects.toMatchObject({
      code: 'Frozen',
      message: expect.stringMatching(/below its freezing reserve by \d+ cycles, so it/),
    });
    await setThreshold(2_592_000n);
    expect((await efs(['status'])).code).toBe(0);
  });

  test('a stopped canister', async () => {
    const { canisterId: id } = service;
    await manage(service.replica as never, 'stop_canister', canister());
    const words =
      `The canister ${id} is stopped. A controller starts it: icp canister ` +
      `start ${id} (or dfx canister start ${id}).`;
    await expectDoctor(words);
    await expectLibrary('Stopped', words, { delayMsMin: 1, stoppedMsMax: 100 });
    const { base: url, apiKey } = service;
    let retries = 0;
    const onRetry = () => {
      retries += 1;
      if (retries === 3) void manage(service.replica as never, 'start_canister', canister());
    };
    const storage = createStorage({ url, apiKey, onRetry, retry: { delayMsMin: 20 } });
    const { size } = await storage.upload(new Uint8Array(9), { bucket: 'demo', path: 'later' });
    expect([size, retries >= 3]).toEqual([9, true]);
    await manage(service.replica as never, 'stop_canister', canister());
  });

  test('a canister without code', async () => {
    const { canisterId: id } = service;
    await manage(service.replica as never, 'start_canister', canister());
    await manage(service.replica as never, 'uninstall_code', canister());
    await expectAll(
      'NoModule',
      `The canister ${id} has no code installed. Install it: icp deploy -e local (or dfx deploy).`,
    );
  });

  test('an id without a canister', async () => {
    const { canisterId: id, host } = service;
    await manage(service.replica as never, 'stop_canister', canister());
    await manage(service.replica as never, 'delete_canister', canister());
    await expectAll(
      'NoSuchCanister',
      `Canister ${id} does not exist at ${host}. Check the id and that the address belongs to the ` +
        'network of the canister: icp canister status file_storage -e local (or dfx canister id ' +
        'file_storage) prints the id.',
    );
  });

  test('a host of another network', async () => {
    const { host, canisterId } = service;
    const other = createStorage({ host, canisterId, fetchRootKey: false });
    await expect(other.status()).rejects.toMatchObject({
      code: 'WrongNetwork',
      message:
        `${host} belongs to another network: its root key is not the trusted one. ` +
        'Use https://icp-api.io for the Internet Computer, or localhost for a replica on this machine.',
      isRetryable: false,
    });
  });
});

interface Row {
  readonly name: string;
  readonly status: number;
  readonly cause?: string;
  readonly page: string | object;
  readonly code: string;
  readonly says: RegExp;
  readonly isRetryable?: boolean;
}

const id = 'rwlgt-iiaaa-aaaaa-aaaaa-cai';
const html = (title: string, status: number) =>
  `<!DOCTYPE html>\n<html lang="en">\n<head>\n    <title>${title} - ${status} | Internet Computer</title>`;
const json = (error_type: string, details?: string) => ({
  error_type,
  description: 'The gateway’s own words.',
  ...(details !== undefined && { details }),
});

/** Pages of ic-gateway, of boundary nodes, and of other intermediaries. */
const rows: readonly Row[] = [
  {
    name: 'frozen, for a browser',
    status: 503,
    page: html('Canister Temporarily Unavailable', 503),
    code: 'Frozen',
    says: /is frozen.* Top it up: icp canister top-up/,
  },
  {
    name: 'frozen, for a program',
    status: 503,
    cause: 'canister_frozen',
    page: json('canister_frozen'),
    code: 'Frozen',
    says: /is frozen.* Top it up: icp canister top-up/,
  },
  {
    name: 'an update that a frozen canister refuses',
    status: 503,
    page: json(
      'backend_other',
      `The replica returned a replica error: reject code SysTransient, reject message Canister ${id} is out of cycles, error code Some("IC0207")`,
    ),
    code: 'Frozen',
    says: new RegExp(`^The canister ${id} is frozen`),
  },
  {
    name: 'stopped',
    status: 503,
    page: json('canister_error', `Canister ${id} is stopped`),
    code: 'Stopped',
    says: new RegExp(`icp canister start ${id}`),
    isRetryable: true,
  },
  {
    name: 'no such canister, for a browser',
    status: 404,
    page: html('Canister Not Found', 404),
    code: 'NoSuchCanister',
    says: /^Canister .* does not exist .* Check the id/,
  },
  {
    name: 'no such canister, from a boundary node',
    status: 400,
    page: 'error: canister_not_found\ndetails: The specified canister does not exist.',
    code: 'NoSuchCanister',
    says: /^Canister .* does not exist /,
  },
  {
    name: 'a trap',
    status: 503,
    page: json('canister_error', `Error from Canister ${id}: Canister trapped: unreachable`),
    code: 'CanisterFailed',
    says: /Canister trapped: unreachable\. Its log says why: icp canister logs/,
  },
  {
    name: 'a trap whose own words look like a fault of the network',
    status: 503,
    page: json(
      'canister_error',
      `Error from Canister ${id}: Canister called \`ic0.trap\` with message: 'Canister ${id} is stopped (IC0207)'`,
    ),
    code: 'CanisterFailed',
    says: /failed to answer/,
  },
  {
    name: 'a refusal by the inspection',
    status: 503,
    page: json(
      'canister_error',
      `Error from Canister ${id}: Canister called \`ic0.trap\` with message: 'AccessDenied: not for you.'`,
    ),
    code: 'AccessDenied',
    says: /^not for you\.$/,
  },
  {
    name: 'an answer that does not verify',
    status: 503,
    page: html('Response Verification Error', 503),
    code: 'Unverified',
    says: /withheld a response because its certificate is not valid/,
    isRetryable: true,
  },
  {
    name: 'an upstream fault',
    status: 503,
    page: html('Upstream Unavailable', 503),
    code: 'GatewayError',
    says: /got no response from the canister/,
    isRetryable: true,
  },
  {
    name: 'an upgrade of the subnet',
    status: 503,
    cause: 'no_healthy_nodes',
    page: 'error: no_healthy_nodes\ndetails: …',
    code: 'SubnetUnavailable',
    says: /is being upgraded/,
    isRetryable: true,
  },
  {
    name: 'a gateway that limits requests',
    status: 429,
    page: html('Rate Limited', 429),
    code: 'SlowDown',
    says: /receives too many requests/,
    isRetryable: true,
  },
  {
    name: 'a denied canister',
    status: 451,
    page: html('Unavailable Due to Policy Violation', 451),
    code: 'GatewayRefused',
    says: /does not serve the canister/,
  },
  {
    name: "a gateway's 408",
    status: 408,
    page: 'The request body did not arrive within 30 s.',
    code: 'HttpError',
    says: /^The gateway received too little of the request in time \(408\)\. Try again\.$/,
    isRetryable: true,
  },
  ...[429, 502, 503].map((status) => ({
    name: `a proxy's ${status}`,
    status,
    page: '<html><title>nginx</title>',
    code: 'HttpError',
    says: new RegExp(
      `^A proxy or gateway in front of the service answered ${status} \\(text/html\\)`,
    ),
    isRetryable: true,
  })),
];

describe('createStorage and efs doctor explain the answer of a gateway:', () => {
  let answer: Row | undefined;
  const server = createServer((_, response) => {
    const { status = 200, page = '', cause } = answer ?? {};
    const isText = typeof page === 'string';
    response.writeHead(status, {
      'Content-Type': isText ? 'text/html' : 'application/json',
      ...(cause !== undefined && { 'x-ic-error-cause': cause }),
    });
    response.end(isText ? page : JSON.stringify(page));
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, 'localhost', resolve)));
  afterAll(() => server.close());

  test.each(rows)('$name', async (row) => {
    answer = row;
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    const storage = createStorage({ url, retry: { attemptsMax: 1 } });
    const error = await storage.status().catch((thrown) => thrown);
    expect({ ...error, message: error.message }).toMatchObject({
      code: row.code,
      message: expect.stringMatching(row.says),
      isRetryable: row.isRetryable ?? false,
      status: row.code === 'AccessDenied' ? 403 : row.status,
    });
    const { output } = await efs(['doctor', '--json'], { EFS_URL: url });
    const [, address] = JSON.parse(Buffer.from(output, 'latin1').toString());
    expect(address).toMatchObject({ check: 'address', isGood: false });
    if (row.code !== 'AccessDenied') expect(address.message).not.toContain('is not this service');
  });
});
