// Finds the chunk length of a file. Records of version 0.1.0 lack it, so the file is requested by
// GET: the response is its first chunk, with Content-Range.

import { chunkCountOf, likelyChunkBytes } from '../bytes/digest.ts';
import type { Signal } from '../connection/transport.ts';
import { authorization } from '../http/exchange.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { cloudPath } from '../operations/url-paths.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import { call, type Service } from './connection.ts';

/**
 * Returns the chunk length, or a guess, since a private file is served over HTTP only with a key.
 * The guess is a common length that fits the number of chunks; a wrong guess fails at the digest.
 */
export async function chunkLengthOf(
  service: Service,
  record: FileRecord,
  signal: Signal,
): Promise<Pick<OpenedFile, 'chunkBytes' | 'isGuessed'>> {
  const { chunkSize, etag, size, bucketId: bucket, path } = record;
  const known = chunkSize ?? (chunkCountOf(etag) <= 1 ? size : undefined);
  // The chunk length of an empty file may be 0.
  if (known !== undefined) return { chunkBytes: Math.max(1, known) };
  const first = await firstChunkBytes(service, { bucket, path }, signal);
  if (first !== undefined) return { chunkBytes: first };
  return { chunkBytes: likelyChunkBytes(record), isGuessed: true };
}

async function firstChunkBytes(
  { actor, apiKey }: Service,
  file: FileName,
  signal: Signal,
): Promise<number | undefined> {
  const url = cloudPath(file);
  const headers = apiKey === undefined ? [] : Object.entries(authorization(apiKey, url));
  const body = new Uint8Array(0);
  const request = { url, method: 'GET', headers, body };
  try {
    const answer = await call(signal, async () => {
      const ok = await actor.http_request({ ...request, certificate_version: [2] });
      return { ok: ok.upgrade[0] === true ? await actor.http_request_update(request) : ok };
    });
    const [, range = ''] =
      answer.headers.find(([name]) => name.toLowerCase() === 'content-range') ?? [];
    const [, last] = /^bytes 0-(\d+)\//.exec(range) ?? [];
    return last === undefined ? undefined : Number(last) + 1;
  } catch (error) {
    if (isStorageError(error, 'Aborted')) throw error;
    return undefined;
  }
}
