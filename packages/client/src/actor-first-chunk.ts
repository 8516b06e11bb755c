// How long a file's chunks are, which no record tells: the HTTP interface answers a range from the
// start with the first chunk, and the actor offers that interface to anyone who calls it.

import { call, type Service } from './actor-connection.ts';
import { contentRange } from './http-files.ts';
import { cloudPath } from './http-paths.ts';
import type { FileName } from './interface.ts';
import type { Signal } from './transport.ts';

/** Undefined for a private bucket without an API key: HTTP knows no principals. */
export async function firstChunkBytes(
  service: Service,
  file: FileName,
  signal: Signal,
): Promise<number | undefined> {
  const { actor, apiKey } = service;
  const headers: [string, string][] = [['Range', 'bytes=0-']];
  if (apiKey !== undefined) headers.push(['Authorization', `Bearer ${apiKey}`]);
  const request = {
    method: 'GET',
    url: cloudPath(file),
    headers,
    body: new Uint8Array(0),
    certificate_version: [] as [],
  };
  const answer = await call(signal, async () => ({ ok: await actor.http_request(request) }));
  if (answer.status_code !== 206) return undefined;
  const range = contentRange(new Headers(answer.headers));
  return range.start === 0 ? range.end : undefined;
}
