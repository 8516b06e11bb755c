// Sends requests to the HTTP interface without a network, as the canister's query and update
// methods do.

import { expect } from 'vitest';
import { readStream } from '../../src/domain/files/streams.ts';
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';
import { handleRequest, upgrade } from '../../src/http/router.ts';
import { routes } from '../../src/http/routes.ts';
import { callOf, startNs } from './domain-fixture.ts';
import { expectSame } from './expect-same.ts';
import type { MemoryStores } from './memory-stores.ts';

export interface TestRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | HttpRequest['headers'];
  readonly body?: Uint8Array;
  readonly phase?: 'query' | 'update';
  readonly nowNs?: bigint;
  readonly spendableCycles?: number;
}

/** Returns the answer for an anonymous caller, as through a gateway. */
export function exchange(stores: MemoryStores, sent: TestRequest): HttpResponse | typeof upgrade {
  const { method = 'GET', url, headers = {}, body = new Uint8Array(0), phase = 'query' } = sent;
  const fields = Array.isArray(headers) ? headers : Object.entries(headers);
  const call = callOf('anonymous', sent.nowNs ?? startNs);
  const request = { method, url, headers: fields, body };
  const system = () => ({
    canisterId: 'aaaaa-aa',
    stableBytes: 65_536,
    heapBytes: 131_072,
    cycles: 10n ** 13n,
    spendableCycles: sent.spendableCycles ?? 10 ** 13,
    chargesCycles: true,
  });
  return handleRequest(routes, { stores, call, request, phase, system });
}

/** Returns the response; fails if the answer asks for an update. */
export function send(stores: MemoryStores, sent: TestRequest): HttpResponse {
  const response = exchange(stores, sent);
  return response === upgrade ? expect.fail('the answer asks for an update') : response;
}

/** Returns the headers with lower-case names; fails for a repeated name. */
export function headersOf(response: HttpResponse): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers) {
    expectSame(headers[name.toLowerCase()], undefined, `${name} comes twice`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Returns the body of a request. */
export function json(value: object): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value)));
}

export function bodyText(response: HttpResponse): string {
  return Buffer.from(response.body).toString('utf8');
}

/** Returns the body, including the bytes that a gateway reads by queries. */
export function bodyOf(stores: MemoryStores, response: HttpResponse, nowNs = startNs): Buffer {
  const pieces = [response.body];
  for (let token = response.stream; token !== undefined; ) {
    const piece = readStream(stores, callOf('anonymous', nowNs), token);
    pieces.push(piece.body);
    token = piece.token;
  }
  return Buffer.concat(pieces);
}

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly requestId: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

interface Refused {
  readonly status: number;
  readonly code: string;
}

/**
 * Sends a request that must be refused with the expected status and code, and without a write;
 * returns the error and the headers.
 */
export function sendRefused(
  stores: MemoryStores,
  sent: TestRequest,
  expected: Refused,
): { error: ErrorBody['error']; headers: Record<string, string> } {
  const before = stores.writeCount();
  const response = send(stores, sent);
  expect(stores.writeCount() - before, 'writes of a refused request').toBe(0);
  const { error } = JSON.parse(bodyText(response)) as ErrorBody;
  expect({ status: response.status, code: error.code }).toEqual(expected);
  const headers = headersOf(response);
  expect(headers['content-type']).toBe('application/json');
  expect(headers['cache-control']).toBe('private, no-store');
  expect(headers['x-request-id']).toBe(error.requestId);
  expect(error.message.length).toBeGreaterThan(10);
  return { error, headers };
}

/**
 * Expects the refusal of a query and of an update. An update decides whether an upload that a request
 * changes exists, since it may have begun a moment ago.
 */
export function refusedInBoth(stores: MemoryStores, sent: TestRequest, refusal: Refused): void {
  const isUnknownUpload = refusal.code === 'NoSuchUpload' && sent.method !== 'GET';
  if (isUnknownUpload) expect(exchange(stores, { ...sent, phase: 'query' })).toBe(upgrade);
  else sendRefused(stores, { ...sent, phase: 'query' }, refusal);
  sendRefused(stores, { ...sent, phase: 'update' }, refusal);
}
