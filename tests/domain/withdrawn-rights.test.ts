// An upload continues only while its creator may write: a chunk of a revoked key or a removed
// member is refused before it is charged; owners of the bucket can cancel the upload.

import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { checkChunk, putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { getUpload } from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  revokeKeyRecord,
  testBytes,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const anonymous = callOf('anonymous');
const alice = callOf('alice');
const bob = callOf('bob');

const chunkOf = (uploadId: string) => ({ uploadId, chunkIndex: 0n, bytes: testBytes(250) });

function setMember(role: 'writer' | 'reader' | undefined): void {
  const { principal } = bob.caller;
  const change =
    role === undefined ? { removeMembers: [principal] } : { addMembers: [{ principal, role }] };
  updateBucket(stores, alice, bucketChange(change));
}

beforeEach(async () => {
  ({ stores } = await createScene());
});

describe('putChunk(): an upload that a key began', () => {
  test('accepts no chunk once the key is revoked or has expired, also with another key', () => {
    const later = { ...anonymous, nowNs: anonymous.nowNs + 10n };
    const expiring = makeKey(stores, { expiresAtNs: later.nowNs });
    const revoked = makeKey(stores);
    const chunks = [expiring, revoked].map((apiKey) => {
      const chunk = chunkOf(begin(stores, anonymous, { apiKey }).uploadId);
      putChunk(stores, anonymous, chunk);
      return chunk;
    });
    revokeKeyRecord(stores, sha256(Buffer.from(revoked)));
    const good = makeKey(stores);
    const reader = makeKey(stores, { permissions: ['read'] });
    for (const chunk of chunks) {
      expectRefusal(stores, 'InvalidApiKey', () => checkChunk(stores, later, chunk));
      expectRefusal(stores, 'InvalidApiKey', () => putChunk(stores, later, chunk));
      const byReader = { ...chunk, apiKey: reader };
      expectRefusal(stores, 'AccessDenied', () => putChunk(stores, later, byReader));
      const byAnother = { ...chunk, apiKey: good };
      expectRefusal(stores, 'InvalidApiKey', () => putChunk(stores, later, byAnother));
    }
  });
});

describe('checkCompletion() and checkCancellation()', () => {
  test('refuse a repetition once the right of the first call is withdrawn', () => {
    setMember('writer');
    const sentKey = makeKey(stores);
    for (const [call, apiKey, code] of [
      [anonymous, sentKey, 'InvalidApiKey'],
      [bob, undefined, 'AccessDenied'],
    ] as const) {
      const idOf = (size: bigint) => begin(stores, call, { apiKey, size }).uploadId;
      const [completed, cancelled] = [idOf(0n), idOf(250n)];
      const repeated = [
        () => completeUpload(stores, call, { uploadId: completed, apiKey: undefined }),
        () => cancelUpload(stores, call, { uploadId: cancelled }),
      ];
      for (const work of [...repeated, ...repeated]) work();
      if (apiKey === undefined) setMember(undefined);
      else revokeKeyRecord(stores, sha256(Buffer.from(apiKey)));
      for (const work of repeated) expectRefusal(stores, code, work);
    }
  });
});

describe('putChunk(): an upload that a member began', () => {
  test.each([undefined, 'reader'] as const)('accepts no chunk when the role becomes %s', (role) => {
    setMember('writer');
    const { uploadId } = begin(stores, bob);
    const chunk = chunkOf(uploadId);
    putChunk(stores, bob, chunk);
    setMember(role);
    expectRefusal(stores, 'AccessDenied', () => checkChunk(stores, bob, chunk));
    expectRefusal(stores, 'AccessDenied', () => putChunk(stores, bob, chunk));
    setMember('writer');
    putChunk(stores, bob, chunk);
    expect(completeUpload(stores, bob, { uploadId, apiKey: undefined }).status).toBe('completed');
  });

  test("can be read and cancelled by the bucket's owner, and by no stranger", () => {
    setMember('writer');
    const { uploadId } = begin(stores, bob);
    setMember(undefined);
    expectRefusal(stores, 'BucketNotEmpty', () =>
      deleteBucket(stores, alice, { bucket: 'box', isForced: false }),
    );
    expectRefusal(stores, 'AccessDenied', () =>
      cancelUpload(stores, anonymous, { uploadId: uploadId }),
    );
    expect(getUpload(stores, alice, { uploadId }).status).toBe('active');
    cancelUpload(stores, alice, { uploadId: uploadId });
    deleteBucket(stores, alice, { bucket: 'box', isForced: false });
  });
});
