// Which answers about a bucket's mode a reader believes, and how requests for it are shared. The
// service is replaced by its operations in memory.

import { beforeEach, expect, test } from 'vitest';
import { BucketModes } from '../../packages/client/src/bucket-modes.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import type { Transport } from '../../packages/client/src/connection/transport.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { EndToEndRecord, KnownBucket } from '../../packages/client/src/types/end-to-end.ts';

const bucket = 'sealed';
const retryPolicy = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1 };
const mode: EndToEndRecord = {
  ...{ usesVetKeys: false, sealsNames: true, recipients: ['age1x'], serial: '1', epochs: [] },
};

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
    getEndToEnd: () => query(),
    administration: { getBucketMode: () => signed() },
    verifier: async () => transport as unknown as Transport,
  };
  const memory = {
    get: async (name: string) => known.get(name),
    set: async (name: string, one: KnownBucket) => void known.set(name, one),
  };
  return new BucketModes({ transport, retryPolicy } as unknown as Connection, { memory });
}

const refusing = (code: string) => () => Promise.reject(new StorageError(code, 'Refused.'));

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
