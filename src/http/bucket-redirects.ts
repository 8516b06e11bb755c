// Redirects of a front from `/b/{bucket}` to the public buckets of its volumes.

import { findPublicAddress } from '../domain/administration/public-addresses.ts';
import type { PublicAddress } from '../domain/shared/publication.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { emptyBytes } from '../lib/bytes.ts';
import type { SiteAnswer } from './message.ts';

const pattern = /\/b\/([A-Za-z0-9-]{1,64})\/?$/y;

/** Returns the redirect at the percent-decoded path of a front. */
export function bucketRedirectAt(stores: Stores, path: string): SiteAnswer | undefined {
  pattern.lastIndex = 0;
  const id = pattern.exec(path)?.[1];
  const found = id === undefined ? undefined : findPublicAddress(stores, id);
  return found && bucketRedirect(found);
}

/**
 * Redirects every method, because only then is the answer to each request certified. A change needs
 * a new version of the mark in publication.ts (tests/certification/golden-leaves.test.ts).
 */
export function bucketRedirect({ bucketId, origin }: PublicAddress): SiteAnswer {
  return {
    status: 307,
    headers: [
      ['Location', `${origin}/cloud/${bucketId}/`],
      ['Cache-Control', 'no-cache'],
      ['Access-Control-Allow-Origin', '*'],
    ],
    body: emptyBytes,
  };
}
