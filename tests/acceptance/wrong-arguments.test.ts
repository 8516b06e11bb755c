// Calls with wrong arguments, as from a program with another interface: the reject names the
// method, the field and the expected type, in updates and queries.

import { Actor, type ActorMethod, HttpAgent, type HttpAgentOptions } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ed25519Seed } from '../support/owner-key.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
let agent: HttpAgent;

beforeAll(async () => {
  service = await openService();
  const identity = Ed25519KeyIdentity.fromSecretKey(ed25519Seed(service.identityPem));
  const options = { host: service.host, shouldFetchRootKey: true, identity };
  agent = await HttpAgent.create(options as unknown as HttpAgentOptions);
});

afterAll(() => service?.stop());

interface Wrong {
  readonly types: IDL.Type[];
  readonly values: unknown[];
  readonly isQuery?: boolean;
}

/** Returns the message with which the agent rejects the call. */
async function rejection(method: string, { types, values, isQuery }: Wrong): Promise<string> {
  const annotations = isQuery ? ['query'] : [];
  const signature = IDL.Func(types as [IDL.Type], [IDL.Reserved], annotations);
  const actor = Actor.createActor<Record<string, ActorMethod>>(
    () => IDL.Service({ [method]: signature }),
    { agent, canisterId: service.canisterId },
  );
  const failure = await actor[method]?.(...values).catch((error: Error) => error.message);
  return typeof failure === 'string' ? failure : expect.fail(`${method} accepted the arguments`);
}

const text = IDL.Opt(IDL.Text);
const key = { name: IDL.Text, buckets: IDL.Vec(IDL.Text), permissions: IDL.Vec(IDL.Text) };
const keyValue = { name: 'n', buckets: ['demo'], permissions: ['read'] };
const file = { path: IDL.Text, bytes: IDL.Vec(IDL.Nat8) };
const fileValue = { path: '/a.txt', bytes: [1, 2, 3] };

test.each<[string, string, Wrong]>([
  [
    'a number in the place of a text',
    'createBucket: argument 1 must be text; got nat.',
    { types: [IDL.Nat], values: [42n] },
  ],
  [
    'no argument',
    'createBucket: argument 1 is missing: it must be text.',
    { types: [], values: [] },
  ],
  [
    'a text in the place of an optional time',
    "createApiKey: the argument's field expiresAt must be opt int (nanoseconds since 1970); got opt text.",
    {
      types: [IDL.Record({ ...key, expiresAt: text })],
      values: [{ ...keyValue, expiresAt: ['2030-01-01'] }],
    },
  ],
  [
    'a field that is missing',
    "createLink: the argument's field path is missing: it must be text.",
    { types: [IDL.Record({ bucketId: IDL.Text })], values: [{ bucketId: 'demo' }] },
  ],
  [
    'a wrong field within a list',
    "uploadFiles: the argument's field files[0].contentType must be opt text; got nat.",
    {
      types: [
        IDL.Record({
          bucketId: IDL.Text,
          files: IDL.Vec(IDL.Record({ ...file, contentType: IDL.Nat })),
        }),
      ],
      values: [{ bucketId: 'demo', files: [{ ...fileValue, contentType: 1n }] }],
    },
  ],
  [
    'a wrong field of a whole file',
    "uploadFile: the argument's field bytes must be vec nat8; got text.",
    {
      types: [IDL.Record({ bucketId: IDL.Text, path: IDL.Text, bytes: IDL.Text })],
      values: [{ bucketId: 'demo', path: '/a.txt', bytes: 'abc' }],
    },
  ],
  [
    'a text in the place of a number',
    'uploadFileChunkIndexed: argument 2 must be nat; got text.',
    { types: [IDL.Text, IDL.Text, IDL.Vec(IDL.Nat8)], values: ['00', '0', [1]] },
  ],
  [
    'a wrong argument of a query',
    'readFile: argument 3 must be nat; got nat64.',
    {
      types: [IDL.Text, IDL.Text, IDL.Nat64, IDL.Nat64],
      values: ['demo', '/a.txt', 0n, 1n],
      isQuery: true,
    },
  ],
  [
    'too many arguments',
    'lists 12 arguments, more than the limit of 9',
    { types: Array(12).fill(IDL.Text), values: Array(12).fill('a'), isQuery: true },
  ],
  [
    'too many values',
    "createApiKey: the argument's field buckets lists 400 items, more than the limit of ",
    { types: [IDL.Record(key)], values: [{ ...keyValue, buckets: Array(400).fill('a') }] },
  ],
])('%s: %s', async (_, words, wrong) => {
  const method = /^(\w+): /.exec(words)?.[1] ?? 'getUpload';
  expect(await rejection(method, wrong)).toContain(words);
});

test('an error never repeats a key that was sent', async () => {
  const { apiKey } = service;
  const wrong = { bucketId: 'demo', path: '/a.txt', contentType: [1n], apiKey: [apiKey] };
  const Change = IDL.Record({
    ...{ bucketId: IDL.Text, path: IDL.Text, apiKey: text },
    contentType: IDL.Opt(IDL.Nat),
  });
  const words = await rejection('updateFile', { types: [Change], values: [wrong] });
  expect(words).toContain(
    "updateFile: the argument's field contentType must be opt text; got opt nat.",
  );
  const asKey = await rejection('listLinks', {
    types: [IDL.Record({ bucketId: IDL.Text, limit: IDL.Text })],
    values: [{ bucketId: 'demo', limit: apiKey }],
    isQuery: true,
  });
  expect(asKey).toContain("listLinks: the argument's field limit must be opt nat; got text.");
  expect(`${words} ${asKey}`).not.toContain(apiKey);
});

test('unknown fields and arguments are ignored', async () => {
  const Wide = IDL.Record({ bucketId: IDL.Text, path: text, zebra: IDL.Vec(IDL.Nat) });
  const answer = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });
  const actor = Actor.createActor<Record<string, ActorMethod>>(
    () => IDL.Service({ listLinks: IDL.Func([Wide, IDL.Text], [answer], ['query']) }),
    { agent, canisterId: service.canisterId },
  );
  const value = { bucketId: service.bucket, path: [], zebra: [1n, 2n] };
  expect(await actor.listLinks?.(value, 'more')).toHaveProperty('ok');
});
