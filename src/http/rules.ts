// GET of a bucket's rules: `/api/v1/bucket/{bucket}/rules`.

import { getRules } from '../domain/administration/bucket-rules.ts';
import { bucketRoute } from './authorization.ts';
import type { HttpResponse } from './message.ts';
import { privateJson } from './respond.ts';
import type { Exchange } from './router.ts';

export function getBucketRules(exchange: Exchange): HttpResponse {
  const { stores, call } = exchange;
  return privateJson(200, { items: getRules(stores, call, bucketRoute(exchange)) });
}
