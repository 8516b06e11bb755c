// Moves of all files under a prefix to another one, a bounded number per message.

import { present } from '../../lib/assert.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { movedFilesPerMessage } from '../../limits.ts';
import { cursorOf, parseCursor } from '../listing/cursors.ts';
import { pathsWithPrefix } from '../listing/prefix-paths.ts';
import type { ApiKey } from '../rights/api-keys.ts';
import { authorize, requireBypassRight, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseNewPath, parsePrefix, quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { createWorkLimit, leavesOfMove } from './bulk-work.ts';
import { checkCopy, moveChecked } from './copies.ts';

export interface PrefixMove {
  readonly bucket: string;
  readonly fromPrefix: string;
  readonly toPrefix: string;
  /** The cursor that the previous call returned, for the files behind those that it tried. */
  readonly cursor?: string | undefined;
  /** For owners: moves also files that are retained in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
  readonly apiKey: SentKey;
}

export interface PrefixMoved {
  readonly moved: number;
  /** Whether every file under the former prefix was tried, from the cursor on. */
  readonly isDone: boolean;
  /** Present unless the move is done. A call without it would first meet the failed files again. */
  readonly nextCursor: string | undefined;
  /** Files that were not moved, such as damaged ones or those whose new path would be too long. */
  readonly failed: readonly { readonly path: string; readonly error: Refusal }[];
}

/** Refuses callers who may not move files there, without looking at files. Returns the sent key. */
export function checkPrefixMoveRights(
  stores: Stores,
  call: Call,
  request: PrefixMove,
): ApiKey | undefined {
  const { bucket, fromPrefix, toPrefix } = request;
  const source = { bucket, prefix: fromPrefix };
  const { key: apiKey } = authorize(stores, call, {
    ...source,
    permission: 'read',
    apiKey: request.apiKey,
  });
  authorize(stores, call, { bucket, permission: 'write', apiKey, prefix: toPrefix });
  authorize(stores, call, { ...source, permission: 'delete', apiKey });
  const { bypassesGovernance } = request;
  requireBypassRight(stores, call, { bypassesGovernance, claim: { ...source, apiKey } });
  return apiKey;
}

interface PlannedMoves {
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  readonly isLast: boolean;
  /** The key of all moves, looked up once. */
  readonly apiKey: ApiKey | undefined;
}

/** Refuses what moveFiles() would refuse as a whole; changes nothing. Returns the files to move. */
export function checkPrefixMove(stores: Stores, call: Call, request: PrefixMove): PlannedMoves {
  const { bucket, toPrefix } = request;
  const apiKey = checkPrefixMoveRights(stores, call, request);
  const fromPrefix = parsePrefix(request.fromPrefix);
  // With overlapping prefixes, a moved file could replace one that has not been moved yet.
  if (fromPrefix.startsWith(toPrefix) || toPrefix.startsWith(fromPrefix)) {
    throw new Refusal(
      'InvalidArgument',
      `The prefixes ${quote(fromPrefix)} and ${quote(toPrefix)} overlap, as one begins with the other: move the ` +
        'files to a third prefix first.',
    );
  }
  // Refuses a prefix that no path can have; a single path is refused with its file.
  parseNewPath(`/${toPrefix}x`);
  const { cursor } = request;
  const after = cursor === undefined ? '' : (decodeUtf8(parseCursor(cursor)) ?? '');
  const wanted = { bucketId: bucket, prefix: fromPrefix, after };
  const { paths, hasMore } = pathsWithPrefix(stores, wanted, movedFilesPerMessage);
  const moves = paths.map((bytes) => {
    const from = present(decodeUtf8(bytes), 'path of a file');
    return { from, to: `/${toPrefix}${from.slice(fromPrefix.length)}` };
  });
  return { moves, isLast: !hasMore, apiKey };
}

/** Moves at most 1,000 files, fewer with many chunks and links; replaces files at the new paths. */
export function moveFiles(stores: Stores, call: Call, request: PrefixMove): PrefixMoved {
  const { moves, isLast, apiKey } = checkPrefixMove(stores, call, request);
  const { bucket, bypassesGovernance } = request;
  const failed: { path: string; error: Refusal }[] = [];
  const limit = createWorkLimit();
  let moved = 0;
  let last = '';
  let isDone = isLast;
  for (const { from, to } of moves) {
    const order = { bucket, from, to: { path: to }, conditions: {}, bypassesGovernance, apiKey };
    const done = valueOrRefusal(() => {
      const prepared = checkCopy(stores, call, 'move', order);
      const leaves = leavesOfMove(stores, prepared.source, prepared);
      if (!limit.fits(leaves)) return { isRoom: false };
      moveChecked(stores, call, prepared);
      limit.spend(leaves);
      return { isRoom: true };
    });
    if (!(done instanceof Refusal) && !done.isRoom) {
      isDone = false;
      break;
    }
    last = from;
    if (done instanceof Refusal) failed.push({ path: from, error: done });
    else moved += 1;
  }
  const nextCursor = isDone ? undefined : cursorOf(encodeUtf8(last));
  return { moved, isDone, nextCursor, failed };
}
