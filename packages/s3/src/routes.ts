// Which operation a request is. What no route has is not there: it is refused, never taken for
// something like it.

import type { Route } from './operation.ts';
import { bucketRoutes } from './operations/buckets.ts';
import { copyRoute } from './operations/copies.ts';
import { deletionRoutes } from './operations/deletions.ts';
import { listingRoutes } from './operations/listings.ts';
import { multipartRoutes } from './operations/multipart.ts';
import { multipartListRoutes } from './operations/multipart-lists.ts';
import { objectRoutes } from './operations/objects.ts';
import { putRoute } from './operations/puts.ts';
import { taggingRoutes } from './operations/tagging.ts';
import { versionRoutes } from './operations/versions.ts';
import type { S3Request } from './request.ts';
import { S3Error } from './s3-error.ts';

/** By method, what the request is about, and the name in the query that chooses one, if any. */
const routes: Readonly<Record<string, Route>> = {
  ...bucketRoutes,
  ...listingRoutes,
  ...objectRoutes,
  ...deletionRoutes,
  ...taggingRoutes,
  ...versionRoutes,
  ...multipartRoutes,
  ...multipartListRoutes,
  'PUT object': putRoute,
  'COPY object': copyRoute,
};

/** Throws NotImplemented. */
export function routeOf(request: S3Request): Route {
  const names = [...request.query.keys()].filter((name) => !isOfAll(name));
  const isCopy = request.header('x-amz-copy-source') !== undefined;
  const method = isCopy && request.method === 'PUT' ? 'COPY' : request.method;
  const level = request.bucket === undefined ? 'service' : request.key ? 'object' : 'bucket';
  const base = `${method} ${level}`;
  const chosen = names.find((name) => Object.hasOwn(routes, `${base}?${name}`));
  const key = chosen === undefined ? base : `${base}?${chosen}`;
  const route = Object.hasOwn(routes, key) ? routes[key] : undefined;
  const unknown = names.filter((name) => name !== chosen && !route?.parameters?.includes(name));
  if (route === undefined || unknown.length > 0) {
    const asked = unknown.length > 0 ? ` with ${unknown.join(', ').slice(0, 200)}` : '';
    throw new S3Error('NotImplemented', `${request.method} of a ${level}${asked} is not there.`);
  }
  requireKnownHeaders(request);
  return route;
}

/** What clients note for themselves, and presigned requests for the signature. */
function isOfAll(name: string): boolean {
  return name === 'x-id' || /^x-amz-/i.test(name);
}

const knownHeaders: ReadonlySet<string> = new Set(
  (
    'acl content-sha256 copy-source copy-source-range date decoded-content-length checksum-algorithm checksum-mode ' +
    'checksum-type max-parts metadata-directive mp-object-size object-attributes ' +
    'optional-object-attributes part-number-marker request-payer sdk-checksum-algorithm ' +
    'storage-class tagging tagging-directive te trailer user-agent'
  ).split(' '),
);

const knownPrefixes = ['meta-', 'checksum-', 'copy-source-if-', 'sdk-', 'if-match-'];

/** Of those that are S3's own: each that asks for something has to be understood. */
function requireKnownHeaders(request: S3Request): void {
  for (const [name, value] of request.headersBehind('x-amz-')) {
    if (isOfSignature(name) || isGranted(name, value)) continue;
    if (knownHeaders.has(name) && !(name in onlyValues)) continue;
    if (knownPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    throw new S3Error('NotImplemented', `${`x-amz-${name}`.slice(0, 80)} is not there.`);
  }
}

/** Files are private unless their bucket is public, of one class, and encrypted where they lie. */
const onlyValues: Readonly<Record<string, string>> = {
  acl: 'private',
  'storage-class': 'STANDARD',
  'server-side-encryption': 'AES256',
};

function isGranted(name: string, value: string): boolean {
  const only = Object.hasOwn(onlyValues, name) ? onlyValues[name] : undefined;
  if (only === undefined) return false;
  if (value === only) return true;
  throw new S3Error('NotImplemented', `x-amz-${name} is ${only} here, or is left out.`);
}

/** Of a presigned request, whose query stands for fields. */
function isOfSignature(name: string): boolean {
  return /^(?:algorithm|credential|signedheaders|expires|signature)$/.test(name);
}
