// Files of an end-to-end bucket with only curl and the official age: they decrypt files that the
// client stores, and the client decrypts theirs.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { piecesOf } from '../../packages/client/src/bytes/byte-stream.ts';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { openFileSource } from '../../packages/client/src/node/file-source.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { runUntilDone } from './support/run-program.ts';

let service: Service;
let storage: Storage;
let folder: string;
let recipient: string;
let authorization: string;
const bucket = 'safe';

beforeAll(async () => {
  service = await openService({});
  folder = await mkdtemp(join(tmpdir(), 'age-curl-'));
  await runUntilDone(['age-keygen', '-o', 'key.txt'], { folder, times: 1 });
  const text = await readFile(join(folder, 'key.txt'), 'utf8');
  const identity = /^AGE-SECRET-KEY-1\S+$/m.exec(text)?.[0] ?? '';
  recipient = /age1\S+/.exec(text)?.[0] ?? '';
  const { host, canisterId, identityPem } = service;
  const endToEnd = nodeEndToEnd({ identities: [identity] });
  const caller = { identity: identityFromPem(identityPem), endToEnd };
  storage = createNodeStorage({ host, canisterId, ...caller });
  await storage.buckets.create(bucket, {
    endToEnd: { usesVetKeys: false, recipients: [recipient] },
  });
  const wanted = { name: 'curl', buckets: [bucket], permissions: ['read', 'write'] as const };
  const { secret } = await storage.keys.create(wanted);
  authorization = `Authorization: Bearer ${secret}`;
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a pipe of two programs, which fails if either does. */
async function pipe(command: string): Promise<void> {
  const shell = ['bash', '-o', 'pipefail', '-c', command] as const;
  await runUntilDone(shell, { folder, times: 1 });
}

async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of stream) hash.update(bytes);
  return hash.digest('hex');
}

const lengths = [0, 1, 65_535, 65_536, 65_537, 5_000_000, 200_000_000];

test.each(lengths)('curl | age -d opens %i bytes that the client has stored', async (length) => {
  const plain = join(folder, 'plain');
  await writeFile(plain, sampleBytes('stored', length));
  const source = await openFileSource(plain);
  await storage.upload(source, { bucket, path: 'file' }).finally(() => source.close());
  // age creates no empty file.
  await writeFile(join(folder, 'opened'), '');
  const address = `${service.base}/cloud/${bucket}/file`;
  await pipe(`curl -sSf -H '${authorization}' ${address} | age -d -i key.txt -o opened`);
  const opened = await digestOf(createReadStream(join(folder, 'opened')));
  expect(opened).toBe(await digestOf(createReadStream(plain)));
});

test.each(lengths.slice(0, -2))(
  'age -r | curl -T - stores %i bytes that the client opens',
  async (length) => {
    await writeFile(join(folder, 'theirs'), sampleBytes('theirs', length));
    const address = `${service.base}/api/v1/bucket/${bucket}/files/theirs`;
    await pipe(
      `age -r ${recipient} theirs | curl -sSf -o answer -T - -H '${authorization}' ${address}`,
    );
    const { body } = await storage.download({ bucket, path: 'theirs' });
    expect(await digestOf(piecesOf(body))).toBe(
      await digestOf(createReadStream(join(folder, 'theirs'))),
    );
  },
);
