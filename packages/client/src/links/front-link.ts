// Links at a front, `/s/{volume}/{id}/{name}?k=…#…`: the page there opens end-to-end files in a
// browser. The file itself is at the volume, `/s/{id}/{name}?k=…`.

import { addressBeside } from '../connection/canister-address.ts';
import { type Connection, trying } from '../connection/connection.ts';
import type { Signal } from '../connection/transport.ts';
import { StorageError } from '../storage-error.ts';
import type { NewLink } from '../types/links.ts';

/** Link ids have 16 characters; the shortest canister ids have more and contain hyphens. */
const pathPattern = /^\/s\/([a-z0-9]{5}(?:-[a-z0-9]{3,5})+)(\/[\w-]{16}\/[^/]+)$/;

const pagePattern = /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/s\/[a-z0-9-]+$/;

/** Returns the front's page for links as the answer names it, in a strict form. */
export function pageOf({ linkPage }: Pick<NewLink, 'linkPage'>): string | undefined {
  if (linkPage === undefined || pagePattern.test(linkPage)) return linkPage;
  throw new StorageError(
    'HttpError',
    `The service answered with an address that is not a page for links: ${JSON.stringify(linkPage)}.`,
  );
}

/**
 * Returns the front's page for links; `undefined` if the service has no front. Refuses a page that
 * one node invented: whoever opens a link there reveals its secrets to that page.
 */
export async function ownPage(
  connection: Connection,
  link: NewLink,
  signal: Signal,
): Promise<string | undefined> {
  const page = pageOf(link);
  const { certifiedPage } = connection.transport;
  if (page === undefined || certifiedPage === undefined) return page;
  const own = await trying(connection, signal, () => certifiedPage(signal));
  // An earlier service certifies only the front, not the volume
  const isOwn = own?.endsWith('/s/') ? page.startsWith(own) : page === own;
  if (isOwn) return page;
  throw new StorageError(
    'Untrusted',
    `The answer names the page ${page}, but the service certifies ${own ?? 'no front'}. Make the ` +
      'link again.',
    { isRetryable: true },
  );
}

/** Returns the link's address on the front's page; unchanged if the service has no front. */
export function addressAtFront({ url, id }: NewLink, page: string | undefined): string {
  return page === undefined ? url : page + url.slice(url.indexOf(`/${id}/`));
}

/** Returns the address of the same file at its volume; a link of a volume is returned as it is. */
export function volumeLink(link: URL): URL {
  const [, volume, rest] = pathPattern.exec(link.pathname) ?? [];
  if (volume === undefined || rest === undefined) return link;
  return new URL(`/s${rest}${link.search}${link.hash}`, addressBeside(link.origin, volume));
}
