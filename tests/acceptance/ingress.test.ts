// Ingress messages that inspect_message accepts or rejects after the budget of refused calls is
// used up. Within the budget, methods return `err`: refused-calls.test.ts.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSentUpdate } from '../support/method-reports.ts';
import type { Caller } from '../support/network/network-interface.ts';
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
const optionalText = IDL.Opt(IDL.Text);
const fileTypes = [IDL.Text, IDL.Text, optionalText];
const texts = IDL.Vec(IDL.Text);
const KeyRequest = IDL.Record({
  name: IDL.Text,
  buckets: texts,
  permissions: texts,
  expiresAt: IDL.Opt(IDL.Int),
});
const Budget = IDL.Record({ burst: IDL.Nat, perMinute: IDL.Nat });
const AccessChange = IDL.Record({ refusals: IDL.Opt(Budget) });
/** A person without rights. */
const stranger: Caller = 9;

let service: Service;

beforeAll(async () => {
  service = await openService();
  const refusals = [{ burst: 0n, perMinute: 0n }];
  await call('updateAccess', IDL.encode([AccessChange], [{ refusals }]), 'owner');
});

afterAll(() => service?.stop());

function call(method: string, argument: Uint8Array, caller?: Caller): Promise<Uint8Array> {
  return service.network.call(service.canisterId, method, argument, caller);
}

/**
 * Expects that the inspection itself, not its instruction limit, rejects. Our own replica also
 * reports whether an update has run.
 */
async function expectRefused(method: string, argument: Uint8Array, caller?: Caller) {
  const first = service.replica?.reports.length ?? 0;
  await expect(call(method, argument, caller)).rejects.toThrow(
    /with message: '\w+(?:: | does not accept this message)/,
  );
  expect(service.replica?.reports.slice(first).filter(isSentUpdate) ?? []).toEqual([]);
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
  test('are accepted for a chunk of a session and for a valid key', async () => {
    const uploadId = await begin([service.apiKey]);
    await call('uploadFileChunkIndexed', IDL.encode(chunkTypes, [uploadId, 0n, big]));
    await call('http_request_update', put(service.apiKey));
  });

  test('are rejected without a session, without a key, and for routes without a large body', async () => {
    const chunk = IDL.encode(chunkTypes, ['00'.repeat(16), 0n, big]);
    await expectRefused('uploadFileChunkIndexed', chunk);
    await expectRefused('http_request_update', put('efs_x'));
    await expectRefused('http_request_update', put(service.apiKey, '/cloud/demo/a'));
    await expectRefused('http_request_update', put(service.apiKey, '/api/v1/bucket/x/files/a'));
  });

  test('of random bytes are rejected by every method', async () => {
    const methods = ['uploadFileChunkIndexed', 'uploadFile', 'http_request_update', 'createBucket'];
    for (const method of methods) {
      await expectRefused(method, big, 'owner');
      await expectRefused(method, Buffer.concat([Buffer.from('DIDL\0\x01\x71'), big]), 'owner');
    }
  });
});

describe('a small call', () => {
  test("without the right is rejected with the method's error", async () => {
    const noUpload = '00'.repeat(16);
    const good = [service.apiKey];
    const bad = [`efs_${'A'.repeat(49)}`];
    const { bucket } = service;
    const key = { name: '', buckets: [bucket], permissions: ['read'], expiresAt: [] };
    const calls: [code: string, method: string, types: IDL.Type[], values: unknown[]][] = [
      ['NoSuchUpload', 'uploadFileChunkIndexed', chunkTypes, [noUpload, 0n, Uint8Array.of(1)]],
      ['NoSuchUpload', 'completeFileUpload', [IDL.Text, optionalText], [noUpload, good]],
      ['NoSuchUpload', 'cancelUpload', [IDL.Text], [noUpload]],
      ['AccessDenied', 'beginFileUpload', beginTypes, [bucket, '/i', 'a/b', 1n, []]],
      ['InvalidApiKey', 'beginFileUpload', beginTypes, [bucket, '/i', 'a/b', 1n, bad]],
      ['AccessDenied', 'beginFileUpload', beginTypes, ['nowhere', '/i', 'a/b', 1n, good]],
      ['NoSuchFile', 'deleteFile', fileTypes, [bucket, '/is/not/there', good]],
      ['AccessDenied', 'deleteFile', fileTypes, [bucket, '/is/not/there', []]],
      ['AccessDenied', 'createBucket', [IDL.Text], ['free']],
      ['AccessDenied', 'deleteBucket', [IDL.Text], [bucket]],
      ['NoSuchBucket', 'deleteBucket', [IDL.Text], ['nowhere']],
      ['AccessDenied', 'rotateBucketKey', [IDL.Text], [bucket]],
      ['AccessDenied', 'rotateRootKey', [optionalText], [[]]],
      ['AccessDenied', 'revokeApiKey', [IDL.Text], ['00'.repeat(8)]],
      ['AccessDenied', 'createApiKey', [KeyRequest], [key]],
    ];
    for (const [code, method, types, values] of calls) {
      for (const caller of ['nobody', stranger] as const) {
        const sent = call(method, IDL.encode(types, values), caller);
        await expect(sent, method).rejects.toThrow(`with message: '${code}: `);
      }
    }
  });

  test('createApiKey that is refused before it shows a right is rejected', async () => {
    const key = { name: '', buckets: [service.bucket], permissions: ['read'], expiresAt: [] };
    for (const change of [{ buckets: [] }, { name: 'a'.repeat(65) }, { expiresAt: [0n] }]) {
      const argument = IDL.encode([KeyRequest], [{ ...key, ...change }]);
      const sent = call('createApiKey', argument, stranger);
      await expect(sent).rejects.toThrow("with message: 'InvalidArgument: ");
    }
  });

  test("with the right returns the method's error as err", async () => {
    const uploadId = await begin([service.apiKey]);
    const chunk = IDL.encode(chunkTypes, [uploadId, 40_000n, Uint8Array.of(1)]);
    expect(Buffer.from(await call('uploadFileChunkIndexed', chunk)).toString()).toContain(
      'InvalidChunkIndex: ',
    );
    const none = IDL.encode(beginTypes, [service.bucket, '', 'a/b', 1n, [service.apiKey]]);
    expect(Buffer.from(await call('beginFileUpload', none)).toString()).toContain('InvalidPath: ');
  });

  test('is accepted without its last optional argument, and with unknown fields', async () => {
    const argument = IDL.encode([IDL.Text], [await begin([service.apiKey])]);
    const reply = await call('completeFileUpload', argument);
    expect(Buffer.from(reply).toString()).toContain('UploadIncomplete: ');
    const Wider = IDL.Record({ bucketId: IDL.Text, isPublic: IDL.Opt(IDL.Bool), hint: IDL.Text });
    const change = IDL.encode([Wider], [{ bucketId: service.bucket, isPublic: [], hint: 'x' }]);
    const updated = Buffer.from(await call('updateBucket', change, 'owner')).toString('latin1');
    expect(updated).toContain(service.bucket);
    expect(updated).not.toMatch(/[A-Z]\w+: /);
  });

  test('to a query or an unknown method is rejected', async () => {
    await expectRefused('getUpload', IDL.encode([IDL.Text], ['']), 'owner');
    await expect(call('nothing', IDL.encode([], []))).rejects.toThrow();
  });

  test.each([
    ['2^32 nulls', [...Buffer.from('DIDL'), 1, 0x6d, 0x7f, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['endless nesting', [...Buffer.from('DIDL'), 1, 0x6e, 0, 1, 0, ...Array(9_000).fill(1)]],
    ['a record of itself', [...Buffer.from('DIDL'), 1, 0x6c, 1, 0, 0, 1, 0]],
    ['more arguments than the method has', [...Buffer.from('DIDL'), 0, 9, ...Array(9).fill(0x7f)]],
    ['an endless nat', [...Buffer.from('DIDL'), 0, 1, 0x7d, ...Array(9_000).fill(0xff)]],
  ])('is rejected if its argument is %s', async (_, bytes) => {
    await expectRefused('createBucket', Uint8Array.from(bytes), 'owner');
    await expectRefused('cancelUpload', Uint8Array.from(bytes));
  });

  test('is rejected if its argument is longer than the method allows', async () => {
    await expectRefused('rotateBucketKey', IDL.encode([IDL.Text], ['a'.repeat(4_100)]), 'owner');
  });
});
