// Requests of the acceptance tests with the service's API key, and parsers of the responses.

import type { Service } from './service.ts';

export interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array | string;
}

export interface FileClient {
  /** Sends a request to the API, with the key. */
  send(method: string, path: string, sent?: Sent): Promise<Response>;
  put(path: string, body: Uint8Array | string, headers?: Record<string, string>): Promise<Response>;
  /** Requests the public URL. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  head(path: string, headers?: Record<string, string>): Promise<Response>;
}

export function openFileClient(service: Service): FileClient {
  const { base, bucket, apiKey } = service;
  const cloud = (path: string) => `${base}/cloud/${bucket}/${path}`;
  const send = (method: string, path: string, sent: Sent = {}) =>
    fetch(`${base}/api/v1/bucket/${bucket}/files/${path}`, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, ...sent.headers },
      ...(sent.body !== undefined && { body: sent.body as BodyInit }),
    });
  return {
    send,
    put: (path, body, headers = {}) =>
      send('PUT', path, { body, headers: { 'Content-Type': 'text/plain', ...headers } }),
    get: (path, headers = {}) => fetch(cloud(path), { headers }),
    head: (path, headers = {}) => fetch(cloud(path), { method: 'HEAD', headers }),
  };
}

/** Returns the status and the error of an answer that must be a refusal. */
export async function refusalOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { code: string; message: string; requestId: string; details?: Record<string, unknown> };
  };
  return { status: response.status, ...error };
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}
