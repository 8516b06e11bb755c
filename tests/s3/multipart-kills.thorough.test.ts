// Kills the S3 server between any two steps of an upload in parts: acknowledged parts remain, and a
// client that repeats the last request at the next S3 server completes the upload.

import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, ownerAccount, type TestS3Server } from './support/s3-server.ts';

const partBytes = 65_536;
const bytes = sampleBytes('kills', partBytes + 100);
const parts = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];

let service: Service;

beforeAll(async () => {
  service = await openService();
  const { buckets } = ownerAccount(service).storage;
  const endToEnd = { sealsNames: false };
  await buckets.create('sealed', { endToEnd });
  await buckets.create('kept', { keepVersionsDays: 1 });
  await buckets.create('sealed-kept', { keepVersionsDays: 1, endToEnd });
});
afterAll(() => service?.stop());

interface Death {
  /** The number of the last call to the service. */
  readonly call: number;
  /** If true, the call is made, and its answer is lost. */
  readonly isAfter: boolean;
}

interface Mortal {
  readonly storage: Storage;
  /** Resolves when the server is gone. */
  readonly gone: Promise<'gone'>;
}

/** Returns a storage that never answers from its last call on, so the S3 server stops there. */
function mortal(storage: Storage, { call, isAfter }: Death): Mortal {
  let calls = 0;
  let die: (word: 'gone') => void = () => {};
  const gone = new Promise<'gone'>((resolve) => {
    die = resolve;
  });
  const counted =
    <A extends unknown[], T>(work: (...words: A) => Promise<T>) =>
    async (...words: A): Promise<T> => {
      calls += 1;
      const isLast = calls === call;
      if (!isLast || isAfter) {
        const value = await work(...words);
        if (!isLast) return value;
      }
      die('gone');
      return new Promise(() => {});
    };
  const { begin, write, status, complete, cancel } = storage.uploads;
  const uploads = {
    ...storage.uploads,
    begin: counted(begin),
    write: counted(write),
    status: counted(status),
    complete: counted(complete),
    cancel: counted(cancel),
  };
  const { set, hold } = storage.retention;
  const retention = { ...storage.retention, set: counted(set), hold: counted(hold) };
  return { storage: { ...storage, upload: counted(storage.upload), uploads, retention }, gone };
}

/** S3 servers that follow each other on one folder; the first one is killed. */
class S3Servers {
  readonly #multipart = { folder: mkdtempSync(join(tmpdir(), 'efs-s3-')), partBytesMin: 1 };
  readonly #death: Death;
  #s3Server: TestS3Server | undefined;
  #client: S3Client | undefined;
  #gone: Promise<'gone'> = new Promise(() => {});
  isGone = false;

  constructor(death: Death) {
    this.#death = death;
  }

  async open(): Promise<void> {
    const account = ownerAccount(service);
    const first = mortal(account.storage, this.#death);
    const { storage } = this.isGone ? account : first;
    this.#gone = first.gone;
    const openAccount = async () => ({ ...account, storage });
    this.#s3Server = await openS3Server(service, { multipart: this.#multipart, openAccount });
    this.#client = this.#s3Server.client();
  }

  /** Repeats the command at the next S3 server if this one is killed meanwhile. */
  async send<T>(command: (client: S3Client) => Promise<T>): Promise<T> {
    if (this.#client === undefined) throw new Error('Open an S3 server first.');
    const sent = command(this.#client);
    sent.catch(() => {});
    const answer = await Promise.race([sent, this.#gone]);
    if (answer !== 'gone') return answer;
    // Not awaited: its pending requests never end.
    void this.stop();
    this.isGone = true;
    await this.open();
    return this.send(command);
  }

  files(): string[] {
    return readdirSync(this.#multipart.folder).filter((name) => name.endsWith('.part'));
  }

  async stop(): Promise<void> {
    await this.#s3Server?.stop();
  }
}

/** In buckets that keep versions, the object is locked. */
async function uploadThrough(s3Servers: S3Servers, Bucket: string): Promise<void> {
  const place = { Bucket, Key: 'killed.bin' };
  const lock = Bucket.endsWith('kept')
    ? ({
        ObjectLockMode: 'GOVERNANCE',
        ObjectLockRetainUntilDate: new Date(Date.now() + 86_400_000),
        ObjectLockLegalHoldStatus: 'ON',
      } as const)
    : {};
  const begun = await s3Servers.send((client) =>
    client.send(new CreateMultipartUploadCommand({ ...place, ...lock })),
  );
  const upload = { ...place, UploadId: begun.UploadId };
  const listed = [];
  for (const [index, Body] of parts.entries()) {
    const part = { ...upload, PartNumber: index + 1, Body };
    const { ETag } = await s3Servers.send((client) => client.send(new UploadPartCommand(part)));
    listed.push({ PartNumber: index + 1, ETag });
  }
  const completion = { ...upload, MultipartUpload: { Parts: listed } };
  await s3Servers.send((client) => client.send(new CompleteMultipartUploadCommand(completion)));
  const found = await s3Servers.send((client) => client.send(new GetObjectCommand(place)));
  const stored = (await found.Body?.transformToByteArray()) ?? new Uint8Array(0);
  expect(found).toMatchObject(lock);
  expect(Buffer.compare(stored, bytes)).toBe(0);
}

describe.each([
  ['demo', 5],
  ['sealed', 1],
  ['kept', 7],
  ['sealed-kept', 3],
] as const)('CompleteMultipartUpload: an upload in parts to bucket %s', (bucket, calls) => {
  const deaths = Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) => [
    { call, isAfter: false },
    { call, isAfter: true },
  ]);

  test.each(deaths)(
    'completes correctly if the S3 server is killed at call $call, after it: $isAfter',
    async (death) => {
      const s3Servers = new S3Servers(death);
      await s3Servers.open();
      await uploadThrough(s3Servers, bucket);
      expect(s3Servers.isGone).toBe(true);
      expect(s3Servers.files()).toEqual([]);
      await s3Servers.stop();
    },
  );

  test(`makes at most ${calls} calls to the service`, async () => {
    const s3Servers = new S3Servers({ call: calls + 1, isAfter: false });
    await s3Servers.open();
    await uploadThrough(s3Servers, bucket);
    expect(s3Servers.isGone).toBe(false);
    await s3Servers.stop();
  });
});
