// The console's upload queue, with a storage in memory.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { queueState, uploads } from '../../console/src/uploads/state.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import './support/english.ts';

type Queue = typeof import('../../console/src/uploads/queue.ts');

const bucket = 'demo';
let queue: Queue;

beforeAll(async () => {
  // The queue listens to the browser's events as soon as it is loaded.
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('navigator', {});
  queue = await import('../../console/src/uploads/queue.ts');
});
afterAll(() => {
  vi.unstubAllGlobals();
});

const states = () => uploads.value.map(({ path, state }) => `${path} ${state}`);

async function whenIdle(): Promise<void> {
  await expect.poll(() => queueState.value, { timeout: 5_000 }).toBe('idle');
}

/** The part of a stored file's record that the queue reads. */
function recordOf(path: string): FileRecord {
  return { path, contentType: 'text/plain' } as FileRecord;
}

/** Reads all files before the first outcome, as a batch does. */
function batchStorage(): { readonly storage: Storage; readonly stored: Map<string, number> } {
  const stored = new Map<string, number>();
  const storage: Pick<Storage, 'uploadAll'> = {
    async *uploadAll(files) {
      const read = [];
      for await (const file of files) read.push(file);
      for (const { path, source } of read) {
        const error = new StorageError('PreconditionFailed', 'The file exists.');
        if (stored.has(path)) yield { path, error };
        else {
          stored.set(path, (source as File).size);
          yield { path, file: recordOf(path) };
        }
      }
    },
  };
  return { storage: storage as Storage, stored };
}

describe('addUploads', () => {
  test('reports each outcome for its own file when two have one path', async () => {
    const { storage, stored } = batchStorage();
    const paths = ['a.txt', 'b.txt', 'a.txt'];
    await queue.addUploads(
      paths.map((path, index) => {
        return { target: { storage, bucket, path }, file: new File(['x'.repeat(index)], path) };
      }),
    );
    await whenIdle();
    expect(states()).toEqual(['a.txt stored', 'b.txt stored', 'a.txt exists']);
    expect([...stored]).toEqual([
      ['a.txt', 0],
      ['b.txt', 1],
    ]);
    queue.cancelUploads(uploads.value);
  });
});

/**
 * Uploads of a.bin and b.bin end when they are stopped, b.bin's 20 ms later; a further upload of
 * b.bin is stored.
 */
function stoppedStorage(): { readonly storage: Storage; readonly sent: string[] } {
  const sent: string[] = [];
  const storage: Pick<Storage, 'upload'> = {
    upload(_, { path, signal }) {
      const isAgain = sent.includes(path);
      sent.push(path);
      return new Promise((resolve, reject) => {
        if (isAgain) setTimeout(() => resolve(recordOf(path)), 60);
        signal?.addEventListener('abort', () =>
          setTimeout(() => reject(signal.reason), path === 'b.bin' ? 20 : 0),
        );
      });
    },
  };
  return { storage: storage as Storage, sent };
}

describe('cancelUploads', () => {
  test('of one large file sends the other one once more, although its first sending ends late', async () => {
    const { storage, sent } = stoppedStorage();
    const file = (path: string) => new File([new Uint8Array(200_000)], path);
    await queue.addUploads(
      ['a.bin', 'b.bin'].map((path) => {
        return { target: { storage, bucket, path }, file: file(path) };
      }),
    );
    queue.cancelUploads(uploads.value.slice(0, 1));
    await whenIdle();
    expect(sent).toEqual(['a.bin', 'b.bin', 'b.bin']);
    expect(states()).toEqual(['b.bin stored']);
    queue.cancelUploads(uploads.value);
  });
});

describe('retryUpload', () => {
  test('keeps both by at most 20 further names, then asks again', async () => {
    const sent: string[] = [];
    const storage: Pick<Storage, 'uploadAll'> = {
      // A gateway could refuse every name.
      async *uploadAll(files) {
        for await (const { path } of files) {
          sent.push(path);
          yield { path, error: new StorageError('PreconditionFailed', 'The file exists.') };
        }
      },
    };
    const target = { storage: storage as Storage, bucket, path: 'a.txt' };
    await queue.addUploads([{ target, file: new File(['x'], 'a.txt') }]);
    await whenIdle();
    const [item] = uploads.value;
    if (item === undefined) return expect.fail('no upload');
    queue.retryUpload(item, 'both');
    await expect.poll(() => item.state).toBe('exists');
    await whenIdle();
    expect(sent).toHaveLength(22);
    expect(sent.at(-1)).toBe('a (22).txt');
    queue.cancelUploads([item]);
  });
});

describe('chooseForAll', () => {
  test.each([
    ['replace', ['a.txt stored', 'b.txt stored'], ['a.txt', 'b.txt', 'a.txt', 'b.txt']],
    [
      'both',
      ['a (2).txt stored', 'b (2).txt stored'],
      ['a.txt', 'b.txt', 'a (2).txt', 'b (2).txt'],
    ],
    ['skip', [], ['a.txt', 'b.txt']],
  ] as const)(
    '%s also decides for files that turn out to exist later',
    async (choice, after, sends) => {
      let goOn = () => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const sent: string[] = [];
      const taken = new Set(['a.txt', 'b.txt']);
      const storage: Pick<Storage, 'uploadAll'> = {
        async *uploadAll(files) {
          for await (const { path, ifNoneMatch } of files) {
            sent.push(path);
            if (path === 'b.txt') await held;
            const isRefused = taken.has(path) && ifNoneMatch === '*';
            if (isRefused)
              yield { path, error: new StorageError('PreconditionFailed', 'It exists.') };
            else yield { path, file: recordOf(path) };
          }
        },
      };
      const files = ['a.txt', 'b.txt'].map((path) => {
        return {
          target: { storage: storage as Storage, bucket, path },
          file: new File(['x'], path),
        };
      });
      await queue.addUploads(files);
      await expect.poll(states).toEqual(['a.txt exists', 'b.txt sending']);
      queue.chooseForAll(choice);
      goOn();
      await whenIdle();
      expect(states()).toEqual(after);
      expect(sent.sort()).toEqual([...sends].sort());
      queue.cancelUploads(uploads.value);
    },
  );
});
