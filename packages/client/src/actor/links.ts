// Creates, lists and deletes share links through actor calls.

import { checkedLink } from '../operations/link-path.ts';
import type { LinkOperations } from '../operations/links.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { isoTime, optionals, optionalTime } from './candid-records.ts';
import type { Optional } from './candid-types.ts';

export const linkCalls: ActorCalls<LinkOperations> = {
  createLink: calling(
    (
      { actor, apiKey },
      { bucket, path, expiresAt, downloadName, passwordProof, maxDownloads, title },
    ) =>
      actor.createLink({
        ...{ bucketId: bucket, path, expiresAt: optionalTime(expiresAt) },
        ...optionals({ downloadName, passwordProof, maxDownloads, title, apiKey }),
      }),
    ({ linkPage = [], expiresAt, hasPassword, maxDownloads, title, ...made }, request) =>
      checkedLink(request, {
        ...{ ...made, expiresAt: timeOf(expiresAt), linkPage: linkPage[0] },
        ...boundsOf({ hasPassword, maxDownloads, title }),
      }),
  ),
  listLinks: calling(
    ({ actor, apiKey }, { bucket, path, cursor }) =>
      actor.listLinks({ bucketId: bucket, limit: [], ...optionals({ path, cursor, apiKey }) }),
    ({ items, nextCursor }) => ({
      items: items.map(({ createdAt, expiresAt, maker, keyId, downloadCount = [], ...link }) => {
        const times = { createdAt: isoTime(createdAt), expiresAt: timeOf(expiresAt) };
        const made = { ...times, maker: maker[0]?.toText(), keyId: keyId[0] };
        return { ...link, ...made, ...boundsOf(link), downloadCount: countOf(downloadCount) };
      }),
      nextCursor: nextCursor[0],
    }),
  ),
  removeLink: calling(
    ({ actor, key }, { bucket, id }) => actor.deleteLink(bucket, id, key),
    nothing,
  ),
};

/** A service of an earlier version returns neither. */
function boundsOf({ hasPassword = [], maxDownloads = [], title = [] }: SentBounds) {
  return { hasPassword: hasPassword[0], maxDownloads: countOf(maxDownloads), title: title[0] };
}

interface SentBounds {
  readonly hasPassword?: Optional<boolean>;
  readonly maxDownloads?: Optional<bigint>;
  readonly title?: Optional<string>;
}

function countOf([count]: Optional<bigint>): number | undefined {
  return count === undefined ? undefined : Number(count);
}

function timeOf([timeNs]: Optional<bigint>): string | undefined {
  return timeNs === undefined ? undefined : isoTime(timeNs);
}
