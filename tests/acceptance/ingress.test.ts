// Which direct ingress is let in: inspect_message on the local replica.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Replica } from '../../replica/replica.ts';
import { principalOf } from '../../scripts/local-service.ts';
import { openService, type Service } from '../support/service.ts';

const big = new Uint8Array(1_900_000).fill(65);
const headers = IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text));
const HttpUpdate = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers,
  body: IDL.Vec(IDL.Nat8),
});
const Result = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const beginTypes = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
const chunkTypes = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];

let service: Service;
let replica: Replica;

beforeAll(async () => {
  service = await openService();
  // Elsewhere nobody tells whether an update has run.
  replica = service.replica ?? expect.fail('this suite needs the local replica');
});

afterAll(() => service?.stop());

function call(method: string, argument: Uint8Array, asOwner = false): Promise<Uint8Array> {
  const sender = asOwner ? { sender: principalOf(service.identityPem) } : {};
  return replica.call(service.canisterId, method, argument, sender);
}

/**
 * Refused by the inspection, not by its limit of instructions, and the canister has run no update.
 */
async function expectRefused(method: string, argument: Uint8Array, asOwner = false) {
  const first = replica.reports.length;
  await expect(call(method, argument, asOwner)).rejects.toThrow(
    /with message: '\w+(?:: | takes no such message)/,
  );
  const kinds = replica.reports.slice(first).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'update')).toEqual([]);
}

async function begin(apiKey: [] | [string]): Promise<string> {
  const argument = IDL.encode(beginTypes, [service.bucket, '/i', 'a/b', 2_000_000n, apiKey]);
  const [result] = IDL.decode([Result], await call('beginFileUpload', argument));
  return (result as { ok?: string }).ok ?? expect.fail(JSON.stringify(result));
}

function put(apiKey: string, url = `/api/v1/bucket/${service.bucket}/files/i`): Uint8Array {
  const fields = [
    ['Authorization', `Bearer ${apiKey}`],
    ['Content-Type', 'a/b'],
  ];
  return IDL.encode([HttpUpdate], [{ method: 'PUT', url, headers: fields, body: big }]);
}

describe('2 MB of ingress', () => {
  test('are let in for a chunk of a session, and for a good key', async () => {
    const uploadId = await begin([service.apiKey]);
    await call('uploadFileChunkIndexed', IDL.encode(chunkTypes, [uploadId, 0n, big]));
    await call('http_request_update', put(service.apiKey));
  });

  test('are refused without a session, a key or a route that takes them', async () => {
    const chunk = IDL.encode(chunkTypes, ['00'.repeat(16), 0n, big]);
    await expectRefused('uploadFileChunkIndexed', chunk);
    await expectRefused('http_request_update', put('efs_x'));
    await expectRefused('http_request_update', put(service.apiKey, '/cloud/demo/a'));
    await expectRefused('http_request_update', put(service.apiKey, '/api/v1/bucket/x/files/a'));
  });

  test('of garbage are refused by every method', async () => {
    const methods = ['uploadFileChunkIndexed', 'uploadFile', 'http_request_update', 'createBucket'];
    for (const method of methods) {
      await expectRefused(method, big, true);
      await expectRefused(method, Buffer.concat([Buffer.from('DIDL\0\x01\x71'), big]), true);
    }
  });
});

describe('a small call', () => {
  test('gets its refusal in words when it is well formed', async () => {
    const chunk = IDL.encode(chunkTypes, ['00'.repeat(16), 0n, Uint8Array.of(1)]);
    expect(Buffer.from(await call('uploadFileChunkIndexed', chunk)).toString()).toContain(
      'NoSuchUpload: ',
    );
  });

  test('is refused to the anonymous caller where no key can be sent', async () => {
    await expectRefused('createBucket', IDL.encode([IDL.Text], ['free']));
  });

  test('is refused for queries and unknown methods', async () => {
    await expectRefused('getUpload', IDL.encode([IDL.Text], ['']), true);
    await expect(call('nothing', IDL.encode([], []))).rejects.toThrow();
  });

  test.each([
    ['2^32 nulls', [...Buffer.from('DIDL'), 1, 0x6d, 0x7f, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['endless nesting', [...Buffer.from('DIDL'), 1, 0x6e, 0, 1, 0, ...Array(9_000).fill(1)]],
    ['a record of itself', [...Buffer.from('DIDL'), 1, 0x6c, 1, 0, 0, 1, 0]],
    ['more arguments than the method has', [...Buffer.from('DIDL'), 0, 9, ...Array(9).fill(0x7f)]],
    ['a nat without an end', [...Buffer.from('DIDL'), 0, 1, 0x7d, ...Array(9_000).fill(0xff)]],
  ])('is refused when its argument is %s', async (_, bytes) => {
    await expectRefused('createBucket', Uint8Array.from(bytes), true);
    await expectRefused('cancelUpload', Uint8Array.from(bytes));
  });

  test('is refused above 16 KiB', async () => {
    await expectRefused('createBucket', IDL.encode([IDL.Text], ['a'.repeat(16_400)]), true);
  });
});
