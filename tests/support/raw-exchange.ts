// Exchanges HTTP messages with a gateway byte for byte and by host name: fetch() cannot set Host
// and hides parts of the response.

import { request } from 'node:http';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array | string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** `base`: URL of the gateway. `host`: without the port. */
export function exchangeWith(base: string, host: string, sent: RawRequest): Promise<RawAnswer> {
  const { port } = new URL(base);
  const { method, path, headers = {}, body } = sent;
  return new Promise((resolve, reject) => {
    const fields = { ...headers, Host: `${host}:${port}` };
    const exchange = request(
      { host: '127.0.0.1', port, method, path, headers: fields },
      (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.once('error', reject);
        answer.once('end', () => {
          const names = Object.entries(answer.headers).map(([name, value]) => [name, `${value}`]);
          const status = answer.statusCode ?? 0;
          resolve({ status, headers: Object.fromEntries(names), body: Buffer.concat(pieces) });
        });
      },
    );
    exchange.once('error', reject);
    exchange.end(body);
  });
}
