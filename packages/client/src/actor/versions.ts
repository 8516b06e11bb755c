// Former versions of files, by calls of the actor.

import type {
  Erasure,
  ErasureAnswer,
  Restoration,
  Signal,
  VersionsRequest,
} from '../connection/transport.ts';
import type { FileRecord } from '../types/files.ts';
import type { VersionPage } from '../types/versions.ts';
import { fileRecordOf, optional, versionOf } from './candid-records.ts';
import { call, type Service } from './connection.ts';

export async function listVersions(
  { actor, apiKey }: Service,
  { bucket, path, prefix, cursor, limit }: VersionsRequest,
  signal: Signal,
): Promise<VersionPage> {
  const { items, nextCursor } = await call(signal, () =>
    actor.listVersions({
      bucketId: bucket,
      path: optional(path),
      prefix: optional(prefix),
      cursor: optional(cursor),
      limit: optional(BigInt(limit)),
      apiKey: optional(apiKey),
    }),
  );
  return { items: items.map(versionOf), nextCursor: nextCursor[0] };
}

export async function restoreVersion(
  { actor, apiKey }: Service,
  { bucket, path, version, ifMatch, ifNoneMatch }: Restoration,
  signal: Signal,
): Promise<FileRecord> {
  const argument = {
    bucketId: bucket,
    path,
    version: BigInt(version),
    ifMatch: optional(ifMatch),
    ifNoneMatch: optional(ifNoneMatch),
    apiKey: optional(apiKey),
  };
  return fileRecordOf(await call(signal, () => actor.restoreVersion(argument)));
}

export async function eraseVersions(
  { actor, apiKey }: Service,
  { bucket, path, version, prefix }: Erasure,
  signal: Signal,
): Promise<ErasureAnswer> {
  const { erased, isDone } = await call(signal, () =>
    actor.eraseVersions({
      bucketId: bucket,
      path: optional(path),
      version: optional(version === undefined ? undefined : BigInt(version)),
      prefix: optional(prefix),
      apiKey: optional(apiKey),
    }),
  );
  return { erased: Number(erased), isDone };
}
