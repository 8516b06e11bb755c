// The management method for HTTPS outcalls, http_request: checks the call, charges it, sends the
// request, and lets the canister transform the response.

import { Principal } from '@dfinity/principal';
import type { ManagementCall, Outcome, RejectCode } from '../core.ts';
import { httpRequestCycles } from '../execution/prices.ts';
import { type HttpHeader, OutcallError, type OutcallResponse, type Outcalls } from '../outcalls.ts';
import { type Arguments, encodeResult } from './candid-types.ts';
import { feeFor, type Handlers, type OutcallOptions, type Parts } from './handlers.ts';
import {
  byteLength,
  headerBytes,
  requestFault,
  responseBytesMax,
  responseFault,
  urlFault,
} from './outcall-limits.ts';
import { encodeTransformArgument } from './outcall-types.ts';
import { failed, refused } from './rejects.ts';

/** `rs/types/types/src/canister_http.rs`: `CANISTER_HTTP_TIMEOUT_INTERVAL`. */
const timeoutMilliseconds = 60_000;

const methods = {
  get: 'GET',
  head: 'HEAD',
  post: 'POST',
  put: 'PUT',
  delete: 'DELETE',
  patch: 'PATCH',
} as const;

type Argument = Arguments['http_request'];

export function outcallMethods({ options }: Parts): Handlers<'http_request'> {
  return {
    http_request: async (argument, call) => {
      const { outcalls } = options;
      if (outcalls === undefined) {
        return refused(
          'The local replica makes no HTTPS outcalls by default: start it with --outcalls, or in a ' +
            'program with the option `outcalls`',
        );
      }
      const fault = requestFault(argument, call.caller);
      if (fault !== undefined) return refused(fault);
      const fee = feeFor(options, priceOf(argument));
      if (call.cycles < fee) {
        const amounts = `${call.cycles} cycles, but ${fee} cycles are required`;
        return refused(`http_request request sent with ${amounts}.`);
      }
      const outcome = await carryOut(outcalls, argument, call);
      return { outcome, keptCycles: fee };
    },
  };
}

function limitOf(argument: Argument): number {
  return Number(argument.max_response_bytes[0] ?? responseBytesMax);
}

/** Returns the price, which depends on the maximum size of the response, not on its actual size. */
function priceOf(argument: Argument): bigint {
  const [transform] = argument.transform;
  const requestBytes =
    byteLength(argument.url) +
    headerBytes(argument.headers) +
    (argument.body[0]?.length ?? 0) +
    (transform === undefined ? 0 : byteLength(transform.function[1]) + transform.context.length);
  return httpRequestCycles(BigInt(requestBytes), BigInt(limitOf(argument)));
}

async function carryOut(
  outcalls: OutcallOptions,
  argument: Argument,
  call: ManagementCall,
): Promise<Outcome> {
  const refusedUrl = urlFault(argument.url);
  if (refusedUrl !== undefined) return failed(1, refusedUrl);
  const limit = limitOf(argument);
  let response: OutcallResponse;
  try {
    response = await answerInTime(outcalls.carryOut, argument);
  } catch (error) {
    const code: RejectCode = error instanceof OutcallError ? error.code : 2;
    return failed(code, error instanceof Error ? error.message : String(error));
  }
  const fault = responseFault(response, limit);
  if (fault !== undefined) return failed(1, fault);
  const value = { ...response, status: BigInt(response.status) };
  const [transform] = argument.transform;
  if (transform === undefined) {
    return { status: 'replied', arg: encodeResult('http_request', value) };
  }
  const outcome = await outcalls.query({
    sender: Principal.managementCanister(),
    canisterId: call.caller,
    method: transform.function[1],
    arg: encodeTransformArgument({ response: value, context: transform.context }),
  });
  const size = outcome.status === 'replied' ? outcome.arg.length : byteLength(outcome.message);
  return size > limit ? failed(1, `Transformed http response exceeds limit: ${limit}`) : outcome;
}

async function answerInTime(ask: Outcalls, argument: Argument): Promise<OutcallResponse> {
  const [name] = Object.keys(argument.method) as [keyof typeof methods];
  const request = {
    url: argument.url,
    method: methods[name],
    headers: withUserAgent(argument.headers),
    body: argument.body[0] ?? new Uint8Array(),
    maxResponseBytes: limitOf(argument),
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new OutcallError(2, 'Canister http request timed out');
    timer = setTimeout(() => reject(error), timeoutMilliseconds);
  });
  try {
    return await Promise.race([ask(request), late]);
  } finally {
    clearTimeout(timer);
  }
}

function withUserAgent(headers: readonly HttpHeader[]): readonly HttpHeader[] {
  const isGiven = headers.some(({ name }) => name.toLowerCase() === 'user-agent');
  return isGiven ? headers : [...headers, { name: 'user-agent', value: 'ic/1.0' }];
}
