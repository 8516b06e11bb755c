// GET and HEAD of `/.well-known/{name}`, for everybody, certified.

import { findWellKnown } from '../domain/administration/well-known.ts';
import type { PublishedText } from '../domain/shared/publication.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { type CertifiedText, serveText } from './certified-text.ts';
import type { HttpResponse } from './message.ts';
import { formatHttpDate } from './preconditions.ts';
import type { Exchange } from './router.ts';

/** Lets scripts of other origins read the text, whatever the gateway adds. */
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

export function getWellKnown(exchange: Exchange): HttpResponse {
  const [name = ''] = exchange.captures;
  const text = findWellKnown(exchange.stores, name);
  if (text === undefined) {
    throw new Refusal('NoSuchFile', 'Nothing is set at this name below /.well-known/.');
  }
  const { body, updatedAtNs: lastModifiedNs } = text;
  return serveText(exchange, wellKnownText(text), { body: () => body, lastModifiedNs });
}
