// Share links.

import { type Connection, perform } from '../connection/connection.ts';
import { allItems } from '../connection/pages.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { LinkListOptions, LinkRecord, LinkRequest, NewLink } from '../types/links.ts';

export interface Links {
  /**
   * Creates a link to a file. Requires the right to read the bucket. Not retried: a second link
   * could remain whose address nobody has.
   *
   * @example
   * ```ts
   * const expiresAt = new Date(Date.now() + 86_400_000);
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { url } = await storage.links.create({ ...file, expiresAt });
   * console.log(url);
   * ```
   */
  create(request: LinkRequest): Promise<NewLink>;
  /**
   * Lists the links that still work, in the order of their paths.
   *
   * @example
   * ```ts
   * for await (const { id, path } of storage.links.list({ bucket: 'demo' })) {
   *   console.log(id, path);
   * }
   * ```
   */
  list(options: LinkListOptions): AsyncIterable<LinkRecord>;
  /**
   * Removes a link. Requires its maker, an owner of the bucket, or a key that may delete.
   *
   * @example
   * ```ts
   * for await (const { id } of storage.links.list({ bucket: 'demo' })) {
   *   await storage.links.remove('demo', id);
   * }
   * ```
   */
  remove(bucket: string, id: string, options?: CallOptions): Promise<void>;
}

export function linksOf(connection: Connection): Links {
  return {
    async create(request) {
      if (Number.isNaN(request.expiresAt?.getTime())) {
        throw new StorageError('InvalidArgument', 'expiresAt is not a valid date.');
      }
      const link = await perform(connection, 'createLink', request, request.signal);
      return { ...link, url: connection.transport.linkBase + link.url };
    },
    list: ({ signal, ...wanted }) =>
      allItems((cursor) => perform(connection, 'listLinks', { ...wanted, cursor }, signal)),
    remove: (bucket, id, { signal } = {}) =>
      perform(connection, 'removeLink', { bucket, id }, signal),
  };
}
