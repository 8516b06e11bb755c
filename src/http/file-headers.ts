// The header fields of a file's representation, computed only from its record, so that a GET and
// the certified answer are the same.

import { storedHeaderNames } from '../../packages/wire/src/stored-headers.ts';
import { entityTag } from '../domain/files/file-view.ts';
import {
  hasSiteLeaves,
  type LeavesVersion,
  type PublishedFile,
  type PublishedLink,
  presentLeavesVersion,
  type ShownFile,
} from '../domain/shared/publication.ts';
import { cacheControlPlace, dispositionPlace } from '../domain/shared/stored-headers.ts';
import { present } from '../lib/assert.ts';
import { decodeHex } from '../lib/hex.ts';
import type { Header, ServedHeaders } from './message.ts';
import { formatHttpDate } from './preconditions.ts';
import { uncached } from './respond.ts';

const defaultCacheControl = 'public, max-age=3600';

/**
 * Header fields of a file that scripts of other origins may read (Fetch standard, "CORS protocol");
 * gateways allow the fetch itself.
 */
const exposed: Header = [
  'Access-Control-Expose-Headers',
  'ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, Content-Disposition',
];

const sandbox: Header = ['Content-Security-Policy', 'sandbox'];

/**
 * Scripts of a site run, each page in a unique origin, so that they cannot reach browser data of
 * other buckets or of the service (HTML standard, "Sandboxing").
 */
const siteSandbox: Header = [
  'Content-Security-Policy',
  'sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals ' +
    'allow-downloads allow-top-navigation-by-user-activation',
];

type Validated = Pick<ShownFile, 'chunkCount' | 'digest' | 'updatedAtNs'> &
  Pick<PublishedFile, 'headers' | 'leavesVersion' | 'siteHeaders'>;

type Represented = Validated & Pick<PublishedFile, 'contentType'>;

export function servedHeaders(file: Represented) {
  const validators = validatorHeaders(file);
  // A 304 has it too: a browser may have cached the file before the bucket was a site
  if (hasSiteLeaves(file) && isSandboxed(file)) validators.push(siteSandbox);
  if (file.siteHeaders !== undefined) addSiteHeaders(validators, file, file.siteHeaders);
  return { validators, representation: representationHeaders(file) };
}

/** Returns the fields at the file's own address, which also serves its thumbnail. */
export function ownHeaders(file: Represented & Pick<PublishedFile, 'thumbnail'>): ServedHeaders {
  const served = servedHeaders(file);
  if (file.thumbnail === undefined) return served;
  const { size, contentType, sha256 } = file.thumbnail;
  const ownFields: Header[] = [
    ['ETag', `"${sha256}"`],
    ['Content-Type', contentType],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  // An encrypted thumbnail has the type of its file
  if (!hasSiteLeaves(file) && isSandboxed({ ...file, contentType })) ownFields.push(sandbox);
  const shared = served.validators.filter(([name]) => !fileFields.has(name));
  const digest = () => present(decodeHex(sha256), 'SHA-256 of a thumbnail');
  return { ...served, thumbnail: { headers: [...ownFields, ...shared], size, digest } };
}

/** Fields that describe the file but not its thumbnail. */
const fileFields: ReadonlySet<string> = new Set([
  'ETag',
  'Last-Modified',
  ...storedHeaderNames.filter((_, place) => place !== cacheControlPlace),
]);

/**
 * Adds the fields of `_headers`, also to a 304, so that browsers learn of changed ones. The file's
 * own fields have precedence. A policy is added before the sandbox, which it cannot loosen: of two
 * policies with a sandbox, browsers combine both, or the last one counts (HTML, "CSP-derived
 * sandboxing flags").
 */
function addSiteHeaders(
  validators: Header[],
  { headers, leavesVersion }: Represented,
  siteHeaders: readonly Header[],
): void {
  if (!hasSiteLeaves({ leavesVersion })) return;
  for (const [name, value] of siteHeaders) {
    const ownPlace = (storedHeaderNames as readonly string[]).indexOf(name);
    if (ownPlace >= 0 && headers[ownPlace]) continue;
    const place = validators.findIndex(([present]) => present === name);
    const former = validators[place]?.[1];
    if (former === undefined) validators.push([name, value]);
    else if (name === siteSandbox[0]) validators[place] = [name, `${value}, ${former}`];
    else if (ownPlace === cacheControlPlace) validators[place] = [name, value];
  }
}

/** Returns the fields for a link, which prevent caching, indexing and a Referer with its secret. */
export function linkHeaders(
  file: PublishedFile,
  { downloadName }: Pick<PublishedLink, 'downloadName'>,
): ServedHeaders {
  const headers = [...file.headers];
  headers[cacheControlPlace] = uncached[1];
  if (downloadName !== '') headers[dispositionPlace] = attachment(downloadName);
  const { contentType, chunkCount, digest, updatedAtNs } = file;
  const leavesVersion: LeavesVersion = presentLeavesVersion;
  const shown = { contentType, chunkCount, digest, updatedAtNs, headers, leavesVersion };
  const { validators, representation } = servedHeaders(shown);
  representation.push(['Referrer-Policy', 'no-referrer'], ['X-Robots-Tag', 'noindex']);
  return { validators, representation };
}

/** RFC 6266 §4.3, with an ASCII form of the name for clients that do not support the other. */
function attachment(name: string): string {
  const ascii = name.replace(/[^ -~]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

/** Returns the fields of a 200 that a 304 repeats (RFC 9110 §15.4.5). */
export function validatorHeaders(file: Validated): Header[] {
  const validators: Header[] = [
    ['ETag', entityTag(file)],
    ['Last-Modified', formatHttpDate(file.updatedAtNs)],
    ['Cache-Control', file.headers[cacheControlPlace] || defaultCacheControl],
  ];
  return file.leavesVersion === 1 ? validators : [...validators, exposed];
}

/** Returns the fields of a 200 and a 206 besides the validators. */
export function representationHeaders(file: Represented): Header[] {
  const headers: Header[] = [
    ['Content-Type', file.contentType],
    ['Accept-Ranges', 'bytes'],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  for (let place = cacheControlPlace + 1; place < storedHeaderNames.length; place++) {
    const value = file.headers[place] ?? '';
    if (value !== '') headers.push([storedHeaderNames[place] ?? '', value]);
  }
  if (!hasSiteLeaves(file) && isSandboxed(file)) headers.push(sandbox);
  return headers;
}

/** All buckets share one origin, so types that could run a script there are sandboxed. */
function isSandboxed({ contentType, leavesVersion }: Represented): boolean {
  return leavesVersion === 1 ? isKnownAsActive(contentType) : !isPassive(contentType);
}

/** Full types, without parameters, in which no browser runs a script. */
const passiveTypes: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'application/json',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/x-gzip',
  'application/x-tar',
  'application/x-bzip2',
  'application/x-7z-compressed',
  'application/x-xz',
  'application/zstd',
  'application/vnd.rar',
  'application/font-woff',
  'application/wasm',
  'text/plain',
  'text/csv',
  'text/markdown',
]);
const passiveImages: ReadonlySet<string> = new Set(
  ['apng', 'avif', 'bmp', 'gif', 'heic', 'heif', 'jpeg', 'jpg', 'png', 'tiff', 'webp']
    .concat('x-icon', 'vnd.microsoft.icon')
    .map((subtype) => `image/${subtype}`),
);

function isPassive(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';', 1);
  const essence = type.trim();
  if (passiveTypes.has(essence) || passiveImages.has(essence)) return true;
  return /^(?:audio|video|font)\//.test(essence) && !essence.endsWith('xml');
}

/** The list of version 0.1.0, which lacked some types such as multipart/x-mixed-replace. */
function isKnownAsActive(contentType: string): boolean {
  const [type = ''] = contentType.toLowerCase().split(';', 1);
  return /^text\/html$|(?:xml|xsl|svg|javascript|ecmascript)$/.test(type.trimEnd());
}
