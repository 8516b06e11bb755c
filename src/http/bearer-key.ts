// The API key that a request carries. RFC 6750 §2.1.

import { findKey } from '../domain/access/api-keys.ts';
import type { Call } from '../domain/shared/caller.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { type HttpRequest, header } from './message.ts';

/** Its secret, good or not; refuses a request without one. */
export function bearerKey(request: HttpRequest): string {
  const authorization = header(request, 'authorization') ?? '';
  const match = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (match?.[1] === undefined) {
    throw new Refusal(
      'Unauthorized',
      'This request needs an API key: send the header Authorization: Bearer <API_KEY>.',
    );
  }
  return match[1];
}

/** Whether it carries a key of this canister that is good now, for whatever bucket. */
export function hasGoodKey(stores: Stores, call: Call, request: HttpRequest): boolean {
  if (header(request, 'authorization') === undefined) {
    return false;
  }
  try {
    return findKey(stores, bearerKey(request), call.nowNs) !== undefined;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
