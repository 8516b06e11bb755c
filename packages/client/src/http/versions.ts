// Former versions of files over HTTP.

import type {
  Erasure,
  ErasureAnswer,
  Restoration,
  Signal,
  VersionsRequest,
} from '../connection/transport.ts';
import type { FileRecord } from '../types/files.ts';
import type { FileVersion, VersionPage } from '../types/versions.ts';
import { exchange, exchangeJson, type HttpConnection, postJson } from './exchange.ts';
import { bucketPath, queryOf, versionPath } from './paths.ts';

export async function listVersions(
  connection: HttpConnection,
  { bucket, path, prefix, cursor, limit }: VersionsRequest,
  signal: Signal,
): Promise<VersionPage> {
  const query = queryOf({ path, prefix, cursor, limit });
  const { items, nextCursor } = await exchangeJson<{
    items: FileVersion[];
    nextCursor: string | null;
  }>(connection, { method: 'GET', path: `${bucketPath(bucket)}/versions?${query}`, signal });
  return { items, nextCursor: nextCursor ?? undefined };
}

export function restoreVersion(
  connection: HttpConnection,
  { bucket, ...restoration }: Restoration,
  signal: Signal,
): Promise<FileRecord> {
  const post = { path: `${bucketPath(bucket)}/restore`, order: restoration };
  return postJson(connection, post, signal);
}

export async function eraseVersions(
  connection: HttpConnection,
  { bucket, path, version, prefix }: Erasure,
  signal: Signal,
): Promise<ErasureAnswer> {
  const place =
    path === undefined ? `${bucketPath(bucket)}/versions` : versionPath({ bucket, path });
  const request = {
    method: 'DELETE',
    path: `${place}?${queryOf({ version, prefix })}`,
    signal,
  };
  if (version === undefined) return exchangeJson<ErasureAnswer>(connection, request);
  await exchange(connection, request);
  return { erased: 1, isDone: true };
}
