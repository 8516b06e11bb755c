// Builds `aws-chunked` bodies as SDKs send them.

import { createHash, createHmac } from 'node:crypto';

export interface ChunkedForm {
  readonly chunkBytes: number;
  /** Without a key, chunks have no signatures. */
  readonly key?: Uint8Array;
  readonly trailer?: readonly (readonly [name: string, value: string])[];
}

export const chunkTime = '20130524T000000Z';
export const chunkScope = '20130524/us-east-1/s3/aws4_request';
export const chunkSeed = '0'.repeat(64);

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

/** Returns the framed bytes, with signatures that begin at `chunkSeed` if there is a key. */
export function frame(bytes: Uint8Array, { chunkBytes, key, trailer }: ChunkedForm): Buffer {
  let previous = chunkSeed;
  const sign = (kind: string, hashes: string) => {
    const text = [`AWS4-HMAC-SHA256-${kind}`, chunkTime, chunkScope, previous, hashes].join('\n');
    previous = createHmac('sha256', key ?? '')
      .update(text)
      .digest('hex');
    return previous;
  };
  const begin = (chunk: Uint8Array) => {
    const hashes = `${sha256('')}\n${sha256(chunk)}`;
    const extension = key === undefined ? '' : `;chunk-signature=${sign('PAYLOAD', hashes)}`;
    return Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`);
  };
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    parts.push(begin(chunk), chunk, Buffer.from('\r\n'));
  }
  parts.push(begin(new Uint8Array()));
  for (const [name, value] of trailer ?? []) parts.push(Buffer.from(`${name}:${value}\r\n`));
  if (trailer !== undefined && key !== undefined) {
    const text = trailer.map(([name, value]) => `${name}:${value}\n`).join('');
    parts.push(Buffer.from(`x-amz-trailer-signature:${sign('TRAILER', sha256(text))}\r\n`));
  }
  parts.push(Buffer.from('\r\n'));
  return Buffer.concat(parts);
}
