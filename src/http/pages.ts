// Pages and texts that the canister serves by itself, depending on its role in the service. All are
// certified, and none depends on the request: a front serves nothing else over HTTP.

import { gatewayDomains } from '../../packages/wire/src/gateways.ts';
import {
  type ConsolePage,
  consolePages,
  readConsolePage,
} from '../domain/administration/console-pages.ts';
import { conditionOf, volumeStates } from '../domain/administration/volume-states.ts';
import { findWellKnown } from '../domain/administration/well-known.ts';
import { isoTime } from '../domain/files/file-view.ts';
import type { PublishedText } from '../domain/shared/publication.ts';
import { serviceRole } from '../domain/shared/role-record.ts';
import {
  type Front,
  type FrontRole,
  networkUrl,
  type ServiceRole,
  type VolumeRole,
} from '../domain/shared/service-role.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';
import { serveText } from './certified-text.ts';
import { consoleText, openApiText } from './console.ts';
import { architecturePage, derivationPage, toolsPage } from './discovery.ts';
import type { HttpResponse } from './message.ts';
import { jsonPage, type Page, pageOf, wellKnownFolder } from './page.ts';
import { type Exchange, refuseNowhere } from './router.ts';
import { wellKnownText } from './well-known.ts';

/**
 * The page that opens links to end-to-end files: at this address of a front, and below it. The
 * empty segment keeps requests for a segment `<*>` apart from the wildcard.
 */
const linkFolder = '/s';
const linkPageAddress = `${linkFolder}//<*>`;

/** The description of the HTTP interface (OpenAPI 3.1), for volumes. */
const openApiAddress = '/openapi.json';

/** RFC 9727. */
const catalogAddress = `${wellKnownFolder}api-catalog`;
const serviceAddress = `${wellKnownFolder}efs-service`;
const originsAddress = `${wellKnownFolder}ii-alternative-origins`;

/** Returns all pages of the canister except the texts that controllers set. */
export function pagesOf(stores: Stores): Page[] {
  const role = serviceRole(stores);
  return [...mainPages(role), ...textPages(stores, role)];
}

function mainPages(role: ServiceRole): Page[] {
  const built = consolePages();
  const openApi = built.filter(({ address }) => address === openApiAddress).map(openApiPage);
  if (role.kind === 'volume' && role.front !== undefined) {
    return [pointerPage(role.front), ...openApi];
  }
  const pages = built
    .filter(({ address }) => address !== openApiAddress)
    .map((page) => pageOfConsole(page));
  if (role.kind === 'volume') pages.push(...openApi);
  const index = built.find(({ address }) => address === '/');
  const hasLinkPage = role.kind === 'front' && index !== undefined;
  return hasLinkPage ? [...pages, pageOfConsole(index, linkPageAddress)] : pages;
}

/** Returns the page at a percent-decoded path. */
export function findPage(stores: Stores, path: string): Page | undefined {
  const role = serviceRole(stores);
  if (path.startsWith(wellKnownFolder)) {
    const set = findWellKnown(stores, path.slice(wellKnownFolder.length));
    return set === undefined ? textPages(stores, role).find(isAt(path)) : pageOfText(set);
  }
  const isLink = path === linkFolder || path.startsWith(`${linkFolder}/`);
  return mainPages(role).find(isAt(isLink ? linkPageAddress : path));
}

function isAt(address: string): (page: Page) => boolean {
  return (page) => page.address === address;
}

function pageOfText(set: PublishedText): Page {
  const text = wellKnownText(set);
  const { address } = text;
  return { address, text, body: () => set.body, lastModifiedNs: set.updatedAtNs };
}

function pageOfConsole(page: ConsolePage, address = page.address): Page {
  return {
    address,
    get text() {
      return { ...consoleText(page), address };
    },
    body: () => readConsolePage(page),
  };
}

/**
 * The page of a volume that has a front: it links to the front and runs no script, so that nobody
 * enters a secret there.
 */
function pointerPage({ id, url }: Front): Page {
  const local = `http://${id}.localhost:8000/`;
  const isDefault = url === networkUrl(id);
  const html =
    '<!doctype html><html lang="en"><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width">' +
    '<title>Encrypted File Storage</title>' +
    '<p>This canister stores files. The console of its service is at ' +
    `<a href="${url}/">${url}/</a>` +
    `${isDefault ? `, on a local network <a href="${local}">${local}</a>` : ''}.</p></html>\n`;
  return pageOf('/', () => encodeUtf8(html), [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"],
    ['Referrer-Policy', 'no-referrer'],
  ]);
}

/** The text in which gateways look up a canister's own domains. */
const domainsName = 'ic-domains';
/** Internet Identity accepts no longer list. */
const alternativeOriginsMax = 10;
const domainPattern = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;

/** Returns the origins of the canister's own domains. */
function ownOrigins(stores: Stores): string[] {
  const text = decodeUtf8(findWellKnown(stores, domainsName)?.body ?? emptyBytes) ?? '';
  const domains = text.split('\n').map((line) => line.trim().toLowerCase());
  return domains.filter((name) => domainPattern.test(name)).map((name) => `https://${name}`);
}

/** Texts for programs. */
function textPages(stores: Stores, role: ServiceRole): Page[] {
  const service = servicePage(stores);
  const forAll = [service, architecturePage(role), toolsPage(role)];
  if (role.kind === 'volume') return [...forAll, catalog()];
  const origins = jsonPage(originsAddress, () => alternativeOrigins(stores, role));
  return [...forAll, origins, derivationPage(role)];
}

/** With this list, Internet Identity gives a person one principal at all addresses of the front. */
function alternativeOrigins(stores: Stores, { id }: FrontRole): object {
  const atGateways = gatewayDomains.slice(1).map((domain) => `https://${id}.${domain}`);
  const origins = [...atGateways, ...ownOrigins(stores)].slice(0, alternativeOriginsMax);
  return { alternativeOrigins: origins };
}

/** Tells programs where the interface is described. */
function catalog(): Page {
  const description = { href: openApiAddress, type: 'application/json' };
  const linkset = [{ anchor: '/api/v1/', 'service-desc': [description] }];
  return jsonPage(catalogAddress, () => ({ linkset }), 'application/linkset+json');
}

/** The text about the canister's role in its service. */
export function servicePage(stores: Stores): Page {
  const role = serviceRole(stores);
  return jsonPage(
    serviceAddress,
    role.kind === 'front' ? () => shownFront(stores, role) : () => shownVolume(role),
  );
}

function shownVolume({ kind, id, front }: VolumeRole): object {
  return {
    role: kind,
    canisterId: id,
    front: front ? { canisterId: front.id, url: front.url } : null,
  };
}

/** Contains only what reports and calls of controllers change, which certify it again. */
function shownFront(stores: Stores, { kind, id }: FrontRole): object {
  const volumes = volumeStates(stores).map((state) => ({
    canisterId: state.volumeId,
    state: conditionOf(state),
    reportedAt: state.reportedAtNs === 0n ? null : isoTime(state.reportedAtNs),
    stableBytes: state.stableBytes,
    limitBytes: state.limitBytes,
    reservedCycles: state.reservedCycles,
  }));
  return { role: kind, canisterId: id, volumes };
}

function openApiPage(page: ConsolePage): Page {
  return { address: page.address, text: openApiText(page), body: () => readConsolePage(page) };
}

/** GET and HEAD of a page, for anybody. */
export function getPage(exchange: Exchange): HttpResponse {
  const [path = ''] = exchange.captures;
  const page = findPage(exchange.stores, path);
  if (page === undefined) return refuseNowhere(path);
  const { text, body, lastModifiedNs } = page;
  return serveText(exchange, text, { body, lastModifiedNs });
}
