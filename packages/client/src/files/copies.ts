// Copies and moves. If the response to an earlier attempt was lost, a retry finds its precondition
// false or its source gone, so the target is compared with the source.

import { type Connection, perform, trying } from '../connection/connection.ts';
import type { Signal } from '../connection/transport.ts';
import type { CopyRequest, PrefixMoveAnswer } from '../operations/files.ts';
import { isStorageError } from '../storage-error.ts';
import { ageType } from '../types/end-to-end.ts';
import type {
  CopyFileOptions,
  CopyTarget,
  FileName,
  FileRecord,
  MoveAllOptions,
  MovedFiles,
  MoveOptions,
} from '../types/files.ts';
import { requireVersionNumber } from '../types/version-number.ts';

type FailedMove = MovedFiles['failed'][number];

interface Order {
  readonly from: FileName;
  readonly to: CopyTarget;
  readonly options: CopyFileOptions & MoveOptions;
}

export async function copyFile(connection: Connection, order: Order): Promise<FileRecord> {
  const { transport } = connection;
  const request = requestOf(order);
  requireVersionNumber(request.version);
  const { signal } = order.options;
  return trying(connection, signal, async (attempt) => {
    try {
      return await transport.copyFile(request, signal);
    } catch (error) {
      if (attempt === 1 || !isStorageError(error, 'PreconditionFailed')) throw error;
      const source = await findFile(connection, order.from, signal, request.version);
      if (source === undefined || !isMeant(request, source)) throw error;
      return requireCopy(connection, { request, source, error, signal });
    }
  });
}

/**
 * Reads the source's record first, since it cannot be read after the move. If the source is gone
 * and the target equals it, the move has succeeded; the network itself may send a request twice.
 */
export async function moveFile(connection: Connection, order: Order): Promise<FileRecord> {
  const { transport } = connection;
  const request = requestOf(order);
  const { signal } = order.options;
  const { bucket, path } = order.from;
  const source = await perform(connection, 'getFile', { bucket, path }, signal);
  return trying(connection, signal, async () => {
    try {
      return await transport.moveFile(request, signal);
    } catch (error) {
      if (!isStorageError(error, 'NoSuchFile')) throw error;
      return requireCopy(connection, { request, source, error, signal });
    }
  });
}

/** Returns whether the source can have met the condition. */
export function isMeant(
  { ifSourceMatch = '*' }: Pick<CopyRequest, 'ifSourceMatch'>,
  { etag }: FileRecord,
): boolean {
  return ifSourceMatch.trim() === '*' || ifSourceMatch.includes(`"${etag}"`);
}

function requestOf({ from, to, options }: Order): CopyRequest {
  const { signal: _, ...wanted } = options;
  const { bucket = from.bucket, path } = to;
  return { ...wanted, from, to: { bucket, path } };
}

/** Returns the file at the target if it equals the copy; throws the attempt's error otherwise. */
async function requireCopy(
  connection: Connection,
  repeated: {
    readonly request: CopyRequest;
    readonly source: FileRecord;
    readonly error: unknown;
    readonly signal: Signal;
  },
): Promise<FileRecord> {
  const { request, source, error, signal } = repeated;
  const found = await findFile(connection, request.to, signal);
  const { contentType, tags, metadata } = request;
  // The service normalizes tags, and stores only age's type for encrypted files.
  const isSealed = found?.contentType === ageType;
  const copy = {
    ...source,
    ...(contentType !== undefined && { contentType: isSealed ? ageType : contentType }),
    ...(tags && { tags: [...new Set(tags.map((tag) => tag.trim()).filter(Boolean))] }),
    ...(metadata && { metadata }),
  };
  if (found !== undefined && describe(found) === describe(copy)) return found;
  throw error;
}

export async function findFile(
  { transport }: Connection,
  { bucket, path }: FileName,
  signal: Signal,
  version?: number,
): Promise<FileRecord | undefined> {
  try {
    return await transport.getFile({ bucket, path, version }, signal);
  } catch (error) {
    if (isStorageError(error, 'NoSuchFile')) return undefined;
    throw error;
  }
}

/** The fields that a copy shares with its source. */
function describe({ etag, size, contentType, tags, metadata = {} }: FileRecord): string {
  return JSON.stringify([etag, size, contentType, tags, Object.entries(metadata)]);
}

/** Moves a prefix. Each request continues behind the files that the previous one tried. */
export async function moveAll(
  connection: Connection,
  { signal, ...move }: MoveAllOptions,
): Promise<MovedFiles> {
  const filesBefore = await countFiles(connection, move, signal);
  const failed: FailedMove[] = [];
  let moved = 0;
  let isLost = false;
  let cursor: string | undefined;
  do {
    const answer: PrefixMoveAnswer = await trying(connection, signal, (attempt) => {
      isLost ||= attempt > 1;
      return connection.transport.moveFiles({ ...move, cursor }, signal);
    });
    moved += answer.moved;
    failed.push(...answer.failed);
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  if (isLost && filesBefore !== undefined) {
    const left = await countFiles(connection, move, signal);
    moved = Math.max(moved, filesBefore - (left ?? filesBefore));
  }
  return { moved, failed };
}

/** Returns undefined while the service cannot count; the move works without the count. */
function countFiles(
  connection: Connection,
  { bucket, fromPrefix: prefix }: MoveAllOptions,
  signal: Signal,
): Promise<number | undefined> {
  return trying(connection, signal, async () => {
    try {
      return (await connection.transport.usage({ bucket, prefix }, signal)).files;
    } catch (error) {
      if (isStorageError(error, 'ServiceUnavailable')) return undefined;
      throw error;
    }
  });
}
