// Upload links.

import { type Connection, perform } from '../connection/connection.ts';
import { allItems } from '../connection/pages.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type {
  NewUploadLink,
  UploadLinkListOptions,
  UploadLinkRecord,
  UploadLinkRequest,
} from '../types/upload-links.ts';

export interface UploadLinks {
  /**
   * Creates an upload link: addresses by which a page without a key adds files, with PUT, a form or
   * tus, and can neither read nor replace any. Requires the right to write. Not retried: a second
   * link could remain whose address nobody has.
   *
   * @example
   * ```ts
   * const { putUrl } = await storage.uploadLinks.create({ bucket: 'demo', path: 'inbox/one.txt' });
   * await fetch(putUrl, { method: 'PUT', body: new Blob(['sent without a key']) });
   * ```
   */
  create(request: UploadLinkRequest): Promise<NewUploadLink>;
  /**
   * Lists upload links that have not expired: all to owners, and their own to other creators.
   *
   * @example
   * ```ts
   * for await (const { id, fileCount } of storage.uploadLinks.list({ bucket: 'demo' })) {
   *   console.log(id, fileCount);
   * }
   * ```
   */
  list(options: UploadLinkListOptions): AsyncIterable<UploadLinkRecord>;
  /**
   * Removes an upload link and ends its open uploads. Requires its creator, an owner of the bucket,
   * or a key that may write and delete.
   *
   * @example
   * ```ts
   * for await (const { id } of storage.uploadLinks.list({ bucket: 'demo' })) {
   *   await storage.uploadLinks.remove('demo', id);
   * }
   * ```
   */
  remove(bucket: string, id: string, options?: CallOptions): Promise<void>;
}

export function uploadLinksOf(connection: Connection): UploadLinks {
  return {
    async create(request) {
      if (Number.isNaN(request.expiresAt?.getTime())) {
        throw new StorageError('InvalidArgument', 'expiresAt is not a valid date.');
      }
      const link = await perform(connection, 'createUploadLink', request, request.signal);
      const { linkBase } = connection.transport;
      return {
        ...link,
        putUrl: linkBase + link.putUrl,
        formUrl: linkBase + link.formUrl,
        tusUrl: linkBase + link.tusUrl,
      };
    },
    list: ({ signal, ...wanted }) =>
      allItems((cursor) => perform(connection, 'listUploadLinks', { ...wanted, cursor }, signal)),
    remove: (bucket, id, { signal } = {}) =>
      perform(connection, 'removeUploadLink', { bucket, id }, signal),
  };
}
