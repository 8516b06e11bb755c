// The service as version 0.1.0 deployed it, with files, keys and open uploads of every kind, and
// clients that continue through an upgrade.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { sampleBytes } from './service.ts';

export interface OldFile {
  readonly bucket: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly tags: readonly string[];
  readonly contentType: string;
  /** 0: uploaded by one call. */
  readonly chunkBytes: number;
}

export interface OldSession {
  readonly uploadId: string;
  readonly isOverHttp: boolean;
  readonly file: OldFile;
}

const chunkBytes = 65_536;
const types = ['text/plain', 'image/png', 'text/html', 'application/x-unknown'];

/** Files of every kind: types, tags, empty, several chunks, folders; one in ten is private. */
export function oldFiles(count: number): OldFile[] {
  return Array.from({ length: count }, (_, index) => {
    const isLarge = index % 200 === 7;
    const size = isLarge ? 2 * chunkBytes + index : index % 50 === 3 ? 0 : 100 + index;
    return {
      bucket: index % 10 === 9 ? 'secret' : 'demo',
      // 0.1.0 accepted characters that change the direction of text.
      path: `folder ${index % 7}/${index % 50 === 11 ? '\u202a' : ''}é${index}.bin`,
      bytes: sampleBytes(`old ${index}`, size),
      tags: index % 3 === 0 ? ['a', `t${index % 5}`] : [],
      contentType: types[index % types.length] ?? '',
      chunkBytes: isLarge ? chunkBytes : 0,
    };
  });
}

/** Returns the results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  hands: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const hand = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: hands }, hand));
  return results;
}

const Any = IDL.Variant({ ok: IDL.Unknown, err: IDL.Text });
const Status = IDL.Record({ encryption: IDL.Record({ isRotating: IDL.Bool }) });
const Bucket = IDL.Record({ fileCount: IDL.Nat, overheadBytes: IDL.Nat, openUploads: IDL.Nat });

function resultOf(ok: IDL.Type): IDL.Type {
  return IDL.Variant({ ok, err: IDL.Text });
}

interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly chunkSize?: number;
}

/** Returns the least overhead of a bucket that counts that of each file. */
function countedBytes({ fileCount }: { readonly fileCount: bigint }): bigint {
  return 1_600n * fileCount;
}

export class ReleasedService {
  #apiKey = '';

  constructor(
    readonly replica: Replica,
    readonly canisterId: string,
    readonly owner: Principal,
  ) {}

  /** Calls as the owner; returns the value of `ok`. */
  async call(method: string, types: IDL.Type[], values: unknown[], ok?: IDL.Type) {
    const argument = IDL.encode(types, values);
    const { replica, owner: sender } = this;
    const isQuery = /^(?:get|list)/.test(method);
    const send = isQuery ? replica.query : replica.call;
    const reply = await send(this.canisterId, method, argument, { sender });
    const [result] = IDL.decode([ok === undefined ? Any : resultOf(ok)], reply);
    const { ok: value, err } = result as unknown as { ok?: unknown; err?: string };
    if (err !== undefined) throw new Error(`${method}: ${err}`);
    return value;
  }

  /** Creates two buckets, one private, and a key for both. */
  async prepare(): Promise<void> {
    for (const bucket of ['demo', 'secret']) await this.call('createBucket', [IDL.Text], [bucket]);
    const Change = IDL.Record({ bucketId: IDL.Text, isPublic: IDL.Opt(IDL.Bool) });
    await this.call('updateBucket', [Change], [{ bucketId: 'secret', isPublic: [false] }]);
    const texts = IDL.Vec(IDL.Text);
    const Request = IDL.Record({
      ...{ name: IDL.Text, buckets: texts, permissions: texts },
      expiresAt: IDL.Opt(IDL.Int),
    });
    const permissions = ['read', 'write', 'delete'];
    const request = { name: 'old', buckets: ['demo', 'secret'], permissions, expiresAt: [] };
    const Key = IDL.Record({ secret: IDL.Text });
    const key = await this.call('createApiKey', [Request], [request], Key);
    this.#apiKey = (key as { secret: string }).secret;
  }

  send(method: string, bucket: string, path: string, sent: RequestInit = {}): Promise<Response> {
    const headers = {
      ...{ Authorization: `Bearer ${this.#apiKey}`, 'X-Bucket-Id': bucket },
      ...(sent.headers as Record<string, string> | undefined),
    };
    return fetch(`${this.replica.url}/api/v1/bucket/${bucket}/${path}`, {
      ...sent,
      method,
      headers,
    });
  }

  async store(file: OldFile): Promise<void> {
    if (file.chunkBytes > 0) {
      const session = await this.#begin(file, true);
      await this.finish({ ...session, file });
      return;
    }
    const { bucket, path, bytes, tags, contentType } = file;
    const headers = { 'Content-Type': contentType, 'X-File-Tags': tags.join(',') };
    const sent = { headers, body: bytes as BodyInit };
    const response = await this.send('PUT', bucket, `files/${encodeURI(path)}`, sent);
    if (!response.ok) throw new Error(await response.text());
  }

  /** Begins half of them over HTTP and half by the actor, each with its first chunk. */
  async beginSessions(count: number): Promise<OldSession[]> {
    const sessions: OldSession[] = [];
    for (let index = 0; index < count; index++) {
      const path = `open/${index}`;
      const bytes = sampleBytes(path, 2 * chunkBytes + index);
      const named = { bucket: 'demo', path, bytes, tags: ['open'], contentType: 'text/plain' };
      const session = await this.#begin({ ...named, chunkBytes }, index % 2 === 0);
      await this.#chunk(session, 0);
      sessions.push(session);
    }
    return sessions;
  }

  async #begin(file: OldFile, isOverHttp: boolean): Promise<OldSession> {
    const { bucket, path, bytes, tags, contentType } = file;
    if (!isOverHttp) {
      const types = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
      const values = [bucket, path, contentType, BigInt(bytes.length), [this.#apiKey]];
      const uploadId = await this.call('beginFileUpload', types, values, IDL.Text);
      return { uploadId: String(uploadId), isOverHttp, file };
    }
    const fields = { path, size: bytes.length, chunkSize: file.chunkBytes, tags, contentType };
    const sent = { body: JSON.stringify(fields), headers: { 'Content-Type': 'application/json' } };
    const response = await this.send('POST', bucket, 'upload/start', sent);
    const { sessionId } = (await response.json()) as { sessionId: string };
    return { uploadId: sessionId, isOverHttp, file };
  }

  async #chunk(session: OldSession, index: number): Promise<void> {
    const { uploadId, isOverHttp, file } = session;
    const bytes = file.bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    if (isOverHttp) {
      const path = `upload/${uploadId}/chunk/${index}`;
      const response = await this.send('PUT', file.bucket, path, { body: bytes as BodyInit });
      if (!response.ok) throw new Error(await response.text());
      return;
    }
    const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
    await this.call('uploadFileChunkIndexed', types, [uploadId, BigInt(index), bytes], IDL.Nat);
  }

  /** Sends every chunk, including existing ones, and completes the upload. */
  async finish(session: OldSession): Promise<OldFile> {
    const { uploadId, isOverHttp, file } = session;
    const count = Math.ceil(file.bytes.length / chunkBytes);
    for (let index = 0; index < count; index++) await this.#chunk(session, index);
    if (isOverHttp) {
      const response = await this.send('POST', file.bucket, `upload/${uploadId}/complete`);
      if (!response.ok) throw new Error(await response.text());
    } else {
      const values = [uploadId, [this.#apiKey]];
      await this.call('completeFileUpload', [IDL.Text, IDL.Opt(IDL.Text)], values, IDL.Text);
    }
    return file;
  }

  #url({ bucket, path }: OldFile): string {
    return `${this.replica.url}/cloud/${bucket}/${encodeURI(path)}`;
  }

  /** Downloads through the verifying gateway; private files with the key. */
  get(file: OldFile): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.#apiKey}`, 'X-Bucket-Id': file.bucket };
    return fetch(this.#url(file), file.bucket === 'demo' ? {} : { headers });
  }

  options(file: OldFile): Promise<Response> {
    return fetch(this.#url(file), { method: 'OPTIONS' });
  }

  /** Returns the address of a new link, which version 0.1.0 does not have. */
  async createLink({ bucket, path }: OldFile): Promise<string> {
    const made = await this.send('POST', bucket, 'links', { body: JSON.stringify({ path }) });
    const { url } = (await made.json()) as { url: string };
    return `${this.replica.url}${url}`;
  }

  /** Starts four writers that repeat until each file is stored; `stop()` returns the files. */
  load(): { stop(): Promise<OldFile[]> } {
    const written: OldFile[] = [];
    let isOver = false;
    const writer = async (number: number) => {
      for (let turn = 0; !isOver; turn++) {
        const path = `load/${number}-${turn}`;
        const bytes = sampleBytes(path, 3_000);
        const named = { bucket: 'demo', path, bytes, tags: [], contentType: 'text/plain' };
        const file = { ...named, chunkBytes: 0 };
        while (!(await this.#isStored(file)));
        written.push(file);
      }
    };
    const writers = [1, 2, 3, 4].map(writer);
    return {
      async stop() {
        isOver = true;
        await Promise.all(writers);
        return written;
      },
    };
  }

  async #isStored(file: OldFile): Promise<boolean> {
    try {
      await this.store(file);
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return false;
    }
  }

  async usage(bucket: string, prefix: string): Promise<unknown> {
    return (await this.send('GET', bucket, `usage?prefix=${prefix}`)).json();
  }

  async list(bucket: string): Promise<ListedFile[]> {
    const items: ListedFile[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const response = await this.send('GET', bucket, `files?pageSize=50&page=${page}`);
      const listed = (await response.json()) as { items: never[]; nextPage: number | null };
      items.push(...listed.items);
      page = listed.nextPage;
    }
    return items;
  }

  /** Waits until upkeep has upgraded all files: 0.1.0 counted no overhead. */
  async untilUpgraded(): Promise<void> {
    const { fileCount } = await this.bucket('demo');
    const deadline = Date.now() + 120_000 + 20 * Number(fileCount);
    for (let left = 1; left > 0; ) {
      if (Date.now() > deadline) throw new Error('upkeep has not finished');
      await this.replica.tick();
      const buckets = [await this.bucket('demo'), await this.bucket('secret')];
      left = buckets.filter((bucket) => bucket.overheadBytes < countedBytes(bucket)).length;
    }
  }

  async bucket(id: string) {
    const types = [IDL.Text, IDL.Opt(IDL.Text)];
    const bucket = await this.call('getBucket', types, [id, []], Bucket);
    return bucket as { fileCount: bigint; overheadBytes: bigint; openUploads: bigint };
  }

  async keys(bucket: string): Promise<unknown> {
    const texts = IDL.Vec(IDL.Text);
    const named = { id: IDL.Text, hint: IDL.Text, name: IDL.Text, buckets: texts };
    const Key = IDL.Record({ ...named, permissions: texts, createdAt: IDL.Int });
    return this.call('listApiKeys', [IDL.Text], [bucket], IDL.Vec(Key));
  }

  async listedUploads(bucket: string): Promise<unknown[]> {
    const types = [IDL.Text, IDL.Opt(IDL.Text)];
    const uploads = IDL.Vec(IDL.Record({ uploadId: IDL.Text }));
    return (await this.call('listUploads', types, [bucket, []], uploads)) as unknown[];
  }

  async isRotating(): Promise<boolean> {
    const status = await this.call('getStatus', [], [], Status);
    return (status as { encryption: { isRotating: boolean } }).encryption.isRotating;
  }
}
