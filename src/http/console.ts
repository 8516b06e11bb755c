// GET and HEAD of the console's pages: `/` and its assets, certified for anybody.

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
 * Only code of this version runs, and no page may frame it. It connects to this canister, and to
 * the network's own addresses for answers that only they give.
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

/** The name of an asset changes with its content; that of the page does not. */
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
      // The window of Internet Identity sends its answer to the page that opened it
      ['Cross-Origin-Opener-Policy', 'same-origin-allow-popups'],
    ],
  };
}

/**
 * Returns the page at a link, whose address contains secrets; `undefined` if the build has none.
 */
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
