// Selects the operation of a request, and refuses a request without a route.

import type { Route } from './operation.ts';
import { absentSettingRoutes } from './operations/absent-settings.ts';
import { aclRoutes } from './operations/acls.ts';
import { attributeRoutes } from './operations/attributes.ts';
import { bucketRoutes } from './operations/buckets.ts';
import { copyRoute } from './operations/copies.ts';
import { corsRoutes } from './operations/cors.ts';
import { deletionRoutes } from './operations/deletions.ts';
import { lifecycleRoutes } from './operations/lifecycle.ts';
import { listingRoutes } from './operations/listings.ts';
import { multipartRoutes } from './operations/multipart.ts';
import { multipartListRoutes } from './operations/multipart-lists.ts';
import { objectLockRoutes } from './operations/object-lock.ts';
import { objectRoutes } from './operations/objects.ts';
import { putRoute } from './operations/puts.ts';
import { taggingRoutes } from './operations/tagging.ts';
import { versionRoutes } from './operations/versions.ts';
import type { S3Request } from './request.ts';
import { S3Error } from './s3-error.ts';
import { refuseUnsafeHeaders } from './unsafe-headers.ts';

/** Key: method, target and, if any, the query parameter that chooses the route. */
const routes: Readonly<Record<string, Route>> = {
  ...bucketRoutes,
  ...aclRoutes,
  ...absentSettingRoutes,
  ...corsRoutes,
  ...lifecycleRoutes,
  ...objectLockRoutes,
  ...listingRoutes,
  ...objectRoutes,
  ...attributeRoutes,
  ...deletionRoutes,
  ...taggingRoutes,
  ...versionRoutes,
  ...multipartRoutes,
  ...multipartListRoutes,
  'PUT object': putRoute,
  'COPY object': copyRoute,
};

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
    throw new S3Error('NotImplemented', `${request.method} ${level}${asked} is not supported.`);
  }
  refuseUnsafeHeaders(request, route.obeys);
  return route;
}

/** Parameters that clients add to every request, and those of a presigned request's signature. */
function isOfAll(name: string): boolean {
  return name === 'x-id' || /^x-amz-/i.test(name);
}
