// Links: addresses by which whoever has one reads a file. Making one is tried once: made twice, one
// of them would be an address that nobody has.

import { type Connection, trying } from '../connection/connection.ts';
import type { LinkPage } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { LinkListOptions, LinkRecord, LinkRequest, NewLink } from '../types/links.ts';

export interface Links {
  /** For whoever may read the bucket. */
  create(request: LinkRequest): Promise<NewLink>;
  /** Those that are good, by path. */
  list(options: LinkListOptions): AsyncIterable<LinkRecord>;
  /** For who made it, owners of the bucket, and keys that may delete. */
  remove(bucket: string, id: string, options?: CallOptions): Promise<void>;
}

export function linksOf(connection: Connection): Links {
  const { transport } = connection;
  return {
    async create(request) {
      if (Number.isNaN(request.expiresAt?.getTime())) {
        throw new StorageError('InvalidArgument', 'expiresAt is no date.');
      }
      const link = await transport.createLink(request);
      return { ...link, url: transport.linkBase + link.url };
    },
    list: (options) => listLinks(connection, options),
    remove: (bucket, id, { signal } = {}) =>
      trying(connection, signal, async (attempt) => {
        try {
          await transport.removeLink(bucket, id, signal);
        } catch (error) {
          // Of a repeated removal, the answer to the first was lost.
          if (attempt === 1 || !isStorageError(error, 'NoSuchFile')) throw error;
        }
      }),
  };
}

async function* listLinks(
  connection: Connection,
  options: LinkListOptions,
): AsyncGenerator<LinkRecord> {
  let cursor: string | undefined;
  do {
    const request = { ...options, cursor };
    const page: LinkPage = await trying(connection, options.signal, () =>
      connection.transport.listLinks(request),
    );
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
