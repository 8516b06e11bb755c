// Copies, moves, changes, retires and restores files of version 0.1.0 over HTTP, and reads them
// through the verifying gateway.

import { IDL } from '@dfinity/candid';
import { expect } from 'vitest';
import { expectSameBytes } from './expect-same.ts';
import type { OldFile, ReleasedService } from './released-service.ts';
import { sampleBytes } from './service.ts';

const chunkBytes = 65_536;
const attemptsMax = 100;
const exposeField = 'access-control-expose-headers';

interface ShownFile {
  readonly version: number;
  readonly chunkSize?: number;
  readonly tags: readonly string[];
  readonly metadata?: Record<string, string>;
}

/** Repeats the request while keys are being fetched, as clients do. */
async function ask(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const response = await send();
    if (response.status !== 503) {
      expect(response.status, await response.clone().text()).toBeLessThan(300);
      return response;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return expect.fail('every attempt was answered by 503');
}

export class WorkOnFiles {
  readonly files: readonly OldFile[];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.files = [
      this.#file('demo', 'small', 300),
      this.#file('demo', 'large', 2 * chunkBytes + 5),
      this.#file('secret', 'hidden', chunkBytes + 7),
    ];
  }

  #file(bucket: string, name: string, size: number): OldFile {
    const path = `${this.#folder}/${name}`;
    const contentType = 'text/plain';
    const isLarge = size > chunkBytes;
    const bytes = sampleBytes(path, size);
    return {
      bucket,
      path,
      bytes,
      tags: ['old'],
      contentType,
      chunkBytes: isLarge ? chunkBytes : 0,
    };
  }

  /** Whether all public files are certified as by 0.1.0, whose answers do not expose the ETag. */
  async areOld(service: ReleasedService): Promise<boolean> {
    const shown = this.files.filter(({ bucket }) => bucket === 'demo');
    const answers = await Promise.all(shown.map((file) => ask(() => service.get(file))));
    return answers.every(({ headers }) => !headers.get(exposeField)?.includes('ETag'));
  }

  async #show(service: ReleasedService, { bucket, path }: OldFile): Promise<ShownFile> {
    const response = await ask(() => service.send('GET', bucket, `files/${encodeURI(path)}`));
    return (await response.json()) as ShownFile;
  }

  async #post(service: ReleasedService, bucket: string, [operation, body]: [string, object]) {
    const sent = { body: JSON.stringify(body) };
    return ask(() => service.send('POST', bucket, operation, sent));
  }

  async work(service: ReleasedService): Promise<void> {
    const [small, large, hidden] = this.files.map(({ path }) => path);
    const copy = { from: large, to: { bucket: 'secret', path: `${large} copy` } };
    await this.#post(service, 'demo', ['copy', copy]);
    await ask(() => service.send('DELETE', 'demo', `files/${encodeURI(large ?? '')}`));
    const move = { from: hidden, to: { bucket: 'demo', path: `${hidden} moved` } };
    await this.#post(service, 'secret', ['move', move]);
    await this.#keepDays(service, 1n);
    const url = `files/${encodeURI(small ?? '')}`;
    const change = { body: JSON.stringify({ tags: ['new'], metadata: { by: 'me' } }) };
    await ask(() => service.send('PATCH', 'demo', url, change));
    await ask(() => service.send('PUT', 'demo', url, { body: 'other bytes' }));
    await ask(() => service.send('DELETE', 'demo', url));
    await this.#post(service, 'demo', ['restore', { path: small, version: 2 }]);
    await this.#keepDays(service, 0n);
  }

  async #keepDays(service: ReleasedService, days: bigint): Promise<void> {
    const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
    const change = { bucketId: 'demo', keepVersionsDays: [days] };
    await service.call('updateBucket', [Change], [change]);
  }

  async check(service: ReleasedService): Promise<void> {
    const [small, large, hidden] = this.files;
    if (small === undefined || large === undefined || hidden === undefined) return expect.fail();
    const expected = [
      small,
      { ...large, bucket: 'secret', path: `${large.path} copy` },
      { ...hidden, bucket: 'demo', path: `${hidden.path} moved` },
    ];
    for (const file of expected) {
      const response = await ask(() => service.get(file));
      expectSameBytes(new Uint8Array(await response.arrayBuffer()), file.bytes, file.path);
      expect((await this.#show(service, file)).chunkSize, file.path).toBeGreaterThan(0);
    }
    const restored = await this.#show(service, small);
    expect(restored).toMatchObject({ version: 4, tags: ['new'], metadata: { by: 'me' } });
    for (const gone of [large, hidden]) expect((await service.get(gone)).status).toBe(404);
    const path = encodeURIComponent(small.path);
    const listed = await ask(() => service.send('GET', 'demo', `versions?path=${path}`));
    const { items } = (await listed.json()) as { items: { version: number; size: number }[] };
    const size = 'other bytes'.length;
    expect(items.map(({ version, ...item }) => [version, item.size])).toEqual([[3, size]]);
  }
}
