// The API key in a request. RFC 6750 §2.1.

import { findOwner } from '../domain/buckets/buckets.ts';
import { type ApiKey, findKey } from '../domain/rights/api-keys.ts';
import { isCreatorOwner } from '../domain/rights/ownership.ts';
import type { Call } from '../domain/shared/caller.ts';
import { Refusal, unlessRefused } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { type HttpRequest, header } from './message.ts';

interface Sent {
  readonly stores: Stores;
  readonly call: Call;
  readonly request: HttpRequest;
}

/** A key has 53 characters; parsing a longer field would cost the canister more. */
const authorizationLengthMax = 256;

/** Returns the secret, valid or not; refuses a request without one. */
export function bearerKey(request: HttpRequest): string {
  const authorization = header(request, 'authorization') ?? '';
  const isLong = authorization.length > authorizationLengthMax;
  const match = isLong ? null : /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (match?.[1] === undefined) {
    throw new Refusal(
      'Unauthorized',
      'This request needs an API key: send the header Authorization: Bearer <API_KEY>.',
    );
  }
  return match[1];
}

/** Returns the request's API key if it is valid and for that bucket. */
export function goodKey({ stores, call, request }: Sent, bucket: string): ApiKey | undefined {
  if (header(request, 'authorization') === undefined) return undefined;
  const key = unlessRefused(() => findKey(stores, bearerKey(request), call.nowNs));
  const named = key?.buckets.includes(bucket) ? findOwner(stores, bucket) : undefined;
  return key && named && isCreatorOwner(stores, key, named) ? key : undefined;
}
