// The paths of a site's files that have more addresses than their own.

import { stagingFolder } from '../../../packages/wire/src/limits.ts';

export const indexName = 'index.html';
export const cleanEnd = '.html';

/** Whether the file waits for a switch to its place, and is no part of the site until then. */
export function isStaged(path: string): boolean {
  return path.startsWith(stagingFolder);
}

/** Returns the addresses, besides its own, at which a file with that path can be served. */
export function addressesOf(path: string): string[] {
  if (isStaged(path)) return [];
  const own = `/${path}`;
  if (own.endsWith(`/${indexName}`)) {
    const folder = own.slice(0, -indexName.length);
    return [folder, folder.slice(0, -1)];
  }
  const clean = own.slice(0, -cleanEnd.length);
  const isClean = own.endsWith(cleanEnd) && !clean.endsWith('/');
  return isClean && !isReserved(clean) ? [clean] : [];
}

/** Certificates have labels of their own with these names, which an address would replace. */
function isReserved(address: string): boolean {
  return address.endsWith('/<*>') || address.endsWith('/<$>');
}
