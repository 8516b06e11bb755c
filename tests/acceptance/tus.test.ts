// tus-js-client, the protocol's official client, through the gateway.

import { Upload, type UploadOptions } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileClient, openFileClient } from '../support/http-client.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let client: FileClient;

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
});

afterAll(() => service?.stop());

/** Uploads all bytes, or stops once the service has `until` bytes. */
function upload(bytes: Buffer, options: Partial<UploadOptions>, until = Infinity) {
  return new Promise<Upload>((resolve, reject) => {
    const sent = new Upload(bytes, {
      endpoint: `${service.base}/api/v1/tus/demo`,
      headers: { Authorization: `Bearer ${service.apiKey}` },
      chunkSize: 1_900_000,
      retryDelays: null,
      onError: reject,
      onSuccess: () => resolve(sent),
      onChunkComplete: (_, accepted) => {
        if (accepted >= until) sent.abort().then(() => resolve(sent), reject);
      },
      ...options,
    });
    sent.start();
  });
}

test('tus-js-client resumes an upload of 6 MB where another object ended', async () => {
  const bytes = Buffer.from(sampleBytes('tus', 6_000_000));
  const metadata = { filename: 'resumed.bin', filetype: 'application/x-resumed' };
  const first = await upload(bytes, { metadata }, 1_900_000);
  const offsets: number[] = [];
  await upload(bytes, {
    metadata,
    uploadUrl: first.url,
    onProgress: (sent) => offsets.push(sent),
  });
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(1_900_000);
  const stored = await client.get('resumed.bin');
  expect(stored.headers.get('content-type')).toBe('application/x-resumed');
  expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
});

test('tus-js-client sends the first bytes with the creation, and terminates', async () => {
  const bytes = Buffer.from(sampleBytes('tus first', 100_000));
  const metadata = { filename: 'first.bin' };
  await upload(bytes, { metadata, uploadDataDuringCreation: true, chunkSize: 60_000 });
  const stored = await client.get('first.bin');
  expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
  const half = await upload(bytes, { metadata, chunkSize: 60_000 }, 60_000);
  await half.abort(true);
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Tus-Resumable': '1.0.0' };
  const gone = await fetch(half.url ?? '', { method: 'HEAD', headers });
  expect(gone.status).toBe(410);
});

test('tus-js-client reports the reason for which an upload is refused', async () => {
  const metadata = { filename: '../outside' };
  await expect(upload(Buffer.from('x'), { metadata })).rejects.toThrow('InvalidPath');
  const key = { headers: { Authorization: 'Bearer wrong' } };
  await expect(upload(Buffer.from('x'), key)).rejects.toThrow('response code: 401');
});
