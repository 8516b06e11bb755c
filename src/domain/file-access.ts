// What callers with a key or a right of their own ask of a file: its record, some of its bytes, its
// end. Everybody's reading of public files is getPublicFile().

import { chunkBytesMax } from '../limits.ts';
import { authorize } from './access.ts';
import { isPublicBucket } from './buckets.ts';
import type { Call } from './caller.ts';
import { entityTag, type FileRecord, findFile, openFile, readFile, removeFile } from './files.ts';
import type { Permission } from './keys.ts';
import { parseFilePath, quote } from './names.ts';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from './preconditions.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export interface FileName {
  readonly bucket: string;
  readonly path: string;
  readonly apiKey: string | undefined;
}

function permittedFile(
  stores: Stores,
  call: Call,
  request: FileName & { readonly permission: Permission },
): FileRecord {
  const { bucket, permission, apiKey } = request;
  const isForAll = permission === 'read' && apiKey === undefined && isPublicBucket(stores, bucket);
  if (!isForAll) {
    authorize(stores, call, { bucket, permission, apiKey });
  }
  const path = parseFilePath(request.path);
  const file =
    permission === 'read' ? openFile(stores, bucket, path) : findFile(stores, bucket, path);
  if (file === undefined) {
    throw new Refusal('NoSuchFile', `There is no file ${quote(path)} in bucket ${bucket}.`);
  }
  return file;
}

/** The file's record, for those who may read the bucket; everybody, when it is public. */
export function getFile(stores: Stores, call: Call, request: FileName): FileRecord {
  return permittedFile(stores, call, { ...request, permission: 'read' });
}

/**
 * At most 1,900,000 bytes from `offset` on, fewer at the end of the file; none at its very end. An
 * offset beyond it is refused with InvalidRange, a length above the limit with EntityTooLarge.
 */
export function readFilePart(
  stores: Stores,
  call: Call,
  request: FileName & { readonly offset: bigint; readonly length: bigint },
): Uint8Array {
  const file = getFile(stores, call, request);
  const { offset, length } = request;
  if (length > BigInt(chunkBytesMax)) {
    throw new Refusal(
      'EntityTooLarge',
      `One call reads at most ${chunkBytesMax} bytes; ${length} were asked for.`,
      { limit: chunkBytesMax },
    );
  }
  if (offset > BigInt(file.size)) {
    throw new Refusal(
      'InvalidRange',
      `The file has ${file.size} bytes: offset ${offset} is beyond.`,
      {
        size: file.size,
      },
    );
  }
  const start = Number(offset);
  return readFile(stores, file, { start, end: Math.min(file.size, start + Number(length)) });
}

/** Refuses what deleteFile() would refuse; changes nothing. */
export function checkDeletion(
  stores: Stores,
  call: Call,
  request: FileName & { readonly conditions: WritePreconditions },
): FileRecord {
  const file = permittedFile(stores, call, { ...request, permission: 'delete' });
  checkWritePreconditions(entityTag(file), request.conditions);
  checkUnmodifiedSince(file.updatedAtNs, request.conditions);
  return file;
}

/** Deletes the file; a request's work does not grow with the file. */
export function deleteFile(
  stores: Stores,
  call: Call,
  request: FileName & { readonly conditions: WritePreconditions },
): void {
  removeFile(stores, checkDeletion(stores, call, request));
}
