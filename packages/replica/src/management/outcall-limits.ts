// Limits of HTTPS outcalls, with the network's messages: `dfinity/ic`
// `rs/types/types/src/canister_http.rs`, constants and `validate_http_headers_and_body`; for
// responses also `rs/https_outcalls/adapter/src/rpc_server.rs`. IC spec, "IC method http_request".

import type { Principal } from '@dfinity/principal';
import { type HttpHeader, isLoopback, type OutcallResponse } from '../outcalls.ts';
import type { Arguments } from './candid-types.ts';

/** `MAX_CANISTER_HTTP_URL_SIZE`, `MAX_CANISTER_HTTP_HEADER_NUM`, `…_NAME_VALUE_LENGTH`,
 * `…_TOTAL_SIZE`, `MAX_CANISTER_HTTP_REQUEST_BYTES` and `…_RESPONSE_BYTES`. */
const urlBytesMax = 8_192;
const headersMax = 64;
const headerBytesMax = 8 * 1_024;
const headerBytesTotalMax = 48 * 1_024;
const requestBytesMax = 2_000_000;
export const responseBytesMax = 2_000_000;

type Argument = Arguments['http_request'];

export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

export function headerBytes(headers: readonly HttpHeader[]): number {
  return headers.reduce((sum, { name, value }) => sum + byteLength(name) + byteLength(value), 0);
}

/** Describes the limit that the headers and body exceed; `undefined` if they exceed none. */
function headersAndBodyFault(headers: readonly HttpHeader[], body: Uint8Array): string | undefined {
  if (headers.length > headersMax) {
    return `number of all http headers ${headers.length} exceeds ${headersMax}`;
  }
  for (const part of ['name', 'value'] as const) {
    const longest = headers.reduce((most, header) => Math.max(most, byteLength(header[part])), 0);
    if (longest > headerBytesMax) {
      const what = `number of bytes to represent some http header ${part}`;
      return `${what} ${longest} exceeds ${headerBytesMax}`;
    }
  }
  const total = headerBytes(headers);
  const names = 'total number of bytes to represent all http header names and values';
  if (total > headerBytesTotalMax) return `${names} ${total} exceeds ${headerBytesTotalMax}`;
  const all = total + body.length;
  if (all > requestBytesMax) return `${names} and http body ${all} exceeds ${requestBytesMax}`;
  return undefined;
}

/** Returns the reason to refuse the call before it costs anything. */
export function requestFault(argument: Argument, caller: Principal): string | undefined {
  const [transform] = argument.transform;
  const owner = transform?.function[0];
  if (owner !== undefined && owner.compareTo(caller) !== 'eq') {
    return `transform principal id expected to be ${caller.toText()}, got ${owner.toText()}`;
  }
  const urlBytes = byteLength(argument.url);
  if (urlBytes > urlBytesMax) return `url size ${urlBytes} exceeds ${urlBytesMax}`;
  const fault = headersAndBodyFault(argument.headers, argument.body[0] ?? new Uint8Array());
  if (fault !== undefined) return fault;
  const [wanted] = argument.max_response_bytes;
  if (wanted !== undefined && wanted > BigInt(responseBytesMax)) {
    return `max_response_bytes expected to be in the range [0..${responseBytesMax}], got ${wanted}`;
  }
  const isReplicated = argument.is_replicated[0] !== false;
  const isRestricted = ['put', 'delete', 'patch'].some((name) => name in argument.method);
  return isReplicated && isRestricted
    ? 'The requested HTTP method is only allowed for non-replicated requests.'
    : undefined;
}

/** Returns the reason for which nodes refuse to send the request, after the call is paid. */
export function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'Failed to parse URL: invalid uri';
  const isAllowed =
    url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return isAllowed ? undefined : 'Url need to specify https scheme';
}

export function responseFault(response: OutcallResponse, limit: number): string | undefined {
  const left = limit - headerBytes(response.headers);
  if (left < 0) return `Header size exceeds specified response size limit ${limit}`;
  if (response.body.length > left) return `Http body exceeds size limit of ${limit} bytes.`;
  return headersAndBodyFault(response.headers, response.body);
}
