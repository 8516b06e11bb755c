// Many files in one query: who may read which, how many fit, and what it costs.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import {
  readFileCountMax,
  readFileRestBytes,
  readFilesBytesMax,
} from '../../packages/wire/src/limits.ts';
import { lastReportOf, printCost, refusedAs } from '../support/method-reports.ts';
import { keyFor, type Person, personOf } from '../support/people.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

interface Whole {
  readonly path: string;
  readonly etag: string;
  readonly contentType: string;
  readonly chunkBytes: bigint;
  readonly bytes: Uint8Array;
}

interface Read {
  readonly results: readonly { readonly ok?: Whole; readonly err?: string }[];
  readonly left: readonly string[];
}

const reports: MessageReport[] = [];
let service: Service;
let owner: Person;
let nobody: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  nobody = personOf(service, 'nobody');
  await owner.get('createBucket', 'files', []);
  await owner.get('createBucket', 'open', [{ isPublic: [true] }]);
  for (const [path, size] of [...sizes, ...tiny]) await store('files', path, size);
  await store('open', 'a', 10);
});

afterAll(() => service?.stop());

const sizes: readonly [path: string, size: number][] = [
  ['empty', 0],
  ['in/ä', 1_000],
  ['in/b', 70_000],
  ['out', 5],
  ['half 1', 1_000_000],
  ['half 2', 1_000_000],
];
const tiny = Array.from({ length: 200 }, (_, index): [string, number] => [`tiny/${index}`, 1_000]);

async function store(bucketId: string, path: string, size: number): Promise<void> {
  const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [], metadata: [] };
  const bytes = sampleBytes(path, size);
  await owner.get('uploadFile', { bucketId, path, contentType: 'a/b', bytes, ...none });
}

const read = (person: Person, paths: readonly string[], key?: string, bucket = 'files') =>
  person.get<Read>('readFiles', bucket, paths, key === undefined ? [] : [key]);

describe('readFiles', () => {
  test('returns whole files in the order of their paths, and the error of each other path', async () => {
    const { results, left } = await read(owner, ['in/b', 'none', 'empty', '/in/ä', '']);
    expect(left).toEqual([]);
    expect(results).toMatchObject([
      { ok: { path: 'in/b', contentType: 'a/b', chunkBytes: 70_000n } },
      { err: expect.stringMatching(/^NoSuchFile: .*"none"/) },
      { ok: { path: 'empty', bytes: new Uint8Array(0) } },
      { ok: { path: '/in/ä' } },
      { err: expect.stringMatching(/^InvalidPath: /) },
    ]);
    for (const [at, path, size] of [
      [0, 'in/b', 70_000],
      [3, 'in/ä', 1_000],
    ] as const) {
      const bytes = sampleBytes(path, size);
      expect(Buffer.compare(results[at]?.ok?.bytes ?? Buffer.from(''), bytes)).toBe(0);
      expect(results[at]?.ok?.etag).toBe(sha256Hex(bytes));
    }
  });

  test('names the files that do not fit, and continues with them', async () => {
    const first = await read(owner, ['half 1', 'half 2', 'out']);
    expect(first.results.map(({ ok }) => ok?.path)).toEqual(['half 1']);
    expect(first.left).toEqual(['half 2', 'out']);
    const rest = await read(owner, first.left);
    expect(rest.results.map(({ ok }) => ok?.path)).toEqual(['half 2', 'out']);
    expect(rest.left).toEqual([]);
  });

  test('reads the largest file that fits, and refuses a larger one without the others', async () => {
    const fits = readFilesBytesMax - readFileRestBytes - 'big'.length;
    await store('files', 'big', fits);
    const { results } = await read(owner, ['big']);
    expect(results[0]?.ok?.bytes).toHaveLength(fits);
    // The answer has the path as sent, which a slash makes longer.
    expect((await read(owner, ['/big'])).results).toMatchObject([refusedAs('EntityTooLarge')]);
    await store('files', 'big', fits + 1);
    const mixed = await read(owner, ['out', 'big', 'empty']);
    expect(mixed.results).toMatchObject([{ ok: {} }, refusedAs('EntityTooLarge'), { ok: {} }]);
  });

  test('serves readers of the bucket, keys within their prefix, and anybody a public bucket', async () => {
    const keyOf = async (fields: object) =>
      (await owner.get<{ secret: string }>('createApiKey', { ...keyFor(['files']), ...fields }))
        .secret;
    const within = await keyOf({ permissions: ['read'], prefix: ['in/'] });
    const { results } = await read(nobody, ['in/ä', 'out'], within);
    expect(results).toMatchObject([{ ok: { path: 'in/ä' } }, refusedAs('AccessDenied')]);
    const writer = await keyOf({ permissions: ['write'] });
    expect(await nobody.ask('readFiles', 'files', ['out'], [writer])).toEqual(
      refusedAs('AccessDenied'),
    );
    expect(await nobody.ask('readFiles', 'files', ['out'], [])).toEqual(refusedAs('NoSuchBucket'));
    expect((await read(nobody, ['a'], undefined, 'open')).results).toMatchObject([{ ok: {} }]);
  });

  test('refuses more than 200 paths', async () => {
    const paths = Array.from({ length: readFileCountMax + 1 }, (_, index) => `tiny/${index}`);
    expect(await owner.ask('readFiles', 'files', paths, [])).toEqual(refusedAs('InvalidArgument'));
  });

  test('of 200 files of 1 kB takes less than 2.2 M instructions for each', async () => {
    const { results } = await read(
      owner,
      tiny.map(([path]) => path),
    );
    expect(results.filter(({ ok }) => ok !== undefined)).toHaveLength(200);
    const cost = lastReportOf(reports, 'readFiles', 'query');
    printCost('200 files of 1 kB', cost);
    await owner.get('readFile', 'files', 'tiny/1', 0n, 1_000n, []);
    printCost('one file of 1 kB', lastReportOf(reports, 'readFile', 'query'));
    expect(Number(cost.instructions)).toBeLessThan(200 * 2_200_000);
  });
});
