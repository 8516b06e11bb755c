// Copies, moves and changes files by calls of the actor.

import type { CopyRequest, PrefixMove, PrefixMoveAnswer, Signal } from '../connection/transport.ts';
import type { FileChange, FileName, FileRecord } from '../types/files.ts';
import { fileRecordOf, optional } from './candid-records.ts';
import { call, errorOfText, type Service } from './connection.ts';

export async function sendCopy(
  { actor, apiKey }: Service,
  { kind, request }: { readonly kind: 'copy' | 'move'; readonly request: CopyRequest },
  signal: Signal,
): Promise<FileRecord> {
  const { from, to, version, ifMatch, ifNoneMatch, ifSourceMatch } = request;
  const order = {
    ...notesOf(request),
    bucketId: from.bucket,
    from: from.path,
    version: optional(version === undefined ? undefined : BigInt(version)),
    toBucketId: optional(to.bucket),
    to: to.path,
    ifMatch: optional(ifMatch),
    ifNoneMatch: optional(ifNoneMatch),
    ifSourceMatch: optional(ifSourceMatch),
    apiKey: optional(apiKey),
  };
  return fileRecordOf(
    await call(signal, () => (kind === 'copy' ? actor.copyFile(order) : actor.moveFile(order))),
  );
}

function notesOf({
  contentType,
  tags,
  headers,
  metadata,
}: Pick<FileChange, 'contentType' | 'tags' | 'headers' | 'metadata'>) {
  return {
    contentType: optional(contentType),
    tags: optional(tags),
    headers: optional(headers && Object.entries(headers)),
    metadata: optional(metadata && Object.entries(metadata)),
  };
}

export async function moveFiles(
  { actor, apiKey }: Service,
  { bucket, fromPrefix, toPrefix }: PrefixMove,
  signal: Signal,
): Promise<PrefixMoveAnswer> {
  const { moved, isDone, failed } = await call(signal, () =>
    actor.moveFiles({ bucketId: bucket, fromPrefix, toPrefix, apiKey: optional(apiKey) }),
  );
  const shown = failed.map(({ path, error }) => ({ path, error: errorOfText(error) }));
  return { moved: Number(moved), isDone, failed: shown };
}

export async function changeFile(
  { actor, apiKey }: Service,
  { bucket, path }: FileName,
  change: FileChange,
): Promise<FileRecord> {
  const { ifMatch, signal } = change;
  const argument = {
    ...notesOf(change),
    bucketId: bucket,
    path,
    ifMatch: optional(ifMatch),
    ifNoneMatch: optional<string>(undefined),
    apiKey: optional(apiKey),
  };
  return fileRecordOf(await call(signal, () => actor.updateFile(argument)));
}
