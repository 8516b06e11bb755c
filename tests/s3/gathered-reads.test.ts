// The groups in which the S3 server sends reads: when they are sent, how long they are, and what
// happens to the others if one of them fails.

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import type { Account } from '../../packages/s3/src/account.ts';
import { GatheredReads, type PendingReads } from '../../packages/s3/src/gathered-reads.ts';
import { RecordReads } from '../../packages/s3/src/record-reads.ts';
import { Semaphore } from '../../packages/s3/src/semaphore.ts';
import { SmallGets } from '../../packages/s3/src/small-gets.ts';

const account = { secrets: { readsOverHttp: false } } as unknown as Account;
const place = { account, bucket: 'demo' };

/** Reads whose groups end when the test says so. */
function heldReads() {
  const sent: { readonly reads: PendingReads<string>; readonly end: () => void }[] = [];
  const reads = new GatheredReads<string>(async (_, group) => {
    await new Promise<void>((end) => sent.push({ reads: group, end }));
    for (const [path, { resolve }] of group) resolve(`${path} of ${sent.length}`);
  });
  const paths = () => sent.map(({ reads: group }) => [...group.keys()]);
  return { reads, sent, paths };
}

describe('GatheredReads', () => {
  test('sends a read at once, and those that arrive meanwhile together after it', async () => {
    const { reads, sent, paths } = heldReads();
    const one = reads.read(place, 'a', 1);
    await nextTurn();
    expect(paths()).toEqual([['a']]);
    const others = ['b', 'c', 'd'].map((path) => reads.read(place, path, 1));
    await nextTurn();
    expect(paths()).toEqual([['a']]);
    sent[0]?.end();
    await one;
    await nextTurn();
    await nextTurn();
    expect(paths()).toEqual([['a'], ['b', 'c', 'd']]);
    sent[1]?.end();
    await Promise.all(others);
  });

  test('does not wait long for a read that takes long, or for another bucket', async () => {
    const { reads, sent, paths } = heldReads();
    const all = [reads.read(place, 'a', 1)];
    await nextTurn();
    all.push(reads.read({ ...place, bucket: 'other' }, 'b', 1), reads.read(place, 'c', 1));
    await nextTurn();
    expect(paths()).toEqual([['a'], ['b']]);
    await wait(100);
    expect(paths()).toEqual([['a'], ['b'], ['c']]);
    for (const { end } of sent) end();
    await Promise.all(all);
  });

  test('reads a path again for a request that arrives after its read was sent', async () => {
    const { reads, sent, paths } = heldReads();
    const before = [reads.read(place, 'a', 1), reads.read(place, 'a', 1)];
    await nextTurn();
    const after = reads.read(place, 'a', 1);
    sent[0]?.end();
    expect(await Promise.all(before)).toEqual(['a of 1', 'a of 1']);
    await nextTurn();
    await nextTurn();
    sent[1]?.end();
    expect(await after).toBe('a of 2');
    expect(paths()).toEqual([['a'], ['a']]);
  });

  test('sends at most 200 paths and 1.7 MB together', async () => {
    const sizes: number[][] = [];
    const reads = new GatheredReads<void>(async (_, group) => {
      sizes.push([...group.values()].map(({ size }) => size));
      for (const { resolve } of group.values()) resolve();
    });
    const read = (name: string, count: number, size: number) =>
      Array.from({ length: count }, (_, index) => reads.read(place, `${name}${index}`, size));
    await Promise.all([...read('long', 60, 100_000), ...read('short', 300, 100)]);
    for (const group of sizes) {
      expect(group.length).toBeLessThanOrEqual(200);
      expect(group.reduce((all, size) => all + size, 0)).toBeLessThanOrEqual(1_700_000);
    }
    expect(sizes.flat()).toHaveLength(360);
    expect(sizes.length).toBeLessThan(8);
  });

  test('rejects only the reads without a result if a group fails', async () => {
    const reads = new GatheredReads<string>(async (_, group) => {
      group.get('a')?.resolve('found');
      group.get('b')?.reject(new StorageError('NoSuchFile', 'no b'));
      throw new StorageError('NetworkError', 'away');
    });
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((one) => reads.read(place, one, 1)),
    );
    expect(results).toMatchObject([
      { value: 'found' },
      { reason: { code: 'NoSuchFile' } },
      { reason: { code: 'NetworkError' } },
    ]);
  });
});

describe('SmallGets', () => {
  const record = (path: string, etag = path) =>
    ({ bucketId: 'demo', path, etag, size: 10 }) as FileRecord;
  const download = (etag: string, size: number, bytes: () => Promise<Uint8Array>) => {
    return { etag, size, bytes, body: new ReadableStream() };
  };

  test('returns no bytes of another version, and does not read a file that has grown', async () => {
    const answers = [
      { path: 'same', download: download('same', 10, async () => new Uint8Array(10)) },
      { path: 'replaced', download: download('newer', 10, async () => new Uint8Array(10)) },
      {
        path: 'grown',
        download: download('grown', 3_000_000_000, () => expect.fail('reads gigabytes')),
      },
      {
        path: 'wrong',
        download: download('wrong', 10, () =>
          Promise.reject(new StorageError('IntegrityError', '')),
        ),
      },
      { path: 'missing', error: new StorageError('NoSuchFile', 'none') },
    ];
    const storage = {
      downloadAll: async function* () {
        yield* answers;
      },
    };
    const own = { ...account, storage } as unknown as Account;
    const gets = new SmallGets(new Semaphore(1, 0));
    const results = await Promise.allSettled(
      answers.map(({ path }) => gets.get(own, record(path))),
    );
    expect(results).toMatchObject([
      { value: new Uint8Array(10) },
      { value: undefined },
      { value: undefined },
      { reason: { code: 'IntegrityError' } },
      { reason: { code: 'NoSuchFile' } },
    ]);
  });

  test('gathers no longer files, and none over HTTP', () => {
    const gets = new SmallGets(new Semaphore(1, 0));
    const sized = (size: number) => ({ ...record('a'), size });
    expect(gets.isGathered(account, sized(100_000))).toBe(true);
    expect(gets.isGathered(account, sized(100_001))).toBe(false);
    const http = { secrets: { readsOverHttp: true } } as Account;
    expect(gets.isGathered(http, sized(10))).toBe(false);
  });
});

describe('RecordReads', () => {
  /** A service that counts the requests, and lists every other file. */
  function counted(listed: (path: string) => boolean) {
    const requests: string[] = [];
    const storage = {
      async stat({ path }: { path: string }) {
        requests.push(`stat ${path}`);
        if (path === 'none') throw new StorageError('NoSuchFile', 'none');
        return { path };
      },
      async listFolder({ startAfter, limit }: { startAfter: string; limit: number }) {
        requests.push(`list ${limit} after ${startAfter}`);
        const items = ['b', 'c', 'd', 'e', 'f'].filter(listed).map((path) => ({ path }));
        return { items, folders: [] };
      },
    };
    return { requests, own: { ...account, storage } as unknown as Account };
  }
  const findAll = (reads: RecordReads, own: Account, paths: readonly string[]) =>
    Promise.allSettled(paths.map((path) => reads.find(own, { bucket: 'demo', path })));

  test('reads the first record alone, others by a list, and those that it lacks alone', async () => {
    const { requests, own } = counted((path) => path !== 'd');
    const results = await findAll(new RecordReads(), own, ['d', 'c', 'none', 'a', 'b', 'f']);
    expect(results).toMatchObject([
      { value: { path: 'd' } },
      { value: { path: 'c' } },
      { reason: { code: 'NoSuchFile' } },
      ...['a', 'b', 'f'].map((path) => ({ value: { path } })),
    ]);
    expect(requests).toEqual(['stat a', 'list 20 after a', 'stat d', 'stat none']);
  });

  test('lists no more after a list that lacked most records', async () => {
    const { requests, own } = counted(() => false);
    const reads = new RecordReads();
    await findAll(reads, own, ['a', 'b']);
    await findAll(reads, own, ['a', 'b']);
    expect(requests).toEqual(['stat a', 'list 4 after a', 'stat b', 'stat a', 'stat b']);
  });
});
