// Addresses of links with a password. The fragment begins with `p.` and the salt; in an end-to-end
// bucket a dot and the masked key of the file follow. A page asks for the password: that of the
// front, as for other links, or the console of a volume without one, whose page is at `/` alone, so
// that the whole link is in the fragment:
//
//   https://{front}/s/{volume}/{id}/{name}#p.{salt}
//   https://{volume}/#/s/{id}/{name}/p.{salt}

import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import { StorageError } from '../storage-error.ts';

export const saltBytes = 16;
const saltPattern = /^p\.([\w-]{22})(?:\.([\w-]+))?$/;
const consolePattern = /^#(\/s\/[\w-]{16}\/[^/]+)\/(p\..+)$/;

interface LinkPlace {
  /** The path of the link. */
  readonly url: string;
  /** The volume's address. */
  readonly base: string;
  /** The front's page for links of the volume. */
  readonly page: string | undefined;
}

/** Returns the address of the page that asks for the password. */
export function lockedAddress({ url, base, page }: LinkPlace, salt: Uint8Array): string {
  const [path = ''] = url.split('?');
  const end = `p.${encodeBase64Url(salt)}`;
  return page === undefined ? `${base}/#${path}/${end}` : `${page}${path.slice(2)}#${end}`;
}

/** Converts the address of a console to that of the link, `/s/{id}/{name}#p.{salt}`. */
export function linkOf(address: URL): URL {
  const [, path, end] = consolePattern.exec(address.hash) ?? [];
  if (path === undefined || end === undefined || address.pathname !== '/') return address;
  return new URL(`${path}#${end}`, address.origin);
}

export interface Lock {
  readonly salt: Uint8Array;
  /** Masked; '' unless only clients can decrypt the file. */
  readonly fileKey: string;
}

/** Whether the link has a password, also if its address is cut off. */
export function isLocked({ hash }: URL): boolean {
  return hash.startsWith('#p.');
}

/** Returns `undefined` for a link without a password. `link`: as linkOf() returns it. */
export function lockOf(link: URL): Lock | undefined {
  const [end = ''] = link.hash.slice(1).split('/', 1);
  const [, encoded, fileKey = ''] = saltPattern.exec(end) ?? [];
  const salt = encoded === undefined ? undefined : decodeBase64Url(encoded);
  if (salt?.length === saltBytes) return { salt, fileKey };
  if (!isLocked(link)) return undefined;
  throw new StorageError('InvalidArgument', 'The link is cut off; use the complete link.');
}
