// Creates, lists and deletes share links through actor calls.

import { checkedLink } from '../operations/link-path.ts';
import type { LinkOperations } from '../operations/links.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { isoTime, optionals, optionalTime } from './candid-records.ts';
import type { Optional } from './candid-types.ts';

export const linkCalls: ActorCalls<LinkOperations> = {
  createLink: calling(
    ({ actor, apiKey }, { bucket, path, expiresAt, downloadName }) =>
      actor.createLink({
        ...{ bucketId: bucket, path, expiresAt: optionalTime(expiresAt) },
        ...optionals({ downloadName, apiKey }),
      }),
    ({ linkPage = [], expiresAt, ...made }, request) =>
      checkedLink(request, { ...made, expiresAt: timeOf(expiresAt), linkPage: linkPage[0] }),
  ),
  listLinks: calling(
    ({ actor, apiKey }, { bucket, path, cursor }) =>
      actor.listLinks({ bucketId: bucket, limit: [], ...optionals({ path, cursor, apiKey }) }),
    ({ items, nextCursor }) => ({
      items: items.map(({ createdAt, expiresAt, maker, keyId, ...link }) => {
        const times = { createdAt: isoTime(createdAt), expiresAt: timeOf(expiresAt) };
        return { ...link, ...times, maker: maker[0]?.toText(), keyId: keyId[0] };
      }),
      nextCursor: nextCursor[0],
    }),
  ),
  removeLink: calling(
    ({ actor, key }, { bucket, id }) => actor.deleteLink(bucket, id, key),
    nothing,
  ),
};

function timeOf([timeNs]: Optional<bigint>): string | undefined {
  return timeNs === undefined ? undefined : isoTime(timeNs);
}
