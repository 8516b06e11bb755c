// GET of what is below a prefix: `/api/v1/bucket/{bucket}/usage?prefix=`.

import { getUsage } from '../domain/administration/bucket-usage.ts';
import { requestKey } from './authorization.ts';
import type { HttpResponse } from './message.ts';
import { readQuery } from './query.ts';
import { jsonResponse } from './respond.ts';
import type { Exchange } from './router.ts';

export function getBucketUsage(exchange: Exchange): HttpResponse {
  const { stores, call, request, captures } = exchange;
  const [bucket = ''] = captures;
  const apiKey = requestKey(exchange, bucket);
  const { prefix } = readQuery(request, ['prefix']);
  const response = jsonResponse(200, getUsage(stores, call, { bucket, apiKey, prefix }));
  return { ...response, headers: [...response.headers, ['Cache-Control', 'private, no-store']] };
}
