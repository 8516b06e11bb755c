// The page of a link with a title, `/s/{id}/{name}?k={secret}&page`: messengers show its title and
// picture (Open Graph protocol), and people get from there to the file. Only updates answer it.

import type { Link } from '../domain/files/link-layout.ts';
import { addressOf } from '../domain/files/links.ts';
import { networkUrl } from '../domain/shared/service-role.ts';
import { encodeUtf8 } from '../lib/text.ts';
import type { OpenedFile } from './cloud.ts';
import type { Exchange } from './exchange.ts';
import { type HttpRequest, type HttpResponse, header } from './message.ts';
import { uncached } from './respond.ts';

/** Types of pictures that messengers show. */
const pictures: ReadonlySet<string> = new Set(
  ['gif', 'jpeg', 'png', 'webp'].map((subtype) => `image/${subtype}`),
);
const hostPattern = /^[a-z0-9.-]+(?::\d{1,5})?$/i;
const localPattern = /^(?:[^:]+\.)?(?:localhost|127\.0\.0\.1)(?::\d+)?$/i;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const units = ['bytes', 'kB', 'MB', 'GB'];

export function isPageAsked({ url }: HttpRequest): boolean {
  return url.includes('page') && /[?&]page(?:[=&]|$)/.test(url);
}

export function linkPageResponse(
  exchange: Exchange,
  { file }: OpenedFile,
  shown: { readonly link: Link; readonly secret: string },
): HttpResponse {
  const { link, secret } = shown;
  const { title = '', name } = link;
  const address = addressOf(link, secret);
  const origin = originOf(exchange);
  const meta: [property: string, content: string][] = [
    ['og:title', title],
    ['og:type', 'website'],
    ['og:url', `${origin}${address}&page`],
    ['og:description', `${name}, ${sizeOf(file.size)}`],
  ];
  // A maximum of downloads would count each picture that a messenger loads
  if (link.limit === undefined && pictures.has(file.contentType)) {
    meta.push(['og:image', origin + address], ['twitter:card', 'summary_large_image']);
  }
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    `<meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>` +
    meta.map(([key, value]) => `<meta property="${key}" content="${escaped(value)}">`).join('') +
    `</head><body><h1>${escaped(title)}</h1><p>${escaped(name)}, ${sizeOf(file.size)}</p>` +
    `<p><a href="?k=${secret}">Open the file</a></p></body></html>\n`;
  return {
    status: 200,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      uncached,
      ['Content-Security-Policy', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"],
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'no-referrer'],
      ['X-Robots-Tag', 'noindex'],
    ],
    body: encodeUtf8(html),
  };
}

/** Returns the origin at which the page was requested: messengers need whole addresses. */
function originOf({ request, system }: Exchange): string {
  const host = header(request, 'host') ?? '';
  if (!hostPattern.test(host)) return networkUrl(system().canisterId);
  return `${localPattern.test(host) ? 'http' : 'https'}://${host}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}

function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 0;
  for (; size >= 1_000 && unit < units.length - 1; unit++) size /= 1_000;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
