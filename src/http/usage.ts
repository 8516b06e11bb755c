// GET of the usage below a prefix: `/api/v1/bucket/{bucket}/usage?prefix=`.

import { getUsage } from '../domain/administration/bucket-usage.ts';
import { bucketRoute } from './authorization.ts';
import type { HttpResponse } from './message.ts';
import { readQuery } from './query.ts';
import { privateJson } from './respond.ts';
import type { Exchange } from './router.ts';

export function getBucketUsage(exchange: Exchange): HttpResponse {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  const { prefix } = readQuery(request, ['prefix']);
  return privateJson(200, getUsage(stores, call, { ...route, prefix }));
}
