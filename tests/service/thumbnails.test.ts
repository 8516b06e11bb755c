// Thumbnails by the deployed Wasm: who may read them, what they cost, and that an upgrade keeps
// them.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { buildCanister } from '../../scripts/build.ts';
import { testPicture } from '../support/domain-fixture.ts';
import { lastReportOf, printCost, refusedAs } from '../support/method-reports.ts';
import { changeOf, keyFor, type Person, personOf } from '../support/people.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

interface Read {
  readonly results: readonly {
    readonly ok?: { path: string; etag: string; contentType: string; bytes: Uint8Array };
    readonly err?: string;
  }[];
  readonly left: readonly string[];
}

const reports: MessageReport[] = [];
const count = 100;
const paths = Array.from({ length: count }, (_, index) => `photos/${index}.jpg`);
let service: Service;
let owner: Person;
let nobody: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  nobody = personOf(service, 'nobody');
  await owner.get('createBucket', 'album', []);
  const files = paths.map((path) => ({
    ...{ path, bytes: sampleBytes(path, 100), contentType: [], tags: [], headers: [] },
    ...{ metadata: [], sha256: [], ifMatch: [], ifNoneMatch: [] },
  }));
  await owner.get('uploadFiles', { bucketId: 'album', apiKey: [], files });
});

afterAll(() => service?.stop());

function upload(path: string, change: object = {}) {
  const etag = sha256Hex(sampleBytes(path, 100));
  const bytes = testPicture(15_000, path.length);
  return { bucketId: 'album', path, etag, bytes, apiKey: [], ...change };
}

const read = (person: Person, wanted: readonly string[], key?: string) =>
  person.ask<Read>('readThumbnails', 'album', wanted, key === undefined ? [] : [key]);

async function keyOf(permissions: string[], fields: object = {}): Promise<string> {
  const key = { ...keyFor(['album'], permissions), ...fields };
  return (await owner.get<{ secret: string }>('createApiKey', key)).secret;
}

describe('putThumbnail', () => {
  test('stores a picture of 15 kB for less than 12 M instructions', async () => {
    for (const path of paths) await owner.get('putThumbnail', upload(path));
    const cost = lastReportOf(reports, 'putThumbnail', 'update');
    printCost('putThumbnail of 15 kB', cost);
    expect(Number(cost.instructions)).toBeLessThan(12_000_000);
  });

  test('refuses strangers, keys without write, and another version of the file', async () => {
    const path = paths[0] ?? '';
    expect(await nobody.ask('putThumbnail', upload(path))).toEqual(refusedAs('NoSuchBucket'));
    const cost = lastReportOf(reports, 'putThumbnail', 'inspect');
    printCost('putThumbnail of a stranger', cost);
    for (const permission of ['read', 'upload', 'delete']) {
      const apiKey = [await keyOf([permission])];
      const answer = await nobody.ask('putThumbnail', upload(path, { apiKey }));
      expect(answer).toEqual(refusedAs('AccessDenied'));
    }
    const apiKey = [await keyOf(['write'], { prefix: ['other/'] })];
    const outside = await nobody.ask('putThumbnail', upload(path, { apiKey }));
    expect(outside).toEqual(refusedAs('AccessDenied'));
    const other = await owner.ask('putThumbnail', upload(path, { etag: 'f'.repeat(64) }));
    expect(other).toEqual(refusedAs('PreconditionFailed'));
  });
});

describe('readThumbnails', () => {
  test('of 100 photographs answers at once, for less than 2.5 M instructions for each', async () => {
    const { ok } = await read(owner, paths);
    expect(ok?.left).toEqual([]);
    expect(ok?.results).toHaveLength(count);
    for (const [index, { ok: shown }] of (ok?.results ?? []).entries()) {
      const { etag, bytes } = upload(paths[index] ?? '');
      expect(shown).toMatchObject({ path: paths[index], etag, contentType: 'image/webp' });
      expect(Buffer.compare(shown?.bytes ?? Buffer.from(''), bytes)).toBe(0);
    }
    const cost = lastReportOf(reports, 'readThumbnails', 'query');
    printCost('100 thumbnails of 15 kB', cost);
    expect(Number(cost.instructions)).toBeLessThan(count * 2_500_000);
  });

  test('serves readers and keys within their prefix, and anybody in a public bucket', async () => {
    const [path = ''] = paths;
    const reader = await keyOf(['read']);
    expect((await read(nobody, [path], reader)).ok?.results).toMatchObject([{ ok: { path } }]);
    expect(await read(nobody, [path])).toEqual(refusedAs('NoSuchBucket'));
    expect(await read(nobody, [path], await keyOf(['write']))).toEqual(refusedAs('AccessDenied'));
    const within = await keyOf(['read'], { prefix: ['other/'] });
    const answer = await read(nobody, [path], within);
    expect(answer.ok?.results).toMatchObject([refusedAs('AccessDenied')]);
    await owner.get('updateBucket', changeOf('album', { isPublic: [true] }));
    expect((await read(nobody, [path])).ok?.results).toMatchObject([{ ok: { path } }]);
    await owner.get('updateBucket', changeOf('album', { isPublic: [false] }));
  });

  test('returns the same pictures after an upgrade', async () => {
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = new Uint8Array(await readFile(wasmPath));
    await service.network.upgrade(service.canisterId, wasm);
    // An update waits for the root key
    await owner.get('getCertifiedFile', 'album', paths[0], [], []);
    const { ok } = await read(owner, paths.slice(0, 3));
    expect(ok?.results.map(({ ok }) => ok?.bytes.length)).toEqual([15_012, 15_012, 15_012]);
  });
});

test('GET /api/v1/bucket/{bucket}/thumbnails/{path} has a type that browsers do not guess', async () => {
  const path = paths[0] ?? '';
  const key = await keyOf(['read', 'write']);
  const url = `${service.base}/api/v1/bucket/album/thumbnails/${path}`;
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/webp');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('cache-control')).toContain('no-store');
  expect(Buffer.from(await response.arrayBuffer())).toEqual(upload(path).bytes);
  expect((await fetch(url)).status).toBe(401);
});
