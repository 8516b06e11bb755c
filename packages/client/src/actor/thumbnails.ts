// Stores thumbnails through actor calls.

import type { ThumbnailOperations } from '../operations/thumbnails.ts';
import { type ActorCalls, calling } from './actor-call.ts';

export const thumbnailCalls: ActorCalls<ThumbnailOperations> = {
  putThumbnail: calling(
    ({ actor, key }, { bucket, path, etag, bytes }) =>
      actor.putThumbnail({ bucketId: bucket, path, etag, bytes, apiKey: key }),
    () => undefined,
  ),
};
