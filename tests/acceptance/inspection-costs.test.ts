// The inspection of an update takes at most 20 M instructions, whatever the bucket contains: it may
// check the caller's right, but nothing per file. The same messages are inspected for a bucket with
// few files and for one with many, all with the longest paths.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { isElsewhere, onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { instructionsMax } from '../support/refusal-checks.ts';
import { openService, type Service } from '../support/service.ts';

beforeEach(onlyOnOurReplica('its meter counts the instructions of inspections'));

let service: Service;
let replica: Replica;
let owner: Person;
let apiKey: string;
const sizes = { few: 5, many: 45 };
const long = 'x'.repeat(1_000);

beforeAll(async () => {
  if (isElsewhere) return;
  service = await openService();
  replica = service.replica ?? expect.fail('this suite needs the local replica');
  owner = personOf(service, 'owner');
  const buckets = Object.keys(sizes);
  for (const bucket of buckets) await owner.get('createBucket', bucket, []);
  apiKey = (await owner.get<{ secret: string }>('createApiKey', keyFor(buckets))).secret;
  for (const bucket of buckets) await fill(bucket, sizes[bucket as keyof typeof sizes]);
});

afterAll(() => service?.stop());

/** Stores each file twice, so that each has a former version. */
async function fill(bucketId: string, count: number): Promise<void> {
  await owner.get('updateBucket', {
    ...changeOf(bucketId, { isPublic: [true] }),
    keepVersionsDays: [1n],
  });
  const paths = Array.from({ length: count }, (_, index) => `d/${index}/${long}`);
  for (const body of [1, 2]) {
    for (let start = 0; start < count; start += 25) {
      const files = paths.slice(start, start + 25).map((path) => ({
        path,
        bytes: Uint8Array.of(body),
        ...{ contentType: [], tags: [], headers: [], sha256: [], ifMatch: [], ifNoneMatch: [] },
        metadata: [],
      }));
      await owner.get('uploadFiles', { bucketId, files, apiKey: [] });
    }
  }
  await owner.get('uploadFile', {
    ...{ bucketId, path: 'large', bytes: new Uint8Array(1_900_000), contentType: 'a/b' },
    ...{
      tags: [],
      headers: [],
      sha256: [],
      ifMatch: [],
      ifNoneMatch: [],
      apiKey: [],
      metadata: [],
    },
  });
}

const HttpUpdate = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text)),
  body: IDL.Vec(IDL.Nat8),
});

function http(
  method: string,
  url: string,
  body: string | Uint8Array = '',
  headers: string[][] = [],
) {
  const [, bucket = ''] = /(?:bucket|cloud).(\w+)/.exec(url) ?? [];
  const own = [
    ['Authorization', `Bearer ${apiKey}`],
    ['X-Bucket-Id', bucket],
  ];
  const request = { method, url, headers: [...own, ...headers], body: Buffer.from(body) };
  return ['http_request_update', IDL.encode([HttpUpdate], [request])] as const;
}

function call(method: string, ...values: unknown[]) {
  const types = new Map(serviceInterface()._fields).get(method)?.argTypes ?? expect.fail(method);
  return [method, new Uint8Array(IDL.encode(types as never, values))] as const;
}

type Message = readonly [method: string, argument: Uint8Array];

function messages(bucket: string): Readonly<Record<string, Message>> {
  const base = `/api/v1/bucket/${bucket}`;
  const form = [['Content-Type', 'multipart/form-data; boundary=B']];
  const part = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n';
  const paths = JSON.stringify({ paths: Array(1_000).fill('y'.repeat(100)) });
  const noKey: [] = [];
  return {
    'POST delete of a prefix': http('POST', `${base}/delete`, '{"prefix":"none"}'),
    'POST delete of paths': http('POST', `${base}/delete`, paths),
    'POST files': http('POST', `${base}/files`, `${part.repeat(150)}--B--`, form),
    'DELETE versions': http('DELETE', `${base}/versions?prefix=`),
    PUT: http('PUT', `${base}/files/new`, new Uint8Array(1_900_000), [['Content-Type', 'a/b']]),
    'GET of a range': http('GET', `/cloud/${bucket}/large`, '', [['Range', 'bytes=1-']]),
    deleteFiles: call('deleteFiles', {
      ...{ bucketId: bucket, paths: [], prefix: ['none'], cursor: [], ifMatch: [], apiKey: noKey },
      bypassGovernance: [],
    }),
    eraseVersions: call('eraseVersions', {
      ...{ bucketId: bucket, path: [], prefix: [''], version: [], apiKey: noKey },
      ...{ bypassGovernance: [], cursor: [] },
    }),
    deleteBucket: call('deleteBucket', bucket, []),
    'POST move': http('POST', `${base}/move`, '{"fromPrefix":"d/","toPrefix":"e/"}'),
    moveFiles: call('moveFiles', {
      ...{ bucketId: bucket, fromPrefix: 'e/', toPrefix: 'd/', cursor: [], apiKey: noKey },
      bypassGovernance: [],
    }),
    'POST switch': http('POST', `${base}/switch`, '{"fromPrefix":"d/","toPrefix":""}'),
    switchFiles: call('switchFiles', {
      ...{ bucketId: bucket, fromPrefix: 'e/', toPrefix: '', ifResult: [], apiKey: noKey },
      deletes: [Array(1_000).fill('y'.repeat(90))],
    }),
  };
}

/** Returns the instructions of the inspection. The update runs too. */
async function inspected([method, argument]: Message): Promise<number> {
  const first = replica.reports.length;
  await replica
    .call(service.canisterId, method, argument, { sender: owner.principal })
    .catch(() => {});
  const reports = replica.reports.slice(first).filter(({ kind }) => kind === 'inspect');
  expect(reports).toHaveLength(1);
  expect(reports[0]?.error).toBeUndefined();
  return Number(reports[0]?.instructions);
}

test.each(Object.keys(messages('')))(
  '%s: the inspection takes at most 20 M instructions, for few and for many files',
  async (name) => {
    const cost = async (bucket: string) => {
      const message = messages(bucket)[name] ?? expect.fail(name);
      return inspected(message);
    };
    const [few, many] = [await cost('few'), await cost('many')];
    expect(many).toBeLessThan(instructionsMax);
    expect(Math.abs(many - few)).toBeLessThan(500_000);
  },
);
