// GET and HEAD of the console's pages: `/` and what it is made of, for everybody, certified.

import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import {
  type ConsolePage,
  findConsolePage,
  readConsolePage,
} from '../domain/administration/console-pages.ts';
import type { CertifiedText } from './certified-text.ts';
import type { Header, HttpResponse } from './message.ts';

const sources = [
  "'self'",
  'https://icp-api.io',
  ...gatewayDomains.flatMap((domain) => [`https://${domain}`, `https://*.${domain}`]),
  'http://localhost:*',
  'http://*.localhost:*',
];

/**
 * Nothing runs but what comes with the version, and nothing frames it. It asks this canister, and
 * the network's own addresses for what only they answer.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  `connect-src ${sources.join(' ')}`,
  "frame-src 'self' blob:",
  "worker-src 'none'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Names of assets change with what is in them; that of the page does not. */
const lasting = 'public, max-age=31536000, immutable';

export function consoleText(page: ConsolePage): CertifiedText {
  const { address, size, digest, contentType, isCompressed } = page;
  const isAsset = address.startsWith('/assets/');
  const encoding: Header[] = isCompressed ? [['Content-Encoding', 'gzip']] : [];
  return {
    address,
    size,
    digest,
    validators: [['Cache-Control', isAsset ? lasting : 'no-cache']],
    representation: [
      ['Content-Type', contentType],
      ...encoding,
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'no-referrer'],
      ['Content-Security-Policy', policy],
      // The window of Internet Identity answers the page that opened it
      ['Cross-Origin-Opener-Policy', 'same-origin-allow-popups'],
    ],
  };
}

/** The page at a link, whose secrets are in the address; `undefined` where the build had none. */
export function consoleAtLink(): HttpResponse | undefined {
  const page = findConsolePage('/');
  if (page === undefined) return undefined;
  const headers: Header[] = [
    ...consoleText(page).representation,
    ['Cache-Control', 'private, no-store'],
    ['Vary', 'Sec-Fetch-Dest'],
    ['X-Robots-Tag', 'noindex'],
  ];
  return { status: 200, headers, body: readConsolePage(page) };
}
