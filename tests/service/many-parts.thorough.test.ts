// A file with more parts than a gateway joins: one GET is refused with a reason, everything else
// works.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { openService, type Service } from '../support/service.ts';

const partCount = 1_003;
const partBytes = 3;
const bytes = Buffer.from(
  Array.from({ length: partCount }, (_, index) => [index, index >> 8, 7]).flat(),
);
const name = { bucket: 'demo', path: 'many.bin' };
const optionalText = IDL.Opt(IDL.Text);
const textResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const beginning = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: optionalText,
  size: IDL.Opt(IDL.Nat),
  apiKey: optionalText,
});

let service: Service;
let replica: Replica;
let url: string;

beforeAll(async () => {
  service = await openService();
  replica = service.replica ?? expect.fail('a replica of our own');
  url = `${service.base}/cloud/demo/many.bin`;
  const { bucket: bucketId, path } = name;
  const rest = { contentType: ['a/b'], size: [], apiKey: [service.apiKey] };
  const uploadId = await call(
    'beginFileUploadWith',
    IDL.encode([beginning], [{ bucketId, path, ...rest }]),
  );
  const chunk = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
  for (let index = 0; index < partCount; index++) {
    const part = bytes.subarray(index * partBytes, (index + 1) * partBytes);
    const argument = IDL.encode(chunk, [uploadId, BigInt(index), part]);
    await replica.call(service.canisterId, 'uploadFileChunkIndexed', argument);
  }
  await call('completeFileUpload', IDL.encode([IDL.Text, optionalText], [uploadId, []]));
});
afterAll(() => service?.stop());

async function call(method: string, argument: Uint8Array): Promise<string> {
  const reply = await replica.call(service.canisterId, method, argument);
  const [result] = IDL.decode([textResult], reply) as unknown as [{ ok?: string; err?: string }];
  return result.ok ?? expect.fail(result.err);
}

describe('a file of 1,003 parts', () => {
  test('gets 413 for a plain GET, with the requests that can read it', async () => {
    const response = await fetch(url);
    expect(response.status).toBe(413);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('EntityTooLarge');
    expect(error.message).toContain('by the command `efs get`, or by requests with Range');
  });

  test('answers HEAD and a conditional request', async () => {
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    const etag = head.headers.get('etag') ?? '';
    expect(etag).toMatch(/-1003"$/);
    expect((await fetch(url, { headers: { 'If-None-Match': etag } })).status).toBe(304);
  });

  test.each([0, 999, 1_000, 1_002])('gives part %i, certified', async (index) => {
    const updates = replica.reports.length;
    const start = index * partBytes;
    const headers = { Range: `bytes=${start}-`, Prefer: 'part' };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(
      `bytes ${start}-${start + partBytes - 1}/${bytes.length}`,
    );
    const part = Buffer.from(await response.arrayBuffer());
    expect(part).toEqual(bytes.subarray(start, start + partBytes));
    const methods = replica.reports.slice(updates).map(({ method }) => method);
    expect(methods).not.toContain('http_request_update');
  });

  test('serves ranges across its parts', async () => {
    const headers = { Range: 'bytes=2990-3005' };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(206);
    const part = Buffer.from(await response.arrayBuffer());
    expect(part).toEqual(bytes.subarray(2_990, 3_006));
  });

  test('is downloaded and verified by the client, also a range of it', async () => {
    const storage = createStorage({ url: service.base, apiKey: service.apiKey });
    const { body } = await storage.download(name, { concurrency: 8 });
    expect(Buffer.from(await new Response(body as BodyInit).arrayBuffer())).toEqual(bytes);
    const range = { start: 2_999, end: 3_002 };
    const part = await storage.download(name, { range });
    const received = Buffer.from(await new Response(part.body as BodyInit).arrayBuffer());
    expect(received).toEqual(bytes.subarray(2_999, 3_002));
  });
});
