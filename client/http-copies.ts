// Copies, moves and changes of files over HTTP.

import { exchangeJson, type HttpConnection } from './http-exchange.ts';
import { bucketPath, filePath } from './http-paths.ts';
import type { FileName, FileRecord } from './interface.ts';
import type { FileChange } from './operations.ts';
import { type ErrorView, errorOfView } from './storage-error.ts';
import type { CopyRequest, PrefixMove, PrefixMoveAnswer, Signal } from './transport.ts';

const json = { 'Content-Type': 'application/json' };

export function sendCopy(
  connection: HttpConnection,
  { kind, request }: { readonly kind: 'copy' | 'move'; readonly request: CopyRequest },
  signal: Signal,
): Promise<FileRecord> {
  const { from, to, ifMatch, ifNoneMatch } = request;
  const order = { from: from.path, to, ifMatch, ifNoneMatch };
  const path = `${bucketPath(from.bucket)}/${kind}`;
  const body = JSON.stringify(order);
  return exchangeJson<FileRecord>(connection, {
    method: 'POST',
    path,
    headers: json,
    body,
    signal,
  });
}

export async function moveFiles(
  connection: HttpConnection,
  { bucket, fromPrefix, toPrefix }: PrefixMove,
  signal: Signal,
): Promise<PrefixMoveAnswer> {
  const { moved, isDone, failed } = await exchangeJson<{
    moved: number;
    isDone: boolean;
    failed: { path: string; error: ErrorView }[];
  }>(connection, {
    method: 'POST',
    path: `${bucketPath(bucket)}/move`,
    headers: json,
    body: JSON.stringify({ fromPrefix, toPrefix }),
    signal,
  });
  const shown = failed.map(({ path, error }) => ({ path, error: errorOfView(error) }));
  return { moved, isDone, failed: shown };
}

export function changeFile(
  connection: HttpConnection,
  file: FileName,
  change: FileChange,
): Promise<FileRecord> {
  const { ifMatch, signal, ...fields } = change;
  const headers = { ...json, ...(ifMatch !== undefined && { 'If-Match': ifMatch }) };
  const body = JSON.stringify(fields);
  const path = filePath(file);
  return exchangeJson<FileRecord>(connection, { method: 'PATCH', path, headers, body, signal });
}
