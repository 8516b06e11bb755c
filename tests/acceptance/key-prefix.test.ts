// A key with a prefix reaches nothing outside the prefix, by any operation that takes a key, and
// does not learn what exists there: over HTTP through the verifying gateway, and by actor methods.

import { inspect } from 'node:util';
import { IDL } from '@dfinity/candid';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/http/routes.ts';
import { methods, sendCall, sendRequest } from '../support/keyed-calls.ts';
import {
  type ActorRow,
  actorRows,
  type HttpRow,
  httpRows,
  pictureOf,
  type Spot,
  wholeMethods,
  wholeRoutes,
} from '../support/keyed-operations.ts';
import type { Caller } from '../support/network/network-interface.ts';
import { keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

const bucket = 'parted';
const rowCount = actorRows.length + httpRows.length;
const absentUpload = '00'.repeat(16);
const everything = ['read', 'write', 'delete', 'retain'];
let service: Service;
let owner: Person;
/**
 * Secrets of keys with all permissions for the whole bucket and for `in/`, and of one with `write`
 * for `in/`.
 */
let whole: string;
let part: string;
let drop: string;
/** Path of a file outside `in/`. */
let before: string;
/** Upload sessions by path. */
const uploads = new Map<string, string>();

const pathOf = (side: 'in' | 'out', index: number) => `${side}/${index}.txt`;
const ownOf = (index: number) => `in/own/${index}.txt`;

function call(name: string, values: readonly unknown[], caller?: Caller): Promise<unknown> {
  return sendCall(service, { name, values }, caller);
}

interface Outcome {
  readonly status?: number;
  /** Code and message of the refusal of the call or of one of its items. */
  readonly refusal: string | undefined;
}

function refusalIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'err' || name === 'error') {
      const error = Array.isArray(inner) ? inner[0] : inner;
      if (typeof error === 'string') return error;
      if (error !== undefined) return `${error.code}: ${error.message}`;
    }
    const found = refusalIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function outcomeOf(row: ActorRow | HttpRow, spot: Spot): Promise<Outcome> {
  if ('values' in row) {
    return { refusal: refusalIn(await call(row.method, row.values(spot))) };
  }
  const { status, text } = await sendRequest(service, row, spot);
  const isJson = text.startsWith('{');
  // The index of the form of `read`
  const json = isJson ? text : /^\{"results":.*$/m.exec(text)?.[0];
  const refusal = json === undefined ? undefined : refusalIn(JSON.parse(json));
  return { status, refusal: refusal ?? (status < 400 ? undefined : `HTTP ${status}`) };
}

/** Replaces the path and the upload id of the request. */
function unnamed({ status, refusal = '' }: Outcome, { path, uploadId }: Spot): Outcome {
  const told = refusal.replaceAll(path, '…').replaceAll(uploadId.slice(0, 4), '…');
  return { status: status ?? 0, refusal: told };
}

function spotOf(side: 'in' | 'out', index: number): Spot {
  const path = pathOf(side, index);
  const uploadId = uploads.get(path) ?? absentUpload;
  return { bucket, key: part, path, uploadId, own: ownOf(index), fresh: `in/new/${index}.txt` };
}

function usesSession(row: ActorRow | HttpRow): boolean {
  return 'url' in row
    ? row.url({ ...spotOf('in', 0), uploadId: absentUpload }).includes(absentUpload)
    : row.method.startsWith('completeFileUpload');
}

async function putAll(paths: readonly string[]): Promise<void> {
  const files = paths.map((path) => ({ path, bytes: Uint8Array.of(66) }));
  const sent = { bucketId: bucket, apiKey: whole, files };
  expect(refusalIn(await call('uploadFiles', [sent]))).toBeUndefined();
}

async function putThumbnails(index: number): Promise<void> {
  for (const side of ['in', 'out'] as const) {
    const sent = { bucketId: bucket, apiKey: whole, path: pathOf(side, index), ...pictureOf };
    expect(refusalIn(await call('putThumbnail', [sent]))).toBeUndefined();
  }
}

async function openUpload(path: string): Promise<void> {
  const begun = (await call('beginFileUpload', [bucket, path, 'a/b', 1n, whole])) as { ok: string };
  await call('uploadFileChunkIndexed', [begun.ok, 0n, Uint8Array.of(1)]);
  uploads.set(path, begun.ok);
}

async function openTusUpload(path: string): Promise<void> {
  const metadata = `path ${Buffer.from(path).toString('base64')}`;
  const fields = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1', 'Upload-Metadata': metadata };
  const headers = { Authorization: `Bearer ${whole}`, ...fields };
  const url = `${service.base}/api/v1/tus/${bucket}`;
  const made = await fetch(url, { method: 'POST', headers });
  uploads.set(path, made.headers.get('location')?.split('/').at(-1) ?? '');
}

function send(method: string, tail: string, key: string, body?: string): Promise<Response> {
  return fetch(`${service.base}/api/v1/bucket/${bucket}/${tail}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/plain' },
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the open uploads, files and versions outside the prefix. */
async function outside(): Promise<string> {
  const read = async (tail: string) => (await send('GET', tail, whole)).json();
  const { items } = (await read('upload')) as { items: { path: string }[] };
  const open = items.filter(({ path }) => !path.startsWith('in/'));
  const found = ['files?limit=1000&prefix=out', 'versions?limit=1000&prefix=out'].map(read);
  return JSON.stringify([open, ...(await Promise.all(found))]);
}

beforeAll(async () => {
  service = await openService();
  owner = personOf(service, 'owner');
  await owner.get('createBucket', bucket, []);
  const change = { bucketId: bucket, keepVersionsDays: 1n };
  expect(refusalIn(await call('updateBucket', [change], 'owner'))).toBeUndefined();
  const newKey = async (fields: object) =>
    (
      await owner.get<{ secret: string }>('createApiKey', {
        ...keyFor([bucket], everything),
        ...fields,
      })
    ).secret;
  whole = await newKey({});
  part = await newKey({ prefix: ['in/'] });
  drop = await newKey({ prefix: ['in/'], permissions: ['write'] });
  const indexes = Array.from({ length: rowCount }, (_, index) => index);
  for (const side of ['in', 'out'] as const) {
    const paths = indexes.map((index) => pathOf(side, index));
    await putAll(paths);
    await putAll(paths);
  }
  await putAll(indexes.map(ownOf));
  for (const [index, row] of [...actorRows, ...httpRows].entries()) {
    if ('url' in row ? row.url(spotOf('in', 0)).includes('/thumbnails') : /Thumb/.test(row.method))
      await putThumbnails(index);
    if (!usesSession(row)) continue;
    const open = 'url' in row && row.headers !== undefined ? openTusUpload : openUpload;
    await open(pathOf('in', index));
    await open(pathOf('out', index));
  }
  before = await outside();
});

afterAll(() => service?.stop());

describe('the table of operations', () => {
  test('has each method that takes a key', () => {
    const isKeyed = (type: IDL.Type) =>
      type.display() === 'opt text' ||
      (type instanceof IDL.RecordClass && type._fields.some(([name]) => name === 'apiKey'));
    const keyed = [...methods.values()].filter(({ parameters }) => parameters.some(isKeyed));
    const named = new Set([...actorRows.map(({ method }) => method), ...wholeMethods]);
    expect([...named].sort()).toEqual(keyed.map(({ name }) => name).sort());
  });

  test('has each route except the status, metrics, links, well-known texts and pages', () => {
    const known = routes.flatMap(({ pattern, handlers }) =>
      Object.keys(handlers).map((method) => `${method} ${pattern.source}`),
    );
    const urls = httpRows.map((row) => `${row.method} ${row.url(spotOf('in', 0))}`);
    const wholes = wholeRoutes.map((row) => row.replace(' ', ` /api/v1/bucket/${bucket}/`));
    const statuses = ['GET', 'HEAD'].flatMap((method) => [
      `${method} /api/v1/status`,
      `${method} /metrics`,
      `${method} /s/x/y`,
      `${method} /.well-known/x`,
      `${method} /`,
    ]);
    const named = [...urls, ...wholes, ...statuses, 'POST /s/x/y'].map((row) => {
      const [method = '', url = ''] = row.split(' ');
      const path = url.replace(/\?.*/, '');
      const route = routes.find(({ pattern }) => new RegExp(pattern.source, 's').test(path));
      return `${method} ${route?.pattern.source}`;
    });
    expect([...new Set(named)].sort()).toEqual([...new Set(known)].sort());
  });
});

const named = [...actorRows, ...httpRows].map((row, index) => {
  const spot = { ...spotOf('out', index), key: '', fresh: 'in/new' };
  const text =
    'url' in row
      ? `${row.url(spot)} ${row.body?.(spot) ?? ''}`
      : inspect(row.values(spot), { breakLength: Infinity });
  return [`${row.method} ${text}`, row, index] as const;
});

test.each(named)(
  'paths outside the prefix are refused, whether or not a file exists: %s',
  async (_, row, index) => {
    const spot = spotOf('out', index);
    const there = await outcomeOf(row, spot);
    const none = { ...spot, path: `out/none-${index}`, uploadId: absentUpload };
    const absent = await outcomeOf(row, none);
    const isSession = 'url' in row && usesSession(row);
    const codes = isSession ? '(?:NoSuchUpload: |HTTP 404)' : '(?:AccessDenied: .*"in/"|HTTP 403)';
    expect(there.refusal).toMatch(new RegExp(codes));
    // Whoever knows the id of a session that an actor call began with a key may continue it, so its
    // refusal may reveal that it exists.
    if (row.method.startsWith('completeFileUpload')) return;
    expect(unnamed(there, spot)).toEqual(unnamed(absent, none));
  },
);

test('files outside the prefix are unchanged after these refusals', async () => {
  expect(before).toContain('"out/0.txt"');
  expect(await outside()).toBe(before);
});

test.each(named)('paths inside the prefix are accepted: %s', async (_, row, index) => {
  expect((await outcomeOf(row, spotOf('in', index))).refusal).toBeUndefined();
});

test('files outside the prefix are unchanged after these operations', async () => {
  expect(await outside()).toBe(before);
});

describe('requests for the whole bucket', () => {
  test("show the bucket's record only to keys without a prefix, because it counts all files", async () => {
    expect(refusalIn(await call('getBucket', [bucket, part]))).toMatch(/^AccessDenied: .*"in\/"/);
    expect(refusalIn(await call('getBucket', [bucket, whole]))).toBeUndefined();
  });

  test('list the uploads that the key began', async () => {
    const body = JSON.stringify({ path: 'in/mine', size: 1 });
    const begun = (await (await send('POST', 'upload/start', part, body)).json()) as {
      sessionId: string;
    };
    const all = (await (await send('GET', 'upload', whole)).json()) as { items: object[] };
    expect(all.items.length).toBeGreaterThan(3);
    const { items } = (await (await send('GET', 'upload', part)).json()) as {
      items: { sessionId: string; path: string }[];
    };
    expect(items.map(({ sessionId }) => sessionId)).toContain(begun.sessionId);
    expect(items.every(({ path }) => path.startsWith('in/'))).toBe(true);
    const { ok } = (await call('listUploads', [bucket, part])) as { ok: { uploadId: string }[] };
    expect(ok.map(({ uploadId }) => uploadId)).toEqual(items.map(({ sessionId }) => sessionId));
  });

  test("list only files within the key's prefix, also without a prefix or with a shorter one", async () => {
    for (const tail of ['files?', 'files?prefix=i&', 'files?delimiter=/&', 'versions?', 'usage?']) {
      const listed = await (await send('GET', tail, part)).text();
      expect(listed, tail).not.toContain('out/');
      const asked = await send('GET', `${tail.replace('prefix=i&', '')}prefix=in/`, part);
      expect(listed, tail).toBe(await asked.text());
    }
  });

  test('list nothing outside the prefix, even with a forged cursor', async () => {
    const cursor = Buffer.from('\x01a\x001').toString('base64url');
    for (const tail of ['versions?limit=1000', 'versions?limit=1000&path=in/1.txt']) {
      const listed = await (await send('GET', `${tail}&cursor=${cursor}`, part)).text();
      expect(listed, tail).not.toContain('out/');
    }
  });
});

describe('the prefix is compared byte by byte:', () => {
  test.each([
    ['in', 403],
    ['In/a', 403],
    ['inn/a', 403],
    ['%2Fin/a', 403],
    ['in/../out/a', 400],
    ['in%2F..%2Fout/a', 400],
    ['in/./a', 400],
    ['in//a', 400],
    ['in%2Fa', 201],
  ])('PUT of %s answers %i', async (path, status) => {
    const url = `/api/v1/bucket/${bucket}/files/${path}`;
    const headers = { Authorization: `Bearer ${part}`, 'Content-Type': 'text/plain' };
    const sent = { method: 'PUT', path: url, headers, body: 'x' };
    expect((await exchangeWith(service.base, 'localhost', sent)).status).toBe(status);
  });
});

describe('a drop box', () => {
  test('accepts files below its prefix, by PUT and by upload sessions', async () => {
    expect((await send('PUT', 'files/in/d1', drop, 'x')).status).toBe(201);
    expect((await send('PUT', 'files/in/d1', drop, 'y')).status).toBe(200);
    expect((await send('PUT', 'files/out/d1', drop, 'x')).status).toBe(403);
    const start = JSON.stringify({ path: 'in/d2', size: 1 });
    const begun = await send('POST', 'upload/start', drop, start);
    const { sessionId } = (await begun.json()) as { sessionId: string };
    await send('PUT', `upload/${sessionId}/chunk/0`, drop, 'x');
    expect((await send('POST', `upload/${sessionId}/complete`, drop)).status).toBe(201);
  });

  test('shows none of its contents', async () => {
    const reads = ['files/in/d1', 'files', 'files?prefix=in/', 'versions', 'usage', 'upload'];
    for (const tail of reads) {
      expect((await send('GET', tail, drop)).status, tail).toBe(403);
    }
    expect((await send('DELETE', 'files/in/d1', drop)).status).toBe(403);
    const cloud = `${service.base}/cloud/${bucket}/in/d1`;
    const shown = await fetch(cloud, { headers: { Authorization: `Bearer ${drop}` } });
    expect(shown.status).toBe(403);
  });
});

test('listApiKeys shows the prefix of each key', async () => {
  const keys = await owner.get<{ prefix: string[] }[]>('listApiKeys', bucket);
  expect(keys.map(({ prefix }) => prefix)).toEqual([[], ['in/'], ['in/']]);
});
