// Many files in one request through the gateway, as browsers and curl send them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let api: string;

beforeAll(async () => {
  service = await openService();
  api = `${service.base}/api/v1/bucket/${service.bucket}`;
});
afterAll(() => service?.stop());

interface Answer {
  readonly status: number;
  readonly error?: { code: string };
  readonly items?: { path: string; status: number; error?: { code: string } }[];
  readonly results?: { path: string; deleted?: boolean; error?: { code: string } }[];
  readonly nextCursor?: string | null;
}

async function post(path: string, init: RequestInit): Promise<Answer> {
  const headers = { Authorization: `Bearer ${service.apiKey}`, ...init.headers };
  const response = await fetch(`${api}/${path}`, { method: 'POST', ...init, headers });
  return { status: response.status, ...((await response.json()) as object) };
}

const remove = (body: object) => post('delete', { body: JSON.stringify(body) });

/** Returns the form that `curl -F 'NAME=@FILE;type=TYPE'` sends, with one part for each field. */
function curlForm(fields: readonly (readonly [name: string, type: string, text: string])[]) {
  const boundary = '------------------------Xk3vVhTqPZt8Yw0d2Lr1aB';
  const parts = fields.map(
    ([name, type, text]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="local"\r\n` +
      `Content-Type: ${type}\r\n\r\n${text}\r\n`,
  );
  const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  return { headers, body: `${parts.join('')}--${boundary}--\r\n` };
}

test('a form sent by curl stores its files, which are served certified at once', async () => {
  const form = curlForm([
    ['many/a.txt', 'text/plain', 'first'],
    ['many/b.css', 'text/css', ''],
  ]);
  const { status, items } = await post('files', form);
  expect(status).toBe(200);
  expect(items?.map((item) => [item.path, item.status])).toEqual([
    ['many/a.txt', 201],
    ['many/b.css', 201],
  ]);
  const served = await fetch(`${service.base}/cloud/${service.bucket}/many/a.txt`);
  expect([served.status, served.headers.get('content-type'), await served.text()]).toEqual([
    200,
    'text/plain',
    'first',
  ]);
  const again = await post('files', form);
  expect(again.items?.map((item) => item.status)).toEqual([200, 200]);
});

test('a form sent by fetch stores 200 files of arbitrary bytes', async () => {
  const form = new FormData();
  for (let index = 0; index < 200; index++) {
    const bytes = sampleBytes(`${index}`, 9_000);
    form.append(`many/bytes/${index}.bin`, new Blob([bytes as BlobPart]), 'blob');
  }
  const { status, items } = await post('files', { body: form });
  expect([status, items?.length]).toEqual([200, 200]);
  const served = await fetch(`${service.base}/cloud/${service.bucket}/many/bytes/77.bin`);
  const body = Buffer.from(await served.arrayBuffer());
  expect(body.compare(sampleBytes('77', 9_000))).toBe(0);
});

test('a form with one invalid file stores and replaces none', async () => {
  const { status, error, items } = await post(
    'files',
    curlForm([
      ['many/a.txt', 'text/plain', 'second'],
      ['many/../b', 'text/plain', ''],
    ]),
  );
  expect([status, error?.code]).toEqual([400, 'InvalidPath']);
  expect(items?.map((item) => item.error?.code)).toEqual(['NotStored', 'InvalidPath']);
  const served = await fetch(`${service.base}/cloud/${service.bucket}/many/a.txt`);
  expect(await served.text()).toBe('first');
});

test.each([
  ['no boundary in its type', { 'Content-Type': 'multipart/form-data' }, 'x'],
  ['no boundary in its body', { 'Content-Type': 'multipart/form-data; boundary=B' }, 'x'],
  [
    '10,000 boundaries',
    { 'Content-Type': 'multipart/form-data; boundary=B' },
    '--B\r\n'.repeat(10_000),
  ],
])('a form with %s is refused', async (_, headers, body) => {
  expect(await post('files', { headers, body })).toMatchObject({ status: 400 });
});

test('a deletion of many paths reports the result for each', async () => {
  const { status, results, nextCursor } = await remove({ paths: ['many/a.txt', 'many/none'] });
  expect([status, nextCursor]).toEqual([200, null]);
  expect(results?.map((one) => [one.path, one.deleted, one.error?.code])).toEqual([
    ['many/a.txt', true, undefined],
    ['many/none', undefined, 'NoSuchFile'],
  ]);
  const served = await fetch(`${service.base}/cloud/${service.bucket}/many/a.txt`);
  expect(served.status).toBe(404);
});

test('a deletion by prefix deletes all files below it', async () => {
  const { results, nextCursor } = await remove({ prefix: 'many/' });
  expect([results?.length, nextCursor]).toEqual([201, null]);
  expect((await remove({ prefix: 'many/' })).results).toEqual([]);
  expect(await remove({})).toMatchObject({ status: 400, error: { code: 'InvalidArgument' } });
});
