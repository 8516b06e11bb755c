// Share links over HTTP.

import type { LinkPage, LinksRequest, Signal } from '../connection/transport.ts';
import { checkedLink } from '../links/link-path.ts';
import { StorageError } from '../storage-error.ts';
import type { LinkRecord, LinkRequest, NewLink } from '../types/links.ts';
import { exchange, exchangeJson, type HttpConnection, postJson } from './exchange.ts';
import { bucketPath, queryOf } from './paths.ts';

function linksPath(bucket: string): string {
  return `${bucketPath(bucket)}/links`;
}

export async function createLink(
  connection: HttpConnection,
  request: LinkRequest,
): Promise<NewLink> {
  const { bucket, path, expiresAt, downloadName, signal } = request;
  const order = { path, expiresAt, downloadName };
  const made = await postJson<NewLink>(connection, { path: linksPath(bucket), order }, signal);
  return checkedLink(request, made);
}

export async function listLinks(
  connection: HttpConnection,
  { bucket, path, cursor, signal }: LinksRequest,
): Promise<LinkPage> {
  const query = queryOf({ path, cursor });
  const request = { method: 'GET', path: `${linksPath(bucket)}?${query}`, signal };
  const { items, nextCursor } = await exchangeJson<{
    items: LinkRecord[];
    nextCursor: string | null;
  }>(connection, request);
  return { items, nextCursor: nextCursor ?? undefined };
}

export async function removeLink(
  connection: HttpConnection,
  { bucket, id }: { readonly bucket: string; readonly id: string },
  signal: Signal,
): Promise<void> {
  // `fetch` would resolve dot segments to another path.
  if (!/^[\w-]+$/.test(id)) {
    throw new StorageError('InvalidArgument', `The link id ${JSON.stringify(id)} is not valid.`);
  }
  await exchange(connection, { method: 'DELETE', path: `${linksPath(bucket)}/${id}`, signal });
}
