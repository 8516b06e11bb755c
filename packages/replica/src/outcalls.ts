// HTTPS outcalls of canisters. The program that starts the replica chooses the function that
// executes them: one of a test, or `fetchOutcalls`, which sends real requests. IC spec, "IC method
// http_request".

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface HttpHeader {
  readonly name: string;
  readonly value: string;
}

/** The canister's request, within the limits of the specification. */
export interface OutcallRequest {
  /** `https:`, or `http:` to this machine. */
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  /** With a `user-agent`: `ic/1.0` unless the canister set one. */
  readonly headers: readonly HttpHeader[];
  readonly body: Uint8Array;
  /** Maximum total bytes of the response's headers and body. */
  readonly maxResponseBytes: number;
}

export interface OutcallResponse {
  readonly status: number;
  readonly headers: readonly HttpHeader[];
  readonly body: Uint8Array;
}

/** Throws an OutcallError; any other Error counts as SYS_TRANSIENT. */
export type Outcalls = (request: OutcallRequest) => Promise<OutcallResponse>;

/** A reject to the canister: 1 SYS_FATAL, which is permanent; 2 SYS_TRANSIENT. */
export class OutcallError extends Error {
  override readonly name = 'OutcallError';
  readonly code: 1 | 2;

  constructor(code: 1 | 2, message: string) {
    super(message);
    this.code = code;
  }
}

/** `rs/https_outcalls/adapter/src/config.rs`: `DEFAULT_HTTP_REQUEST_TIMEOUT_SECS`. */
const timeoutMilliseconds = 30_000;
/** Maximum length of a host in an error; also from `rpc_server.rs`. */
const shownHostMax = 50;

/** Returns whether a host is in 127.0.0.0/8, or is `[::1]`, `localhost` or a subdomain of it. */
export function isLoopback(hostname: string): boolean {
  if (hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost')) {
    return true;
  }
  return /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Sends the request from this machine; follows no redirects and decompresses nothing, as the
 * network.
 */
export const fetchOutcalls: Outcalls = (outcall) =>
  new Promise((resolve, reject) => {
    const url = new URL(outcall.url);
    const failed = (error: Error) => {
      if (error instanceof OutcallError) return reject(error);
      const host = url.hostname.slice(0, shownHostMax);
      reject(new OutcallError(2, `Connecting to ${host} failed: ${error.message}`));
    };
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const headers = outcall.headers.flatMap(({ name, value }) => [name, value]);
    if (!hasHeader(outcall.headers, 'host')) headers.push('host', url.host);
    if (outcall.body.length > 0 && !hasHeader(outcall.headers, 'content-length')) {
      headers.push('content-length', String(outcall.body.length));
    }
    const signal = AbortSignal.timeout(timeoutMilliseconds);
    signal.addEventListener('abort', () => failed(new OutcallError(1, 'Timeout expired')));
    try {
      const sent = send(url, { method: outcall.method, headers, signal, agent: false });
      sent.on('error', failed);
      sent.on('response', (response) => {
        collect(response, outcall.maxResponseBytes).then((body) => {
          const { statusCode: status = 0, rawHeaders } = response;
          resolve({ status, headers: headersOf(rawHeaders), body });
        }, failed);
      });
      sent.end(outcall.body);
    } catch (error) {
      // HTTP does not allow the header.
      failed(new OutcallError(1, error instanceof Error ? error.message : String(error)));
    }
  });

function hasHeader(headers: readonly HttpHeader[], wanted: string): boolean {
  return headers.some(({ name }) => name.toLowerCase() === wanted);
}

/** Converts alternating names and values; names in lower case, as on the network. */
function headersOf(raw: readonly string[]): HttpHeader[] {
  const names = raw.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => ({
    name: name.toLowerCase(),
    value: raw[2 * index + 1] ?? '',
  }));
}

/** Reads at most `limit` bytes and one chunk, which suffices to refuse a larger body. */
async function collect(body: AsyncIterable<Buffer>, limit: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > limit) break;
  }
  return new Uint8Array(Buffer.concat(pieces));
}
