// Moving all files under a prefix to another one, a bounded number a message.

import { present } from '../../lib/assert.ts';
import { decodeUtf8 } from '../../lib/text.ts';
import { movedFilesPerMessage } from '../../limits.ts';
import { authorize, type SentKey } from '../access/access.ts';
import { pathsWithPrefix } from '../listing/prefix-paths.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parsePrefix, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { moveFile } from './copies.ts';

export interface PrefixMove {
  readonly bucket: string;
  readonly fromPrefix: string;
  readonly toPrefix: string;
  readonly apiKey: SentKey;
}

export interface PrefixMoved {
  readonly moved: number;
  /** Nothing that can be moved is left under the former prefix. */
  readonly isDone: boolean;
  /** What stays where it is, such as a damaged file. */
  readonly failed: readonly { readonly path: string; readonly error: Refusal }[];
}

/** Refuses who may not move files there; looks at none of them. */
export function checkPrefixMoveRights(stores: Stores, call: Call, request: PrefixMove): void {
  const { bucket, apiKey, fromPrefix, toPrefix } = request;
  authorize(stores, call, { bucket, permission: 'read', apiKey, prefix: fromPrefix });
  authorize(stores, call, { bucket, permission: 'write', apiKey, prefix: toPrefix });
  authorize(stores, call, { bucket, permission: 'delete', apiKey, prefix: fromPrefix });
}

interface Move {
  readonly from: string;
  readonly to: string;
}

/** Refuses what moveFiles() would refuse as a whole; changes nothing. What is to be moved now. */
export function checkPrefixMove(
  stores: Stores,
  call: Call,
  request: PrefixMove,
): { readonly moves: readonly Move[]; readonly isLast: boolean } {
  const { bucket, toPrefix } = request;
  checkPrefixMoveRights(stores, call, request);
  const fromPrefix = parsePrefix(request.fromPrefix);
  // A file that is moved onto another one that is still to be moved would take its place.
  if (fromPrefix.startsWith(toPrefix) || toPrefix.startsWith(fromPrefix)) {
    throw new Refusal(
      'InvalidArgument',
      `One of the prefixes ${quote(fromPrefix)} and ${quote(toPrefix)} begins with the other: move the ` +
        'files to a third one first.',
    );
  }
  const wanted = { bucketId: bucket, prefix: fromPrefix, after: '' };
  const { paths, hasMore } = pathsWithPrefix(stores, wanted, movedFilesPerMessage);
  const moves = paths.map((bytes) => {
    const from = present(decodeUtf8(bytes), 'path of a file');
    return { from, to: parseFilePath(`/${toPrefix}${from.slice(fromPrefix.length)}`) };
  });
  return { moves, isLast: !hasMore };
}

/** Up to 1,000 files, each in place of what is at its new path. */
export function moveFiles(stores: Stores, call: Call, request: PrefixMove): PrefixMoved {
  const { moves, isLast } = checkPrefixMove(stores, call, request);
  const { bucket, apiKey } = request;
  const failed: { path: string; error: Refusal }[] = [];
  for (const { from, to } of moves) {
    try {
      moveFile(stores, call, { bucket, from, to: { path: to }, conditions: {}, apiKey });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      failed.push({ path: from, error });
    }
  }
  const moved = moves.length - failed.length;
  return { moved, isDone: isLast || moved === 0, failed };
}
