// Lists and counts files through actor calls.

import { pageSizeMax } from '../../../wire/src/limits.ts';
import type { ListingOperations } from '../operations/listings.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { countOf, fileRecordOf, optional, optionals } from './candid-records.ts';

export const listingCalls: ActorCalls<ListingOperations> = {
  listFiles: calling(
    ({ actor, apiKey }, { bucket, prefix, sort, tag, page }) =>
      actor.listFiles({
        bucketId: bucket,
        ...optionals({ prefix, sort, tag, page, pageSize: pageSizeMax as number, apiKey }),
      }),
    ({ items, total, nextPage }) => ({
      items: items.map(fileRecordOf),
      total: Number(total),
      nextPage: countOf(nextPage),
    }),
  ),
  listFolder: calling(
    ({ actor, apiKey }, { bucket, prefix, delimiter, cursor, startAfter, limit, sort, tag }) =>
      actor.listFolder({
        bucketId: bucket,
        ...optionals({ prefix, delimiter, cursor, startAfter, limit, sort, tag, apiKey }),
      }),
    ({ items, folders, nextCursor }) => ({
      items: items.map(fileRecordOf),
      folders,
      nextCursor: nextCursor[0],
    }),
  ),
  usage: calling(
    ({ actor, key }, { bucket, prefix }) => actor.getUsage(bucket, optional(prefix), key),
    ({ files, bytes }) => ({ files: Number(files), bytes: Number(bytes) }),
  ),
};
