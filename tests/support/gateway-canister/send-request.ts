// Sends one HTTP request to a gateway on this machine with any host name, without name resolution.

import { request } from 'node:http';

export interface SentRequest {
  readonly port: number;
  readonly host: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** False if the connection ended before the whole body arrived. */
  readonly isComplete: boolean;
}

export function sendRequest(sent: SentRequest): Promise<Received> {
  const { port, host, method = 'GET', path = '/', headers = {}, body } = sent;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: {
        host: `${host}:${port}`,
        ...(body === undefined || 'transfer-encoding' in headers
          ? {}
          : { 'content-length': String(body.length) }),
        ...headers,
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', () => undefined);
      incoming.on('close', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: Buffer.concat(chunks),
          isComplete: incoming.complete,
        }),
      );
    });
    outgoing.end(body);
  });
}
