// Who sends a request of the API: the Bearer key, and the bucket that it is meant for. What the key
// may do is the domain's to say.

import { findKey } from '../domain/keys.ts';
import { quote } from '../domain/names.ts';
import { Refusal } from '../domain/refusal.ts';
import { bearerKey } from './bearer-key.ts';
import { singleHeader } from './message.ts';
import type { Exchange } from './router.ts';

/** The secret of the request's API key, for that bucket: good now, and meant for the bucket. */
export function requestKey(exchange: Exchange, bucket: string): string {
  const apiKey = bearerKey(exchange.request);
  checkBucketHeader(exchange, { bucket, apiKey });
  return apiKey;
}

/** `X-Bucket-Id` must name the path's bucket, and must be there when the key is for several. */
function checkBucketHeader(
  exchange: Exchange,
  target: { readonly bucket: string; readonly apiKey: string },
): void {
  const named = singleHeader(exchange.request, 'x-bucket-id');
  const key = findKey(exchange.stores, target.apiKey, exchange.call.nowNs);
  if (named === undefined ? key.buckets.length > 1 : named !== target.bucket) {
    throw new Refusal(
      'BucketMismatch',
      `The header X-Bucket-Id must be ${quote(target.bucket)}, the bucket of the path; it is needed ` +
        'with a key for several buckets.',
    );
  }
}
