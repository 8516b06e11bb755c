// Callers, times and shorthands that the tests of the domain and of the HTTP interface share.

import { expect } from 'vitest';
import { createKey } from '../../src/domain/administration/api-key-administration.ts';
import type { BucketChange } from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import type { FileMetadata } from '../../src/domain/files/file-records.ts';
import type { Call } from '../../src/domain/shared/caller.ts';
import { Refusal, type RefusalCode } from '../../src/domain/shared/refusal.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { type SingleUpload, uploadSingle } from '../../src/domain/uploads/single-upload.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import type { UploadSession } from '../../src/domain/uploads/upload-session.ts';
import { beginUpload, type UploadRequest } from '../../src/domain/uploads/uploads.ts';
import { expectSame } from './expect-same.ts';
import { createMemoryStores, type MemoryStores } from './memory-stores.ts';

/** 2026-01-02T03:04:05.678901234Z. */
export const startNs = 1_767_323_045_678_901_234n;
export const hourNs = 3_600_000_000_000n;

const principals = {
  controller: Uint8Array.of(1, 1, 1),
  alice: Uint8Array.of(2, 2, 2),
  bob: Uint8Array.of(3, 3, 3),
  anonymous: Uint8Array.of(4),
};

export type Person = keyof typeof principals;

export function callOf(person: Person, nowNs = startNs): Call {
  return {
    caller: { principal: principals[person], isController: person === 'controller' },
    nowNs,
  };
}

/** Returns `length` bytes that differ for every seed. */
export function testBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed * 2_654_435_761 + 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Returns bytes with the beginning of a WebP picture, 12 and `length` more. */
export function testPicture(length: number, seed = 1): Uint8Array {
  return Buffer.concat([Buffer.from('RIFF....WEBP'), testBytes(length, seed)]);
}

export interface Scene {
  readonly stores: MemoryStores;
  /** Secrets of keys for bucket `box`. */
  readonly writeKey: string;
  readonly readKey: string;
}

/** Buckets `box` and `other`, which alice owns, and keys for the first. */
export async function createScene(): Promise<Scene> {
  const stores = await createMemoryStores();
  const alice = callOf('alice');
  for (const bucket of ['box', 'other']) {
    const call = { ...alice, caller: { ...alice.caller, isController: true } };
    createBucket(stores, call, { bucket, isPublic: true });
  }
  return {
    stores,
    writeKey: makeKey(stores, { permissions: ['read', 'write', 'delete'] }),
    readKey: makeKey(stores, { permissions: ['read'] }),
  };
}

export interface TestKey {
  readonly permissions?: readonly string[];
  readonly buckets?: readonly string[];
  readonly prefix?: string;
  readonly expiresAtNs?: bigint;
}

/** Creates a key and returns its secret. */
export function makeKey(stores: MemoryStores, key: TestKey = {}): string {
  const { permissions = ['write'], buckets = ['box'], prefix, expiresAtNs } = key;
  const request = { name: 'test', buckets, permissions, prefix, expiresAtNs };
  return createKey(stores, callOf('alice'), request).secret;
}

/** Sets the time of revocation, which begins at byte 18 of the key's record. */
export function revokeKeyRecord(stores: MemoryStores, hash: Uint8Array): void {
  const record = stores.apiKeys.get(hash) ?? expect.fail('no such key');
  new DataView(record.buffer).setBigUint64(18, startNs, true);
  stores.apiKeys.set(hash, record);
}

/** Returns a change of bucket `box` in these fields only. */
export function bucketChange(fields: Partial<BucketChange> = {}): BucketChange {
  const nothing = { isPublic: undefined, quotaBytes: undefined };
  return { bucket: 'box', ...nothing, addMembers: [], removeMembers: [], ...fields };
}

export const plainMetadata: FileMetadata = {
  contentType: 'text/plain',
  tags: [],
  headers: noStoredHeaders,
  metadata: [],
};

export function singleUpload(change: Partial<SingleUpload> = {}): SingleUpload {
  const bytes = testBytes(10);
  return {
    bucket: 'box',
    path: '/a',
    apiKey: undefined,
    metadata: plainMetadata,
    bytes,
    ...change,
  };
}

/** Stores a file as alice. */
export function putTestFile(
  stores: MemoryStores,
  change: Partial<SingleUpload> = {},
  nowNs = startNs,
) {
  return uploadSingle(stores, callOf('alice', nowNs), singleUpload(change));
}

export function begin(
  stores: MemoryStores,
  call: Call,
  change: Partial<UploadRequest> = {},
): UploadSession {
  const request = {
    bucket: 'box',
    path: '/big',
    contentType: 'video/mp4',
    tags: [],
    size: 250n,
    apiKey: undefined,
  };
  return beginUpload(stores, call, { ...request, ...change });
}

/** Uploads chunks by index, in the order given. */
export function putChunks(
  stores: MemoryStores,
  call: Call,
  upload: {
    readonly uploadId: string;
    readonly chunks: readonly (readonly [number, Uint8Array])[];
  },
): UploadSession | undefined {
  let session: UploadSession | undefined;
  for (const [index, bytes] of upload.chunks) {
    session = putChunk(stores, call, {
      uploadId: upload.uploadId,
      chunkIndex: BigInt(index),
      bytes,
    });
  }
  return session;
}

/** Expects the operation to refuse with that code and to write nothing. */
export function expectRefusal(
  stores: MemoryStores,
  code: RefusalCode,
  operation: () => unknown,
): Refusal {
  const before = stores.writeCount();
  let thrown: unknown;
  try {
    operation();
  } catch (error) {
    thrown = error;
  }
  if (!(thrown instanceof Refusal)) {
    throw thrown ?? new Error(`Expected the refusal ${code}, but the operation succeeded`);
  }
  expectSame(thrown.code, code);
  expectSame(stores.writeCount() - before, 0, `writes of a refused call (${code})`);
  return thrown;
}
