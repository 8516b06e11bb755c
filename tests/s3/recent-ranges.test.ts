// Counts how often the S3 server requests consecutive ranges of an object from the service.

import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RecentRanges } from '../../packages/s3/src/recent-ranges.ts';
import type { StoredObject } from '../../packages/s3/src/stored-object.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;
const asked: string[] = [];
const Bucket = 'demo';
const Key = 'ranges.bin';
const bytes = sampleBytes('ranges', 4_000_000);
const step = 65_536;

beforeAll(async () => {
  service = await openService({ onReport: ({ method }) => asked.push(method) });
  s3Server = await openS3Server(service);
  client = s3Server.client();
  await client.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

async function get(start: number, end: number, IfMatch?: string): Promise<Uint8Array> {
  const Range = `bytes=${start}-${end - 1}`;
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range, IfMatch }));
  return (await Body?.transformToByteArray()) ?? new Uint8Array();
}

/** Counts requests for bytes only: how many records are requested depends on time. */
const reads = () => asked.filter((method) => /^read(File|Version)$/.test(method)).length;

test('RecentRanges: GET of consecutive ranges requests each chunk once', async () => {
  await get(0, step);
  expect(reads()).toBeGreaterThan(0);
  asked.length = 0;
  const got = [];
  for (let at = step; at < bytes.length; at += step) {
    got.push(await get(at, Math.min(at + step, bytes.length)));
  }
  expect(Buffer.compare(Buffer.concat(got), bytes.subarray(step))).toBe(0);
  expect(reads()).toBeLessThanOrEqual(3);
});

test('RecentRanges: GET of scattered ranges returns their bytes', async () => {
  for (const at of [3_000_000, 10, 1_000_000]) {
    expect(Buffer.compare(await get(at, at + 100), bytes.subarray(at, at + 100))).toBe(0);
  }
});

test('RecentRanges: GET of a range after a PUT has the new bytes only', async () => {
  await get(0, step);
  await get(step, 2 * step);
  const { ETag } = await client.send(new HeadObjectCommand({ Bucket, Key }));
  const other = sampleBytes('other', bytes.length);
  await client.send(new PutObjectCommand({ Bucket, Key, Body: other }));
  expect(Buffer.compare(await get(2 * step, 3 * step), other.subarray(2 * step, 3 * step))).toBe(0);
  const refused = { name: 'PreconditionFailed' };
  await expect(get(3 * step, 4 * step, ETag)).rejects.toMatchObject(refused);
});

test('RecentRanges: GET of a range has bytes of one version if another client has replaced the file', async () => {
  await get(0, step);
  const third = sampleBytes('third', bytes.length);
  await s3Server.storage.upload(third, { bucket: Bucket, path: Key, contentType: 'a/b' });
  const found = await get(step, 2 * step);
  expect(Buffer.compare(found, third.subarray(step, 2 * step))).toBe(0);
});

describe('RecentRanges', () => {
  const objectOf = (etag: string, size = 5_000_000) => ({ size, record: { etag } }) as StoredObject;
  let nowMs = 0;
  let loads = 0;
  const load = (etag: string) => async () => {
    loads += 1;
    return objectOf(etag);
  };

  test('find() asks again after a second, and after each change', async () => {
    const ranges = new RecentRanges(() => nowMs);
    loads = 0;
    await ranges.find('a', load('1'));
    nowMs += 999;
    await ranges.find('a', load('1'));
    expect(loads).toBe(1);
    nowMs += 1;
    await ranges.find('a', load('1'));
    expect(loads).toBe(2);
    ranges.noteChange();
    expect((await ranges.find('a', load('2'))).record.etag).toBe('2');
    await ranges.find('b', load('1'));
    expect(loads).toBe(4);
  });

  test('read() keeps one window, of one version, and forgets a failed one', async () => {
    const ranges = new RecentRanges(() => nowMs);
    const fetched: number[] = [];
    const fetch = async ({ start, end }: { start: number; end: number }) => {
      fetched.push(start);
      if (fetched.length === 2) throw new Error('away');
      return new Uint8Array(end - start);
    };
    const read = async (etag: string, start: number, end: number) => {
      const object = await ranges.find('a', load(etag));
      return ranges.read({ name: 'a', object, range: { start, end }, fetch });
    };
    expect(await read('1', 0, 10)).toBeUndefined();
    expect(await read('1', 10, 20)).toHaveLength(10);
    expect(await read('1', 30, 50)).toHaveLength(20);
    await expect(read('1', 1_900_000, 1_900_020)).rejects.toThrow('away');
    expect(await read('1', 1_900_020, 1_900_040)).toHaveLength(20);
    expect(fetched).toEqual([10, 1_900_000, 1_900_020]);
    nowMs += 2_000;
    expect(await read('2', 1_900_040, 1_900_060)).toBeUndefined();
    expect(await read('2', 2_500_000, 4_900_000)).toBeUndefined();
  });
});
