// Pages and texts that the canister serves by itself, according to its part in the service. All are
// certified, and none depends on a request: a front serves nothing else over HTTP.

import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import { sha256 } from '../crypto/hash.ts';
import {
  type ConsolePage,
  consolePages,
  findConsolePage,
  readConsolePage,
} from '../domain/administration/console-pages.ts';
import { findWellKnown } from '../domain/administration/well-known.ts';
import { serviceRole } from '../domain/shared/role-record.ts';
import type { Front, ServiceRole } from '../domain/shared/service-role.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { type CertifiedText, serveText } from './certified-text.ts';
import { consoleText } from './console.ts';
import type { Header, HttpResponse } from './message.ts';
import { type Exchange, refuseNowhere } from './router.ts';
import { wellKnownText } from './well-known.ts';

export interface Page {
  readonly text: CertifiedText;
  /** Absent for pages that change only with the code. */
  readonly lastModifiedNs?: bigint;
  body(): Uint8Array;
}

/** Everything below it has the page that opens links to end-to-end files. */
const linkPageAddress = '/s/<*>';

const wellKnownFolder = '/.well-known/';
const serviceAddress = `${wellKnownFolder}efs-service`;
const originsAddress = `${wellKnownFolder}ii-alternative-origins`;

/** All pages of the canister but the texts that controllers have set. */
export function pagesOf(stores: Stores): Page[] {
  const role = serviceRole(stores);
  return [...mainPages(role), ...textPages(role)];
}

function mainPages(role: ServiceRole): Page[] {
  if (role.kind === 'volume' && role.front !== undefined) return [pointerPage(role.front)];
  const pages = consolePages().map((page) => pageOfConsole(page));
  const index = findConsolePage('/');
  const hasLinkPage = role.kind === 'front' && index !== undefined;
  return hasLinkPage ? [...pages, pageOfConsole(index, linkPageAddress)] : pages;
}

/** Returns the page at a percent-decoded path, `/s/<*>` being that of all paths below `/s/`. */
export function findPage(stores: Stores, address: string): Page | undefined {
  const role = serviceRole(stores);
  if (address.startsWith(wellKnownFolder)) {
    const set = findWellKnown(stores, address.slice(wellKnownFolder.length));
    if (set === undefined) return textPages(role).find(({ text }) => text.address === address);
    return { text: wellKnownText(set), body: () => set.body, lastModifiedNs: set.updatedAtNs };
  }
  if (role.kind === 'volume' && role.front !== undefined) {
    return address === '/' ? pointerPage(role.front) : undefined;
  }
  if (role.kind === 'front' && address.startsWith('/s/')) {
    const index = findConsolePage('/');
    return index && pageOfConsole(index, linkPageAddress);
  }
  const page = findConsolePage(address);
  return page && pageOfConsole(page);
}

function pageOfConsole(page: ConsolePage, address = page.address): Page {
  return { text: { ...consoleText(page), address }, body: () => readConsolePage(page) };
}

/** At the address of a volume that has a front: no script runs there, so no secret is entered. */
function pointerPage({ url }: Front): Page {
  const html =
    '<!doctype html><html lang="en"><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width">' +
    '<title>Encrypted File Storage</title>' +
    '<p>This canister stores files. The console of its service is at ' +
    `<a href="${url}/">${url}/</a>.</p></html>\n`;
  return pageOf('/', html, [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"],
    ['Referrer-Policy', 'no-referrer'],
  ]);
}

/** Programs read these. */
function textPages(role: ServiceRole): Page[] {
  const service = jsonPage(serviceAddress, shownRole(role));
  if (role.kind === 'volume') return [service];
  // Internet Identity makes one principal of a person at all addresses of the front
  const alternativeOrigins = gatewayDomains
    .slice(1)
    .map((domain) => `https://${role.id}.${domain}`);
  return [service, jsonPage(originsAddress, { alternativeOrigins })];
}

function shownRole(role: ServiceRole): object {
  if (role.kind === 'volume') {
    const { front } = role;
    return { role: role.kind, front: front ? { canisterId: front.id, url: front.url } : null };
  }
  const volumes = role.volumes.map((canisterId) => ({ canisterId }));
  return { role: role.kind, canisterId: role.id, volumes };
}

function jsonPage(address: string, value: object): Page {
  return pageOf(address, `${JSON.stringify(value)}\n`, [
    ['Content-Type', 'application/json'],
    ['Content-Security-Policy', 'sandbox'],
    ['Access-Control-Allow-Origin', '*'],
  ]);
}

function pageOf(address: string, content: string, representation: readonly Header[]): Page {
  const bytes = encodeUtf8(content);
  return {
    text: {
      address,
      size: bytes.length,
      digest: sha256(bytes),
      validators: [['Cache-Control', 'no-cache']],
      representation: [...representation, ['X-Content-Type-Options', 'nosniff']],
    },
    body: () => bytes,
  };
}

/** GET and HEAD of a page, for everybody. */
export function getPage(exchange: Exchange): HttpResponse {
  const [name = ''] = exchange.captures;
  const address = `/${name}`;
  const page = findPage(exchange.stores, address);
  if (page === undefined) return refuseNowhere(address);
  const { text, body, lastModifiedNs } = page;
  return serveText(exchange, text, { body, lastModifiedNs });
}
