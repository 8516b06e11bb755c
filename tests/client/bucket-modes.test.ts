// Which answers about a bucket's mode a reader believes, and how requests for it are shared. The
// service is replaced by its operations in memory.

import { beforeEach, expect, test } from 'vitest';
import { BucketModes } from '../../packages/client/src/bucket-modes.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import { unlessAborted } from '../../packages/client/src/connection/parallel.ts';
import type { Signal, Transport } from '../../packages/client/src/connection/transport.ts';
import { abortedError, StorageError } from '../../packages/client/src/storage-error.ts';
import type { EndToEndRecord, KnownBucket } from '../../packages/client/src/types/end-to-end.ts';

const bucket = 'sealed';
const retryPolicy = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };
const mode: EndToEndRecord = {
  ...{ usesVetKeys: false, sealsNames: true, recipients: ['age1x'], serial: '1', epochs: [] },
};

/** The answers, each until the signal of its request is aborted. */
let query: () => Promise<object>;
let signed: () => Promise<object>;
let known: Map<string, KnownBucket>;

beforeEach(() => {
  query = async () => ({ endToEnd: mode });
  signed = async () => ({ endToEnd: mode });
  known = new Map();
});

function opened(): BucketModes {
  const transport = {
    getEndToEnd: (_: string, signal: Signal) => unlessStopped(signal, query),
    administration: {
      getBucketMode: (_: string, signal: Signal) => unlessStopped(signal, signed),
    },
    verifier: async () => transport as unknown as Transport,
  };
  const memory = {
    get: async (name: string) => known.get(name),
    set: async (name: string, one: KnownBucket) => void known.set(name, one),
  };
  return new BucketModes({ transport, retryPolicy } as unknown as Connection, { memory });
}

async function unlessStopped(signal: Signal, answer: () => Promise<object>): Promise<object> {
  const found = await (signal ? unlessAborted(signal, answer) : answer());
  return found ?? Promise.reject(abortedError(signal?.reason));
}

const refusing = (code: string) => () => Promise.reject(new StorageError(code, 'Refused.'));

test.each([
  [60_000, 0],
  [-60_000, 1],
  [7_200_000, 1],
])('of() of a mode that was signed %i ms ago requests %i signed ones', async (ageMs, expected) => {
  await opened().of(bucket);
  const one = known.get(bucket) ?? expect.fail('not remembered');
  known.set(bucket, { ...one, signedAtMs: Date.now() - ageMs });
  let updates = 0;
  signed = async () => {
    updates += 1;
    return { endToEnd: mode };
  };
  await opened().of(bucket);
  expect(updates).toBe(expected);
});

test('ofReader() does not believe a node that refuses the mode of a known bucket', async () => {
  await opened().of(bucket);
  for (const code of ['NoSuchBucket', 'AccessDenied', 'Unauthorized', 'Unsupported']) {
    query = refusing(code);
    expect(await opened().ofReader(bucket)).toEqual(mode);
  }
});

test('ofReader() reports the refusal of a known bucket that the network signs', async () => {
  await opened().of(bucket);
  query = refusing('NoSuchBucket');
  signed = refusing('AccessDenied');
  await expect(opened().ofReader(bucket)).rejects.toMatchObject({ code: 'AccessDenied' });
});

test('ofReader() requests the signed refusal of a known bucket once', async () => {
  await opened().of(bucket);
  query = refusing('NoSuchBucket');
  let updates = 0;
  signed = async () => {
    updates += 1;
    throw new StorageError('AccessDenied', 'Refused.');
  };
  const modes = opened();
  for (let count = 0; count < 3; count++) {
    await expect(modes.ofReader(bucket)).rejects.toMatchObject({ code: 'AccessDenied' });
  }
  expect(updates).toBe(1);
});

test.each([false, true])(
  'ofReader() reports a refusal at once unless the bucket is known as end-to-end (known: %s)',
  async (isKnown) => {
    signed = async () => ({ endToEnd: undefined });
    if (isKnown) await opened().of(bucket);
    signed = () => expect.fail('the signed mode was requested');
    query = refusing('NoSuchBucket');
    await expect(opened().ofReader(bucket)).rejects.toMatchObject({ code: 'NoSuchBucket' });
  },
);

test.each(['of', 'ofReader'] as const)(
  'BucketModes.%s() of one caller is not aborted by the signal of another',
  async (method) => {
    let answer = (_: object) => {};
    const reply = new Promise<object>((resolve) => {
      answer = resolve;
    });
    query = () => reply;
    signed = () => reply;
    const modes = opened();
    const controller = new AbortController();
    const aborted = modes[method](bucket, controller.signal);
    const other = modes[method](bucket);
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'Aborted' });
    await expect(modes[method](bucket, controller.signal)).rejects.toMatchObject({
      code: 'Aborted',
    });
    answer({ endToEnd: mode });
    expect(await other).toEqual(mode);
  },
);
