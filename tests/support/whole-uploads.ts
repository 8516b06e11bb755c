// Uploads a file in chunks over HTTP, as one step of a test.

import { expect } from 'vitest';
import type { Service } from './service.ts';

interface Upload {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly chunkSize?: number;
}

export async function uploadInChunks(
  { base, bucket, apiKey }: Pick<Service, 'base' | 'bucket' | 'apiKey'>,
  { path, bytes, contentType, chunkSize = 1_900_000 }: Upload,
): Promise<void> {
  const root = `${base}/api/v1/bucket/${bucket}/upload`;
  const headers = { Authorization: `Bearer ${apiKey}` };
  async function send(method: string, url: string, body?: BodyInit): Promise<unknown> {
    const response = await fetch(`${root}/${url}`, { method, headers, body: body ?? null });
    expect(response.ok, await response.clone().text()).toBe(true);
    return response.json();
  }
  const order = JSON.stringify({ path, size: bytes.length, contentType, chunkSize });
  const { uploadId } = (await send('POST', 'start', order)) as { uploadId: string };
  for (let start = 0; start < bytes.length; start += chunkSize) {
    const chunk = bytes.subarray(start, start + chunkSize) as Uint8Array<ArrayBuffer>;
    await send('PUT', `${uploadId}/chunk/${start / chunkSize}`, chunk);
  }
  await send('POST', `${uploadId}/complete`);
}
