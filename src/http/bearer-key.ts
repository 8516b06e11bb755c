// The API key in a request: a bearer token (RFC 6750 §2.1), or the secret of an upload link, which
// is in the query, because browsers upload to it without further fields.

import { findOwner } from '../domain/buckets/buckets.ts';
import { looksLikeUploadLink } from '../domain/rights/api-key-secrets.ts';
import { type ApiKey, findKey } from '../domain/rights/api-keys.ts';
import { isStillGranted } from '../domain/rights/ownership.ts';
import type { Call } from '../domain/shared/caller.ts';
import { Refusal, unlessRefused } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { type HttpRequest, header } from './message.ts';
import { readQuery } from './query.ts';

interface Sent {
  readonly stores: Stores;
  readonly call: Call;
  readonly request: HttpRequest;
}

/** A key has 53 characters; parsing a longer field would cost the canister more. */
const authorizationLengthMax = 256;

/** Returns the secret of an upload link in the query; '' without one. */
export function uploadSecret(request: HttpRequest): string {
  // Reading the query of every request would cost more than this search
  if (!request.url.includes('upload=')) return '';
  const { upload = '' } = readQuery(request, ['upload']);
  if (upload === '' || looksLikeUploadLink(upload)) return upload;
  throw new Refusal(
    'InvalidApiKey',
    'The parameter upload must be the secret of an upload link. API keys do not belong in URLs, which ' +
      'are logged: send them as Authorization: Bearer.',
  );
}

/** Returns the secret, valid or not; refuses a request without one. */
export function bearerKey(request: HttpRequest): string {
  const sent = header(request, 'authorization');
  const secret = sent === undefined ? uploadSecret(request) : '';
  if (secret !== '') return secret;
  const authorization = sent ?? '';
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
  const isSigned = header(request, 'authorization') !== undefined;
  if (!isSigned && !request.url.includes('upload=')) return undefined;
  const key = unlessRefused(() => findKey(stores, bearerKey(request), call.nowNs));
  const named = key?.buckets.includes(bucket) ? findOwner(stores, bucket) : undefined;
  return key && named && isStillGranted(stores, key, named) ? key : undefined;
}
