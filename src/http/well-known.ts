// Header fields of the texts at `/.well-known/{name}` that controllers set.

import type { PublishedText } from '../domain/shared/publication.ts';
import type { CertifiedText } from './certified-text.ts';
import { formatHttpDate } from './preconditions.ts';

/** Allows scripts of other origins to read the text, whatever the gateway adds. */
export function wellKnownText(text: PublishedText): CertifiedText {
  return {
    address: `/.well-known/${text.name}`,
    size: text.body.length,
    digest: text.digest,
    validators: [
      ['Last-Modified', formatHttpDate(text.updatedAtNs)],
      ['Cache-Control', 'public, max-age=300'],
    ],
    representation: [
      ['Content-Type', text.contentType],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Security-Policy', 'sandbox'],
      ['Access-Control-Allow-Origin', '*'],
    ],
  };
}
