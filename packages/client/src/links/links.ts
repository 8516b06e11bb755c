// Share links.

import { type Connection, perform } from '../connection/connection.ts';
import { allItems } from '../connection/pages.ts';
import type { NewLinkRequest } from '../operations/links.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { LinkListOptions, LinkRecord, LinkRequest, NewLink } from '../types/links.ts';
import { ownPage } from './front-link.ts';
import { lockedAddress } from './locked-link.ts';

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

/** Loads the code on demand: few links have a password. */
async function lockFor(password: string) {
  const { newLock } = await import('./link-password.ts');
  return newLock(password);
}

function requireValid({ expiresAt, maxDownloads = 1 }: LinkRequest): void {
  if (Number.isNaN(expiresAt?.getTime())) {
    throw new StorageError('InvalidArgument', 'expiresAt is not a valid date.');
  }
  if (Number.isSafeInteger(maxDownloads) && maxDownloads > 0) return;
  throw new StorageError(
    'InvalidArgument',
    `maxDownloads is ${maxDownloads}; it must be a whole number from 1, or be omitted.`,
  );
}

/** Refuses a link without the requested limits, as an earlier version of the service makes it. */
function requireBounds(
  made: NewLink,
  { passwordProof, maxDownloads, title }: NewLinkRequest,
): void {
  const isLocked = made.hasPassword === true || passwordProof === undefined;
  if (isLocked && made.maxDownloads === maxDownloads && made.title === title) return;
  throw new StorageError(
    'Unsupported',
    'This version of the service makes no links with a password, a maximum of downloads or a title: upgrade it.',
  );
}

export function linksOf(connection: Connection): Links {
  return {
    async create({ password, signal, ...request }) {
      requireValid(request);
      const lock = password === undefined ? undefined : await lockFor(password);
      const order = { ...request, passwordProof: lock?.proof };
      const link = await perform(connection, 'createLink', order, signal);
      try {
        requireBounds(link, order);
        const base = connection.transport.linkBase;
        if (lock === undefined) {
          const url = base + link.url;
          return { ...link, url, ...(link.title !== undefined && { pageUrl: `${url}&page` }) };
        }
        const page = await ownPage(connection, link, signal);
        return { ...link, url: lockedAddress({ url: link.url, base, page }, lock.salt) };
      } catch (error) {
        // Without the signal, because an aborted call must leave no link either
        const made = { bucket: request.bucket, id: link.id };
        await perform(connection, 'removeLink', made, undefined).catch(() => {});
        throw error;
      }
    },
    list: ({ signal, ...wanted }) =>
      allItems((cursor) => perform(connection, 'listLinks', { ...wanted, cursor }, signal)),
    remove: (bucket, id, { signal } = {}) =>
      perform(connection, 'removeLink', { bucket, id }, signal),
  };
}
