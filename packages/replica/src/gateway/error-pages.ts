// The bodies of the gateway's own errors, in the form of ic-gateway (`src/routing/error_cause.rs`):
// a page for browsers, JSON for other programs. The titles are ic-gateway's, because clients
// recognize its pages by them; the other words are the replica's.

import type { GatewayError } from './gateway-error.ts';

/** By `x-ic-error-cause`; the first pattern that matches counts. */
const titles: readonly (readonly [RegExp, string])[] = [
  [/^client_unknown_domain$/, 'Unknown Domain'],
  [/^client_body_too_large$/, 'Payload too Large'],
  [/^client_body_timeout$/, ''],
  [/^client_/, 'Malformed Request'],
  [/^canister_id_incorrect$/, 'Incorrect Canister ID'],
  [/^canister_id_not_resolved$/, 'Canister ID Not Resolved'],
  [/^canister_not_found$/, 'Canister Not Found'],
  [/^canister_frozen$/, 'Canister Temporarily Unavailable'],
  [/^canister_reject$/, 'Request Rejected'],
  [/^canister_/, 'Canister Error'],
  [/^rate_limited$/, 'Rate Limited'],
  [/^backend_response_verification$/, 'Response Verification Error'],
  [/^backend_/, 'Upstream Unavailable'],
  [/^/, 'Internal Gateway Error'],
];

const descriptions: Readonly<Record<string, string>> = {
  'Unknown Domain': 'This gateway serves no canister at this host.',
  'Payload too Large': 'The request is larger than the network accepts.',
  'Malformed Request': 'The request is not valid.',
  'Incorrect Canister ID': 'The address contains an invalid canister id.',
  'Canister ID Not Resolved': 'The address names no canister.',
  'Canister Not Found': 'The canister does not exist.',
  'Canister Temporarily Unavailable': 'The canister is frozen: it has too few cycles.',
  'Request Rejected': 'The canister rejected the request.',
  'Canister Error': 'The canister failed to answer the request.',
  'Rate Limited': 'The gateway receives too many requests from this address.',
  'Response Verification Error': 'The certificate of the response is missing or not valid.',
  'Upstream Unavailable': 'The gateway received no usable response from the network.',
  'Internal Gateway Error': 'The gateway failed.',
};

export interface ErrorBody {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Returns the body for the client with this `User-Agent`. */
export function errorBody(error: GatewayError, userAgent: string | undefined): ErrorBody {
  return isBrowser(userAgent) ? errorPage(error) : errorJson(error);
}

/** ic-gateway recognizes browsers of computers and telephones by `User-Agent`; robots get JSON. */
function isBrowser(userAgent = ''): boolean {
  return /^(?:Mozilla|Opera)\/\d/.test(userAgent) && !/bot|crawl|spider/i.test(userAgent);
}

function titleOf({ errorCause }: GatewayError): string {
  return titles.find(([pattern]) => pattern.test(errorCause))?.[1] ?? '';
}

function errorJson(error: GatewayError): ErrorBody {
  const answer = {
    error_type: error.errorCause,
    description: descriptions[titleOf(error)] ?? '',
    details: error.message,
  };
  const body = new TextEncoder().encode(JSON.stringify(answer, undefined, 2));
  return { contentType: 'application/json', body };
}

/** Includes the reason, which helps developers; ic-gateway puts it only into the JSON. */
function errorPage(error: GatewayError): ErrorBody {
  const title = titleOf(error);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title} - ${error.status} | Internet Computer</title>
</head>
<body>
<p>Error ${error.status}</p>
<h1>${title}</h1>
<p>${descriptions[title] ?? ''}</p>
<pre>${escaped(error.message)}</pre>
<p>This is the gateway of a local replica.</p>
</body>
</html>
`;
  return { contentType: 'text/html; charset=utf-8', body: new TextEncoder().encode(page) };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? '');
}
