// GET and HEAD of the pages that the build adds, certified for anybody: the console's `/` and its
// assets, and the description of the HTTP interface.

import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import type { ConsolePage } from '../domain/administration/console-pages.ts';
import type { CertifiedText } from './certified-text.ts';
import type { Header } from './message.ts';

/** Origins that the page may contact: gateways of volumes, and the agent endpoints. */
const services = [
  'https://icp-api.io',
  ...gatewayDomains.flatMap((domain) => [`https://${domain}`, `https://*.${domain}`]),
  'http://localhost:*',
  'http://*.localhost:*',
].join(' ');

/** Only code of this version runs, and no page may frame the console. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  `img-src 'self' blob: data: ${services}`,
  `media-src 'self' blob: ${services}`,
  "font-src 'self'",
  `connect-src 'self' ${services}`,
  // For PDF files, which the browser's own viewer shows at the address of their volume
  `frame-src 'self' blob: ${services}`,
  "worker-src 'none'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The name of an asset changes with its content; that of the page does not. */
const lasting = 'public, max-age=31536000, immutable';

export function consoleText(page: ConsolePage): CertifiedText {
  const { address, size, digest, contentType } = page;
  const isAsset = address.startsWith('/assets/');
  return {
    address,
    size,
    digest,
    validators: [['Cache-Control', isAsset ? lasting : 'no-cache']],
    representation: [
      ['Content-Type', contentType],
      ...encodingOf(page),
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'no-referrer'],
      ['Content-Security-Policy', policy],
      // The window of Internet Identity sends its answer to the page that opened it
      ['Cross-Origin-Opener-Policy', 'same-origin-allow-popups'],
    ],
  };
}

export function openApiText(page: ConsolePage): CertifiedText {
  const { address, size, digest } = page;
  return {
    address,
    size,
    digest,
    validators: [['Cache-Control', 'no-cache']],
    representation: [
      ...publicFields('application/json'),
      ...encodingOf(page),
      ['X-Content-Type-Options', 'nosniff'],
    ],
  };
}

function encodingOf({ isCompressed }: ConsolePage): Header[] {
  return isCompressed ? [['Content-Encoding', 'gzip']] : [];
}

/** Programs of every origin may read it. */
export function publicFields(type: string): Header[] {
  return [
    ['Content-Type', type],
    ['Content-Security-Policy', 'sandbox'],
    ['Access-Control-Allow-Origin', '*'],
  ];
}
