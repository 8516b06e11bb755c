// Copies, moves and changes files over HTTP.

import type { CopyRequest, PrefixMove, PrefixMoveAnswer, Signal } from '../connection/transport.ts';
import { type ErrorView, errorOfView } from '../storage-error.ts';
import type { FileChange, FileName, FileRecord } from '../types/files.ts';
import { exchangeJson, type HttpConnection, postJson } from './exchange.ts';
import { bucketPath, filePath } from './paths.ts';

export function sendCopy(
  connection: HttpConnection,
  { kind, request }: { readonly kind: 'copy' | 'move'; readonly request: CopyRequest },
  signal: Signal,
): Promise<FileRecord> {
  const { from, ...rest } = request;
  const order = { from: from.path, ...rest };
  return postJson(connection, { path: `${bucketPath(from.bucket)}/${kind}`, order }, signal);
}

export async function moveFiles(
  connection: HttpConnection,
  { bucket, fromPrefix, toPrefix }: PrefixMove,
  signal: Signal,
): Promise<PrefixMoveAnswer> {
  const post = { path: `${bucketPath(bucket)}/move`, order: { fromPrefix, toPrefix } };
  const { moved, isDone, failed } = await postJson<{
    moved: number;
    isDone: boolean;
    failed: { path: string; error: ErrorView }[];
  }>(connection, post, signal);
  const shown = failed.map(({ path, error }) => ({ path, error: errorOfView(error) }));
  return { moved, isDone, failed: shown };
}

export function changeFile(
  connection: HttpConnection,
  file: FileName,
  change: FileChange,
): Promise<FileRecord> {
  const { ifMatch, signal, ...fields } = change;
  const headers = {
    'Content-Type': 'application/json',
    ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
  };
  const body = JSON.stringify(fields);
  const path = filePath(file);
  return exchangeJson<FileRecord>(connection, { method: 'PATCH', path, headers, body, signal });
}
