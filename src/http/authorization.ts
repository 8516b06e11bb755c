// Authorization of API requests: reads key and bucket. The domain decides the rights of the key.

import type { ApiKey } from '../domain/rights/api-keys.ts';
import { useKey } from '../domain/rights/key-budgets.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { bearerKey } from './bearer-key.ts';
import type { Exchange } from './exchange.ts';
import { type HttpRequest, singleHeader } from './message.ts';

export interface BucketRoute {
  readonly bucket: string;
  readonly apiKey: ApiKey;
}

/** Returns the first capture of the route, the bucket, and the request's API key for it. */
export function bucketRoute(exchange: Exchange): BucketRoute {
  const [bucket = ''] = exchange.captures;
  return { bucket, apiKey: requestKey(exchange, bucket) };
}

/** Returns the bucket and the path in the URL. */
export function fileRoute(exchange: Exchange): BucketRoute & { readonly path: string } {
  const [, path = ''] = exchange.captures;
  // Keeps the leading slash, so that a second slash begins an empty segment.
  return { ...bucketRoute(exchange), path: `/${path}` };
}

/** Returns the request's API key; refuses an invalid key and a wrong X-Bucket-Id. */
function requestKey(exchange: Exchange, bucket: string): ApiKey {
  const { stores, call, request, payer } = exchange;
  const key = payer ?? useKey(stores, call, bearerKey(request));
  checkBucketHeader(request, bucket, key);
  return key;
}

/** `X-Bucket-Id` must equal the bucket in the path; it is required if the key has several. */
function checkBucketHeader(request: HttpRequest, bucket: string, key: ApiKey): void {
  const named = singleHeader(request, 'x-bucket-id');
  if (named === undefined ? key.buckets.length > 1 : named !== bucket) {
    throw new Refusal(
      'BucketMismatch',
      `The header X-Bucket-Id must be ${quote(bucket)}, the bucket of the path; it is needed ` +
        'with a key for several buckets.',
    );
  }
}
