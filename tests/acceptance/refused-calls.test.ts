// A user's script calls methods with one fault at a time, and finds `err` in the result, as the
// interface promises. Nothing is thrown while the budget of refused calls lasts; once it is empty,
// the inspection traps with the same messages.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentName, openActor } from '../support/actors.ts';
import type { UploadActor } from '../support/candid-interface.ts';
import { changeOf, type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
let owner: Person;
let revokedKey: string;
let otherBucketsKey: string;

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  await owner.get('createBucket', 'other', []);
  const make = (bucket: string) =>
    owner.get<{ id: string; secret: string }>('createApiKey', {
      ...changeOf('createApiKey', {}),
      name: 'k',
      buckets: [bucket],
      permissions: ['read', 'write', 'delete'],
    });
  const [revoked, others] = [await make(service.bucket), await make('other')];
  await owner.get('revokeApiKey', revoked.id);
  revokedKey = revoked.secret;
  otherBucketsKey = others.secret;
});

afterAll(() => service?.stop());

/** Returns `ok`, or the code of the error, as a user's script would. */
function outcome(result: object): string {
  if ('err' in result) return String(result.err).split(':', 1)[0] ?? '';
  return 'ok';
}

async function begin(actor: UploadActor, size: bigint): Promise<string> {
  const result = await actor.beginFileUpload(service.bucket, '/s', 'a/b', size, [service.apiKey]);
  return result.ok ?? expect.fail(JSON.stringify(result));
}

const noUpload = '00'.repeat(16);
const wrongKey = `efs_${'A'.repeat(49)}`;
const chunkBytes = (length: number) => new Uint8Array(length).fill(65);

async function script(actor: UploadActor): Promise<string[]> {
  const start = (bucket: string, apiKey: [] | [string]) =>
    actor.beginFileUpload(bucket, '/s', 'a/b', 5n, apiKey);
  const uploadId = await begin(actor, 5n);
  const large = await begin(actor, 4_000_000n);
  const calls: [string, () => Promise<object>][] = [
    ['unknown bucket', () => start('nowhere', [service.apiKey])],
    ['unknown bucket, no key', () => start('nowhere', [])],
    ['wrong key', () => start(service.bucket, [wrongKey])],
    ["another bucket's key", () => start(service.bucket, [otherBucketsKey])],
    ['revoked key', () => start(service.bucket, [revokedKey])],
    ['missing key', () => start(service.bucket, [])],
    ['unknown upload', () => actor.uploadFileChunkIndexed(noUpload, 0n, chunkBytes(5))],
    ['unknown upload', () => actor.uploadFileChunkIndexed(noUpload, 0n, chunkBytes(1_900_000))],
    ['unknown upload', () => actor.completeFileUpload(noUpload, [service.apiKey])],
    ['unknown upload', () => actor.cancelUpload(noUpload)],
    ['unknown upload', () => actor.getUpload(noUpload)],
    ['oversized chunk', () => actor.uploadFileChunkIndexed(large, 0n, chunkBytes(2_000_000))],
    ['index out of range', () => actor.uploadFileChunkIndexed(large, 40_000n, chunkBytes(9_000))],
    ['early completion', () => actor.completeFileUpload(uploadId, [service.apiKey])],
    ['completion without the key', () => actor.completeFileUpload(uploadId, [revokedKey])],
    ['unknown file', () => actor.deleteFile(service.bucket, '/none', [service.apiKey])],
    ['no right to create', () => actor.createBucket('free')],
    ['cancelled by its owner', () => actor.cancelUpload(uploadId)],
    ['chunk after cancellation', () => actor.uploadFileChunkIndexed(uploadId, 0n, chunkBytes(5))],
    ['cancelled by its owner', () => actor.cancelUpload(large)],
  ];
  const outcomes: string[] = [];
  for (const [name, call] of calls) {
    const result = await call().catch((error: Error) => ({ thrown: error.message }));
    outcomes.push('thrown' in result ? `${name}: ${result.thrown}` : `${name}: ${outcome(result)}`);
  }
  return outcomes;
}

const expected = [
  'unknown bucket: AccessDenied',
  'unknown bucket, no key: NoSuchBucket',
  'wrong key: InvalidApiKey',
  "another bucket's key: AccessDenied",
  'revoked key: InvalidApiKey',
  'missing key: AccessDenied',
  ...Array(5).fill('unknown upload: NoSuchUpload'),
  'oversized chunk: EntityTooLarge',
  'index out of range: InvalidChunkIndex',
  'early completion: UploadIncomplete',
  'completion without the key: InvalidApiKey',
  'unknown file: NoSuchFile',
  'no right to create: AccessDenied',
  'cancelled by its owner: ok',
  'chunk after cancellation: UploadCancelled',
  'cancelled by its owner: ok',
];

describe.each<AgentName>(['@dfinity/agent', '@icp-sdk/core'])('a script by %s', (agent) => {
  test('gets `err` from the methods for every fault', async () => {
    const actor = await openActor(service, { agent, asOwner: false });
    expect(await script(actor)).toEqual(expected);
  });
});

describe('the budget of refused calls that updateAccess sets', () => {
  const refusals = async () => {
    const { refusals } = await owner.get<{ refusals: [{ left: bigint }] }>('getStatus');
    return refusals[0].left;
  };
  const setRefusals = (burst: bigint, perMinute: bigint) =>
    owner.get('updateAccess', {
      ...changeOf('updateAccess', {}),
      refusals: [{ burst, perMinute }],
    });
  const cancel = (bytes = 0) => {
    const { network, canisterId } = service;
    const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
    const argument = IDL.encode(types, [noUpload, 0n, new Uint8Array(bytes)]);
    return network.call(canisterId, 'uploadFileChunkIndexed', argument, 9);
  };

  test('is charged 1 for a refused call and 1 more for each 16,384 bytes of its argument', async () => {
    await setRefusals(1_000n, 0n);
    const before = await refusals();
    await cancel();
    expect(before - (await refusals())).toBe(1n);
    await cancel(1_900_000);
    expect(before - (await refusals())).toBe(117n);
  });

  test("makes the inspection trap with the method's error once it is empty", async () => {
    await setRefusals(0n, 0n);
    const first = service.replica?.reports.length ?? 0;
    await expect(cancel()).rejects.toThrow("with message: 'NoSuchUpload: Upload ");
    const kinds = service.replica?.reports.slice(first).map(({ kind }) => kind);
    // Only our own replica reports its messages
    if (kinds !== undefined) expect(kinds).toEqual(['inspect']);
  });
});
