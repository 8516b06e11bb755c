// Requests that are too large get 431 or 414 if the gateway can verify the answer, and otherwise
// 503 with an explanation.

import { request as send } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service?.stop());

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Uses node:http, because `fetch` joins and limits headers. */
function get(path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = send(`${service.base}${path}`, { headers }, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject).end();
  });
}

const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x-${index}`, 'a']));
const codeOf = ({ body }: Answer) => JSON.parse(body).error.code;

test.each([
  ['150 headers', many],
  ['12 kB of headers', { cookie: 'a'.repeat(12_000) }],
])('%s are answered 431', async (_, headers) => {
  for (const path of ['/api/v1/status', '/cloud/none/a']) {
    const answer = await get(path, headers);
    expect([answer.status, codeOf(answer)]).toEqual([431, 'HeadersTooLarge']);
  }
  // The gateway cannot verify a 431 on a certified path, so it answers 503 with its own text.
  const answer = await get('/cloud/demo/a', headers);
  expect(answer.status).toBe(503);
  expect(answer.body).toContain('more than 100 headers');
});

test('a URL of 5,500 bytes is answered 414', async () => {
  const answer = await get(`/api/v1/bucket/demo/files/${'a'.repeat(5_500)}`, {});
  expect([answer.status, codeOf(answer)]).toEqual([414, 'UriTooLong']);
});

test('95 headers are accepted', async () => {
  const few = Object.fromEntries(Object.entries(many).slice(0, 95));
  expect((await get('/api/v1/status', few)).status).toBe(200);
});
