// Links at a front, `/s/{volume}/{id}/{name}?k=…#…`: the page there opens end-to-end files in a
// browser. The file itself is at the volume, `/s/{id}/{name}?k=…`.

import { addressBeside } from '../connection/canister-address.ts';

/** Link ids have 16 characters; the shortest canister ids have more and contain hyphens. */
const pathPattern = /^\/s\/([a-z0-9]{5}(?:-[a-z0-9]{3,5})+)(\/[\w-]{16}\/[^/]+)$/;

/** Returns the address of the same file at its volume; a link of a volume is returned as it is. */
export function volumeLink(link: URL): URL {
  const [, volume, rest] = pathPattern.exec(link.pathname) ?? [];
  if (volume === undefined || rest === undefined) return link;
  return new URL(`/s${rest}${link.search}${link.hash}`, addressBeside(link.origin, volume));
}
