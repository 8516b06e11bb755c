// The replica's HTTP server on both loopback addresses, which dispatches requests to the agent
// endpoints, the health check and the gateway.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AbortedRequest } from './aborted-request.ts';
import { refuseStranger } from './agent-access.ts';
import { withCorsDefaults } from './gateway/cors.ts';
import { errorBody } from './gateway/error-pages.ts';
import type { Gateway } from './gateway/gateway.ts';
import { GatewayError, toGatewayError } from './gateway/gateway-error.ts';
import type { HttpAnswer } from './gateway/http-messages.ts';
import { strictTransport } from './gateway/http-messages.ts';
import { bodyBytesMax, readBody } from './gateway/read-request.ts';
import { writeAnswer } from './gateway/write-answer.ts';
import type { LoopbackServer } from './loopback.ts';
import { errorCode, listenOnLoopback } from './loopback.ts';
import type { ClientTimes } from './network/profile.ts';

/** Maximum request body of the agent endpoints, as on the network. */
const apiBodyBytesMax = 5 * 1_024 * 1_024;
const headerBytesMax = 64 * 1_024;
const keepAliveMilliseconds = 75_000;

export interface ApiRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly body: Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface HttpServerOptions {
  /** 0: any port that is free on both loopback addresses. */
  readonly port: number;
  readonly gateway: Gateway;
  /** Origins whose pages may call the agent endpoints, besides those of this machine. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Time limits for clients; undefined: none. */
  readonly clientTimes?: ClientTimes | undefined;
  /** The agent endpoints: `/api/v2/…`, `/api/v3/…`, `/api/v4/…`. */
  handleApi(request: ApiRequest): Promise<ApiAnswer>;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Throws an Error with a remedy if the port is taken. */
export function startHttpServer(options: HttpServerOptions): Promise<LoopbackServer> {
  return listenOnLoopback(options.port, () => newServer(options));
}

function newServer(options: HttpServerOptions): Server {
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: keepAliveMilliseconds,
  });
  const busy = new WeakSet<Duplex>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    busy.add(request.socket);
    response.on('close', () => busy.delete(request.socket));
    // A client that disconnects during the answer is not an error.
    response.on('error', () => response.destroy());
    cutStalledWrites(response, options.clientTimes?.writeStallMs);
    void route(options, { request, response });
  };
  server.on('request', handle);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // RFC 9110 §10.1.1: after an immediate refusal the client sends no body.
    if (Number(request.headers['content-length'] ?? 0) <= bodyBytesMax) response.writeContinue();
    else response.shouldKeepAlive = false;
    handle(request, response);
  });
  server.on('clientError', (error, socket) => {
    if (busy.has(socket) || !socket.writable) socket.destroy();
    else socket.end(malformedAnswer(errorCode(error)));
  });
  return server;
}

/** Node restarts a socket's timer with each part of a write that the client has read. */
function cutStalledWrites(response: ServerResponse, stallMs: number | undefined): void {
  if (stallMs === undefined) return;
  response.setTimeout(stallMs, () => {
    // The canister may take any time: only bytes that wait for the client count.
    if (response.writableLength > 0 || response.writableEnded) response.destroy();
  });
}

/** Never rejects. */
async function route(options: HttpServerOptions, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const [path = ''] = (request.url ?? '').split('?');
  try {
    if (/^\/api\/v[234]\/|^\/_\/topology$/.test(path))
      await answerApi(options, { ...exchange, path });
    else if (path === '/health') await writeAnswer(response, textAnswer(200, 'ready\n'));
    else await options.gateway.handle(request, response);
  } catch (error) {
    if (error instanceof AbortedRequest || response.headersSent) response.destroy();
    else await writeAnswer(response, textAnswer(...statusAndReason(error)));
  }
}

async function answerApi(
  options: HttpServerOptions,
  exchange: Exchange & { readonly path: string },
): Promise<void> {
  const { request, response, path } = exchange;
  const refusal = refuseStranger(request.headers, options.allowedOrigins);
  if (refusal !== undefined) return writeAnswer(response, textAnswer(403, `${refusal}\n`));
  const method = request.method ?? 'GET';
  const limits = { bytesMax: apiBodyBytesMax, timeMs: options.clientTimes?.apiBodyMs };
  const answer =
    method === 'OPTIONS'
      ? { status: 200, headers: [], body: new Uint8Array(0) }
      : await callApi(options, { method, path, body: await readBody(request, limits) });
  await writeAnswer(response, { ...answer, headers: withCorsDefaults(method, answer.headers) });
}

async function callApi(options: HttpServerOptions, request: ApiRequest): Promise<HttpAnswer> {
  const { status, contentType, body } = await options.handleApi(request);
  return { status, headers: [['content-type', contentType], strictTransport], body };
}

function statusAndReason(error: unknown): [status: number, reason: string] {
  const { status, message } = toGatewayError(error);
  return [status, `${message}\n`];
}

function textAnswer(status: number, text: string): HttpAnswer {
  const headers = [['content-type', 'text/plain; charset=utf-8']] as const;
  return { status, headers, body: new TextEncoder().encode(text) };
}

function malformedAnswer(code: string | undefined): string {
  const statusByCode: Readonly<Record<string, number>> = {
    HPE_HEADER_OVERFLOW: 431,
    ERR_HTTP_REQUEST_TIMEOUT: 408,
  };
  const status = statusByCode[code ?? ''] ?? 400;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  const error = new GatewayError('MalformedRequest', `The request is not valid HTTP (${code}).`);
  const body = Buffer.from(errorBody(error, undefined).body).toString();
  const length = Buffer.byteLength(body);
  const fields = [
    'content-type: application/json',
    `content-length: ${length}`,
    'connection: close',
  ];
  return `${[head, ...fields].join('\r\n')}\r\n\r\n${body}`;
}
