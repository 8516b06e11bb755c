// GET and HEAD of a file by a link: `/s/{id}/{name}?k={secret}`. POST of the proof of a password
// returns the secret. The answer is certified like that
// of a public file, also for a private bucket. If only a client can decrypt the file, a browser
// that navigates there is redirected to a page of the front, which decrypts the file: browsers keep
// the fragment, which contains the key, and send it to no server. A link with a download name
// always returns the stored file.

import { countDownload } from '../domain/files/link-downloads.ts';
import type { Link } from '../domain/files/link-layout.ts';
import { checkUnlocking, unlockLink } from '../domain/files/link-passwords.ts';
import { parseProof } from '../domain/files/link-secrets.ts';
import { withLinkedFile } from '../domain/files/links.ts';
import { ageContentType } from '../domain/shared/age-format.ts';
import { linkPageOf } from '../domain/shared/role-record.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { secretOf } from './budgets.ts';
import { fileResponse, headResponse, type OpenedFile } from './cloud.ts';
import { linkHeaders } from './file-headers.ts';
import { hexField, jsonBody } from './json-body.ts';
import { isPageAsked, linkPageResponse } from './link-pages.ts';
import { type HttpRequest, type HttpResponse, header } from './message.ts';
import { privateJson } from './respond.ts';
import { type Exchange, upgrade } from './router.ts';

export function getLinkedFile(exchange: Exchange): HttpResponse | typeof upgrade {
  const { request, phase, stores } = exchange;
  const opened = withLink<{ answer: HttpResponse | typeof upgrade }>(exchange, (file, link) => {
    const asked = titlePage(exchange, file, link);
    if (asked !== undefined) return { answer: asked };
    if (link.limit !== undefined) return { answer: countedResponse(exchange, file, link) };
    const isForClients = file.file.contentType === ageContentType && link.downloadName === '';
    const page =
      isForClients && isNavigation(request) ? redirectToFront(stores, exchange) : undefined;
    // The file is certified at this address, so only an update can answer with something else.
    const shown = page && (phase === 'query' ? upgrade : page);
    return { answer: shown ?? fileResponse(exchange, file) };
  });
  return opened.answer;
}

/** Only an update counts; queries read by a stream what its response has no room for. */
function countedResponse(
  exchange: Exchange,
  opened: OpenedFile,
  { id }: Link,
): HttpResponse | typeof upgrade {
  if (exchange.phase === 'query') return upgrade;
  const response = fileResponse(exchange, opened);
  if (response.status === 304) return response;
  const length = response.headers.find(([name]) => name === 'Content-Length');
  const { size } = opened.file;
  countDownload(exchange.stores, id, {
    bytes: Number(length?.[1] ?? response.body.length),
    fileBytes: size,
  });
  return response;
}

/** Returns a redirect to the link's page at the front; `undefined` if the service has no front. */
function redirectToFront(
  stores: Stores,
  { request, captures }: Exchange,
): HttpResponse | undefined {
  const page = linkPageOf(stores);
  if (page === undefined) return undefined;
  const [id = '', name = ''] = captures;
  const query = `?k=${encodeURIComponent(secretOf(request))}`;
  const location = `${page}/${id}/${encodeURIComponent(name)}${query}`;
  return {
    status: 307,
    headers: [
      ['Location', location],
      ['Cache-Control', 'private, no-store'],
      ['Vary', 'Sec-Fetch-Dest'],
      ['Referrer-Policy', 'no-referrer'],
      ['X-Robots-Tag', 'noindex'],
    ],
    body: emptyBytes,
  };
}

/**
 * Whether a person navigates to the link, instead of a script, player or download (W3C, "Fetch
 * Metadata Request Headers"). Browsers send this field only to secure origins.
 */
function isNavigation(request: HttpRequest): boolean {
  return header(request, 'sec-fetch-dest') === 'document' && header(request, 'range') === undefined;
}

export function headLinkedFile(exchange: Exchange): HttpResponse | typeof upgrade {
  const head = withLink<{ answer: HttpResponse | typeof upgrade }>(exchange, (opened, link) => {
    const page = titlePage(exchange, opened, link);
    const answer = page === undefined || page === upgrade ? page : { ...page, body: emptyBytes };
    return { answer: answer ?? headResponse(exchange, opened) };
  });
  return head.answer;
}

/** Returns the page of a link with a title if the address asks for it. */
function titlePage(
  exchange: Exchange,
  opened: OpenedFile,
  link: Link,
): HttpResponse | typeof upgrade | undefined {
  const { request, phase } = exchange;
  if (link.title === undefined || !isPageAsked(request)) return undefined;
  if (phase === 'query') return upgrade;
  return linkPageResponse(exchange, opened, { link, secret: secretOf(request) });
}

/**
 * Takes any media type, so that pages of other origins need no preflight (Fetch standard,
 * "CORS-safelisted request-header").
 */
export function postUnlocking(exchange: Exchange): HttpResponse | typeof upgrade {
  const { stores, call, request, captures, phase } = exchange;
  const [id = '', name = ''] = captures;
  checkUnlocking(stores, call, { id, name });
  const proof = parseProof('proof', hexField(jsonBody(request), 'proof'));
  if (phase === 'query') return upgrade;
  return privateJson(200, { url: unlockLink(stores, call, { id, name, proof }) });
}

function withLink<T extends object>(
  exchange: Exchange,
  use: (opened: OpenedFile, link: Link) => T,
): T {
  const { stores, call, request, captures } = exchange;
  const [id = '', name = ''] = captures;
  const opened = { id, name, secret: secretOf(request) };
  return withLinkedFile(stores, call, opened, ({ file, key }, link) => {
    const address = `/s/${link.id}/${link.name}`;
    const served = linkHeaders(file, link);
    // Without leaves, an answer to everybody cannot be proven
    const isCounted = link.limit !== undefined;
    const shown = { file, key, isPublic: true, served, address, link };
    return use({ ...shown, isComputed: isCounted, isCounted }, link);
  });
}
