// The recipients of new files after a storage has changed its bucket: an upload never uses those
// that the storage remembers from before. The service is replaced by its operations in memory.

import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeEach, describe, expect, test } from 'vitest';
import { bucketsOf } from '../../packages/client/src/administration/buckets-and-keys.ts';
import { etagOf } from '../../packages/client/src/bytes/digest.ts';
import { sha256 } from '../../packages/client/src/bytes/sha256.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import { createLine } from '../../packages/client/src/connection/transfer-window.ts';
import type { Transport } from '../../packages/client/src/connection/transport.ts';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type {
  EndToEndOptions,
  EndToEndRecord,
} from '../../packages/client/src/types/end-to-end.ts';

const bucket = 'team';
const bytes = new TextEncoder().encode('a secret');
const retryPolicy = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };

interface Pair {
  readonly identity: string;
  readonly recipient: string;
}

let former: Pair;
let present: Pair;
let mode: EndToEndRecord | undefined;
/** The mode that a node with an old state returns; undefined if its state is the present one. */
let lagging: { readonly mode: EndToEndRecord | undefined } | undefined;
let stored: Map<string, Uint8Array>;
let isReplyLost: boolean;

async function newPair(): Promise<Pair> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

function sealedTo(...recipients: string[]): EndToEndRecord {
  return { usesVetKeys: false, sealsNames: false, recipients, serial: '1', epochs: [] };
}

beforeEach(async () => {
  former = await newPair();
  present = await newPair();
  mode = sealedTo(former.recipient);
  lagging = undefined;
  stored = new Map();
  isReplyLost = false;
});

async function store(path: string, sent: Uint8Array) {
  stored.set(path, sent);
  return { bucketId: bucket, path, etag: await etagOf([await sha256(sent)]) };
}

function change(): object {
  mode = sealedTo(present.recipient);
  if (isReplyLost) throw new StorageError('Timeout', 'The reply was lost.');
  return {};
}

type Sent = { readonly path: string; readonly bytes: Uint8Array };
const changes = ['createBucket', 'updateBucket', 'deleteBucket', 'rotateBucketIdentity'];

function opened(options: EndToEndOptions = {}) {
  const transport = {
    ...{ line: createLine(), probe: async () => {}, wholeFileBytesMax: 1_900_000 },
    putFile: ({ path, bytes: sent }: Sent) => store(path, sent),
    putFiles: ({ files }: { readonly files: readonly Sent[] }) =>
      Promise.all(files.map(({ path, bytes: sent }) => store(path, sent))),
    getEndToEnd: async () => ({ endToEnd: (lagging ?? { mode }).mode }),
    administration: {
      getBucketMode: async () => ({ endToEnd: mode }),
      ...Object.fromEntries(changes.map((name) => [name, async () => change()])),
    },
    verifier: async () => transport as unknown as Transport,
  };
  const connection = { transport, retryPolicy, contentTypeOf: () => 'text/plain' };
  const { files, forget } = endToEnd(options)(connection as unknown as Connection);
  return { files, buckets: bucketsOf(connection as unknown as Connection, forget) };
}

async function isOpenedBy({ identity }: Pair, path: string): Promise<boolean> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(stored.get(path) ?? expect.fail(`${path} is not stored`)).then(
    () => true,
    () => false,
  );
}

async function expectOnlyPresent(path: string): Promise<void> {
  expect([await isOpenedBy(former, path), await isOpenedBy(present, path)]).toEqual([false, true]);
}

type Buckets = ReturnType<typeof bucketsOf>;
const calls: Readonly<Record<string, (buckets: Buckets) => Promise<unknown>>> = {
  'create()': (buckets) => buckets.create(bucket),
  'update()': (buckets) => buckets.update(bucket, {}),
  'remove()': (buckets) => buckets.remove(bucket),
  'rotateIdentity()': (buckets) => buckets.rotateIdentity(bucket),
};

describe.each(Object.keys(calls))('endToEnd() after buckets.%s', (name) => {
  test.each([false, true])(
    'encrypts to the present recipients (reply lost: %s)',
    async (isLost) => {
      const { files, buckets } = opened();
      await files.upload(bytes, { bucket, path: 'before' });
      expect(await isOpenedBy(former, 'before')).toBe(true);
      isReplyLost = isLost;
      await calls[name]?.(buckets).catch(() => {});
      await files.upload(bytes, { bucket, path: 'after' });
      await expectOnlyPresent('after');
    },
  );
});

test('endToEnd() after buckets.rotateIdentity() does not rely on a node with an old state', async () => {
  const { files, buckets } = opened();
  await files.upload(bytes, { bucket, path: 'before' });
  lagging = { mode };
  await buckets.rotateIdentity(bucket);
  await files.upload(bytes, { bucket, path: 'after' });
  await expectOnlyPresent('after');
});

test('endToEnd() sends no plaintext once a bucket has become end-to-end', async () => {
  mode = undefined;
  const { files, buckets } = opened();
  await files.upload(bytes, { bucket, path: 'before' });
  expect(stored.get('before')).toEqual(bytes);
  await buckets.update(bucket, { endToEnd: {} });
  await files.upload(bytes, { bucket, path: 'after' });
  await expectOnlyPresent('after');
});

test('uploadAll() encrypts each file to the recipients at its time', async () => {
  const { files, buckets } = opened();
  async function* all() {
    yield { path: 'before', source: bytes };
    await buckets.rotateIdentity(bucket);
    yield { path: 'after', source: bytes };
  }
  const ended: unknown[] = [];
  for await (const { path, error } of files.uploadAll(all(), { bucket })) ended.push(error ?? path);
  expect(ended).toEqual(['before', 'after']);
  expect(await isOpenedBy(former, 'before')).toBe(true);
  await expectOnlyPresent('after');
});

test('uploadAll() uploads the files after one that cannot be encrypted', async () => {
  const { files } = opened();
  const sha256 = '0'.repeat(64);
  const all = ['a', 'b', 'c'].map((path) => ({
    path,
    source: bytes,
    ...(path === 'b' && { sha256 }),
  }));
  const ended = new Map<string, unknown>();
  for await (const { path, error } of files.uploadAll(all, { bucket }))
    ended.set(path, error?.code);
  expect(Object.fromEntries(ended)).toEqual({ a: undefined, b: 'BadDigest', c: undefined });
});
