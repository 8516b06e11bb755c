// A door that is gone between any two steps of an upload in parts, as by kill -9: what was answered is
// there, and who sends the last request again to the next door ends right.

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
import { openDoor, ownerAccount, type TestDoor } from './support/door.ts';

const partBytes = 65_536;
const bytes = sampleBytes('kills', partBytes + 100);
const parts = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];

let service: Service;

beforeAll(async () => {
  service = await openService();
  await ownerAccount(service).storage.buckets.create('sealed', { endToEnd: { sealsNames: false } });
});
afterAll(() => service?.stop());

interface Death {
  /** Which call to the service is the last. */
  readonly call: number;
  /** It is made, and what it answers is lost. */
  readonly isAfter: boolean;
}

interface Mortal {
  readonly storage: Storage;
  /** Resolves when it is gone. */
  readonly gone: Promise<'gone'>;
}

/** Never answers from its last call on: nothing that the door does after it happens. */
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
  return { storage: { ...storage, upload: counted(storage.upload), uploads }, gone };
}

/** Doors one after the other on one folder; the first of them goes. */
class Doors {
  readonly #multipart = { folder: mkdtempSync(join(tmpdir(), 'efs-s3-')), partBytesMin: 1 };
  readonly #death: Death;
  #door: TestDoor | undefined;
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
    this.#door = await openDoor(service, { multipart: this.#multipart, openAccount });
    this.#client = this.#door.client();
  }

  /** Sends it again to the next door when this one goes meanwhile. */
  async send<T>(command: (client: S3Client) => Promise<T>): Promise<T> {
    if (this.#client === undefined) throw new Error('Open a door first.');
    const sent = command(this.#client);
    sent.catch(() => {});
    const answer = await Promise.race([sent, this.#gone]);
    if (answer !== 'gone') return answer;
    // It is not waited for: what it has under way never ends.
    void this.stop();
    this.isGone = true;
    await this.open();
    return this.send(command);
  }

  files(): string[] {
    return readdirSync(this.#multipart.folder).filter((name) => name.endsWith('.part'));
  }

  async stop(): Promise<void> {
    await this.#door?.stop();
  }
}

async function uploadThrough(doors: Doors, Bucket: string): Promise<void> {
  const place = { Bucket, Key: 'killed.bin' };
  const begun = await doors.send((client) => client.send(new CreateMultipartUploadCommand(place)));
  const upload = { ...place, UploadId: begun.UploadId };
  const listed = [];
  for (const [index, Body] of parts.entries()) {
    const part = { ...upload, PartNumber: index + 1, Body };
    const { ETag } = await doors.send((client) => client.send(new UploadPartCommand(part)));
    listed.push({ PartNumber: index + 1, ETag });
  }
  const completion = { ...upload, MultipartUpload: { Parts: listed } };
  await doors.send((client) => client.send(new CompleteMultipartUploadCommand(completion)));
  const { Body } = await doors.send((client) => client.send(new GetObjectCommand(place)));
  const stored = (await Body?.transformToByteArray()) ?? new Uint8Array(0);
  expect(Buffer.compare(stored, bytes)).toBe(0);
}

describe.each([
  ['demo', 5],
  ['sealed', 1],
] as const)('an upload in parts to bucket %s', (bucket, calls) => {
  const deaths = Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) => [
    { call, isAfter: false },
    { call, isAfter: true },
  ]);

  test.each(deaths)(
    'ends right when the door is gone at call $call, after it: $isAfter',
    async (death) => {
      const doors = new Doors(death);
      await doors.open();
      await uploadThrough(doors, bucket);
      expect(doors.isGone).toBe(true);
      expect(doors.files()).toEqual([]);
      await doors.stop();
    },
  );

  test('has no more calls than were tried', async () => {
    const doors = new Doors({ call: calls + 1, isAfter: false });
    await doors.open();
    await uploadThrough(doors, bucket);
    expect(doors.isGone).toBe(false);
    await doors.stop();
  });
});
