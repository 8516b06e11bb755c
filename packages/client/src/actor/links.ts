// Share links by calls of the actor.

import type { LinkPage, LinksRequest } from '../connection/transport.ts';
import { checkedLink } from '../links/link-path.ts';
import type { LinkRequest, NewLink } from '../types/links.ts';
import { isoTime, optional } from './candid-records.ts';
import type { Optional } from './candid-types.ts';
import { call, type Service } from './connection.ts';

export async function createLink(
  { actor, apiKey }: Service,
  request: LinkRequest,
): Promise<NewLink> {
  const { bucket, path, expiresAt, downloadName, signal } = request;
  const made = await call(signal, () =>
    actor.createLink({
      bucketId: bucket,
      path,
      expiresAt: optional(expiresAt && BigInt(expiresAt.getTime()) * 1_000_000n),
      downloadName: optional(downloadName),
      apiKey: optional(apiKey),
    }),
  );
  return checkedLink(request, { ...made, expiresAt: timeOf(made.expiresAt) });
}

export async function listLinks(
  { actor, apiKey }: Service,
  { bucket, path, cursor, signal }: LinksRequest,
): Promise<LinkPage> {
  const { items, nextCursor } = await call(signal, () =>
    actor.listLinks({
      bucketId: bucket,
      path: optional(path),
      cursor: optional(cursor),
      limit: [],
      apiKey: optional(apiKey),
    }),
  );
  return {
    items: items.map(({ createdAt, expiresAt, maker, keyId, ...link }) => {
      const times = { createdAt: isoTime(createdAt), expiresAt: timeOf(expiresAt) };
      return { ...link, ...times, maker: maker[0]?.toText(), keyId: keyId[0] };
    }),
    nextCursor: nextCursor[0],
  };
}

function timeOf([timeNs]: Optional<bigint>): string | undefined {
  return timeNs === undefined ? undefined : isoTime(timeNs);
}
