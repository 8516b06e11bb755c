// Reads a request from Node's HTTP server: target, header fields and the whole body within the
// gateway's limit. Malformed requests throw a GatewayError; a disconnected client throws
// AbortedRequest.

import type { IncomingMessage } from 'node:http';
import { AbortedRequest } from '../aborted-request.ts';
import { concatBytes } from '../bytes.ts';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField } from './http-messages.ts';

/** `--ic-request-max-size` of the network's gateways. */
export const bodyBytesMax = 10 * 1_024 * 1_024;

export interface RequestTarget {
  /** `Host`, or the authority of an absolute target, which has priority (RFC 9112 §3.2.2). */
  readonly host: string | undefined;
  /** Path and query, beginning with a slash. */
  readonly url: string;
}

export function readTarget(request: IncomingMessage): RequestTarget {
  const target = request.url ?? '';
  if (!/^[\x21-\x7e]+$/.test(target)) {
    throw new GatewayError('MalformedRequest', 'The request target must be visible ASCII.');
  }
  if (target.startsWith('/')) return { host: request.headers.host, url: target };
  const absolute = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(target);
  if (absolute === null) {
    throw new GatewayError('MalformedRequest', `The request target "${target}" is not a path.`);
  }
  const [, host, rest = ''] = absolute;
  return { host, url: rest.startsWith('/') ? rest : `/${rest}` };
}

/**
 * Returns the fields in order, with lower-case names. Throws if a value has characters other than
 * visible ASCII, spaces and tabs.
 */
export function readHeaders(request: IncomingMessage): readonly HeaderField[] {
  const fields: HeaderField[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]?.toLowerCase() ?? '';
    const value = request.rawHeaders[index + 1] ?? '';
    if (!/^[\t\x20-\x7e]*$/.test(value)) {
      throw new GatewayError('MalformedRequest', `The value of header "${name}" is not ASCII.`);
    }
    fields.push([name, value]);
  }
  return fields;
}

export interface BodyLimits {
  readonly bytesMax?: number;
  /** From the request's head to the body's last byte; undefined: no limit. */
  readonly timeMs?: number | undefined;
}

/** Throws a GatewayError beyond the limits, and AbortedRequest if the client disconnects. */
export async function readBody(
  request: IncomingMessage,
  { bytesMax = bodyBytesMax, timeMs }: BodyLimits = {},
): Promise<Uint8Array> {
  if (timeMs === undefined) return readAll(request, bytesMax);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const words = `The request body did not arrive within ${timeMs / 1_000} s.`;
    timer = setTimeout(() => reject(new GatewayError('BodyTimedOut', words)), timeMs);
  });
  try {
    return await Promise.race([readAll(request, bytesMax), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of received(request)) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

/** Stopping early keeps the connection, so that the client can read the refusal. */
async function* received(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch {
    throw new AbortedRequest('the client closed the connection');
  }
  if (!request.complete) throw new AbortedRequest('the body ended early');
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('BodyTooLarge', `The request body is larger than ${limit} bytes.`);
}
