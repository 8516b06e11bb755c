// Creates, lists and deletes upload links through actor calls.

import { checkedUploadLink, type UploadLinkOperations } from '../operations/upload-links.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { countOf, isoTime, optionals, optionalTime } from './candid-records.ts';

export const uploadLinkCalls: ActorCalls<UploadLinkOperations> = {
  createUploadLink: calling(
    ({ actor, apiKey }, { bucket, path, prefix, expiresAt, maxFileBytes, maxFiles }) =>
      actor.createUploadLink({
        ...{ bucketId: bucket, expiresAt: optionalTime(expiresAt) },
        ...optionals({ path, prefix, apiKey }),
        maxFileBytes: maxFileBytes === undefined ? [] : [BigInt(maxFileBytes)],
        maxFiles: maxFiles === undefined ? [] : [BigInt(maxFiles)],
      }),
    ({ expiresAt, ...made }, request) =>
      checkedUploadLink(request, { ...made, expiresAt: isoTime(expiresAt) }),
  ),
  listUploadLinks: calling(
    ({ actor, apiKey }, { bucket, cursor }) =>
      actor.listUploadLinks({ bucketId: bucket, limit: [], ...optionals({ cursor, apiKey }) }),
    ({ items, nextCursor }) => ({
      items: items.map((link) => ({
        id: link.id,
        path: link.path[0],
        prefix: link.prefix[0],
        createdAt: isoTime(link.createdAt),
        expiresAt: isoTime(link.expiresAt),
        maxFileBytes: countOf(link.maxFileBytes),
        maxFiles: countOf(link.maxFiles),
        fileCount: countOf(link.fileCount),
        createdBy: link.createdBy.toText(),
        keyId: link.keyId[0],
      })),
      nextCursor: nextCursor[0],
    }),
  ),
  removeUploadLink: calling(
    ({ actor, key }, { bucket, id }) => actor.deleteUploadLink(bucket, id, key),
    nothing,
  ),
};
