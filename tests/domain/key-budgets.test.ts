// Budgets of API keys: their defaults, the calls that they count, and when they refuse.

import { beforeEach, describe, expect, test } from 'vitest';
import { createKey, listKeys } from '../../src/domain/administration/api-key-administration.ts';
import { moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { createLink } from '../../src/domain/files/links.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { findKey } from '../../src/domain/rights/api-keys.ts';
import type { Call, KeyCharge } from '../../src/domain/shared/caller.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { uploadSingle } from '../../src/domain/uploads/single-upload.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  putChunks,
  singleUpload,
  startNs,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

const megabyte = 1_048_576;
let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

/** Returns the context of an update, or of its inspection. */
function callAt(nowNs = startNs, charge: Partial<KeyCharge> = {}): Call {
  return { ...callOf('anonymous', nowNs), charge: { bytes: 10, isInspected: false, ...charge } };
}

function keyWith(updatesPerHour: bigint, bytesPerHour = 0n, permissions = ['write']): string {
  const named = { name: 'budget', buckets: ['box'], permissions, expiresAtNs: undefined };
  const budget = { updatesPerHour, bytesPerHour };
  return createKey(stores, callOf('alice'), { ...named, budget }).secret;
}

function put(apiKey: string, call = callAt(), length = 10): void {
  uploadSingle(stores, call, singleUpload({ apiKey, bytes: new Uint8Array(length) }));
}

/** Stores one-byte chunks at `big`; without a key, completes the upload. */
function storeChunks(call: Call, count: number, apiKey?: string): { readonly uploadId: string } {
  const { uploadId } = begin(stores, call, { size: BigInt(count), apiKey });
  const chunks = Array.from({ length: count }, (_, index) => {
    return [index, Uint8Array.of(index)] as const;
  });
  putChunks(stores, call, { uploadId, chunks });
  if (apiKey === undefined) completeUpload(stores, call, { uploadId, apiKey });
  return { uploadId };
}

function secondsOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error.details?.seconds;
  }
  return undefined;
}

describe('createKey()', () => {
  test.each([
    [['write'], 2_000, 2_000_000_000],
    [['write', 'delete'], 2_000, 2_000_000_000],
    [['read'], 0, 0],
    [['read', 'write', 'delete'], 0, 0],
  ])(
    'creates a key for %o with a budget of %i updates and %i bytes',
    (permissions, updates, bytes) => {
      const { budget } = findKey(stores, makeKey(stores, { permissions }), startNs);
      expect(budget).toEqual({ updatesPerHour: updates, bytesPerHour: bytes });
    },
  );

  test('stores the requested budget, which listKeys() shows', () => {
    keyWith(7n, BigInt(3 * megabyte));
    const [listed] = listKeys(stores, callOf('alice'), 'box').filter(
      ({ name }) => name === 'budget',
    );
    expect(listed?.budget).toEqual({ updatesPerHour: 7, bytesPerHour: 3 * megabyte });
  });

  test.each([
    [1_000_000_001n, 0n],
    [0n, 2_097_151n],
    [0n, 2n ** 53n],
  ])('refuses %i updates and %i bytes', (updates, bytes) => {
    expectRefusal(stores, 'InvalidArgument', () => keyWith(updates, bytes));
  });
});

describe('useKey(): a key', () => {
  test('that has used up its updates is refused with the seconds until the next one', () => {
    const apiKey = keyWith(3n);
    for (let count = 0; count < 3; count++) put(apiKey);
    expectRefusal(stores, 'SlowDown', () => put(apiKey));
    expectRefusal(stores, 'SlowDown', () => put(apiKey, callAt(startNs, { isInspected: true })));
    expect(secondsOf(() => put(apiKey))).toBe(1_200);
    put(apiKey, callAt(startNs + hourNs / 3n));
    expectRefusal(stores, 'SlowDown', () => put(apiKey, callAt(startNs + hourNs / 3n)));
  });

  test('that has used up its bytes is refused until enough bytes are left', () => {
    const apiKey = keyWith(0n, BigInt(3 * megabyte));
    const half = { bytes: 1.5 * megabyte };
    for (let count = 0; count < 2; count++) put(apiKey, callAt(startNs, half));
    expect(secondsOf(() => put(apiKey, callAt(startNs, half)))).toBe(1_800);
    put(apiKey, callAt(startNs + hourNs / 2n, half));
  });

  test('is not charged by the inspection of an update', () => {
    const apiKey = keyWith(1n);
    for (let count = 0; count < 3; count++) put(apiKey, callAt(startNs, { isInspected: true }));
    put(apiKey);
    expectRefusal(stores, 'SlowDown', () => put(apiKey));
  });

  test('is charged once for an update that needs several permissions', () => {
    const apiKey = keyWith(3n, 0n, ['read', 'write', 'delete']);
    put(apiKey);
    const named = { bucket: 'box', apiKey, conditions: {} };
    moveFile(stores, callAt(), { ...named, from: '/a', to: { path: '/b' } } as never);
    moveFiles(stores, callAt(), { ...named, fromPrefix: 'b', toPrefix: 'c' } as never);
    expectRefusal(stores, 'SlowDown', () => put(apiKey));
  });

  test('is charged for the chunks of its uploads, which are sent without the key', () => {
    const apiKey = keyWith(3n);
    const { uploadId } = begin(stores, callAt(), { apiKey, size: 30n });
    const send = () => {
      putChunk(stores, callAt(), { uploadId, chunkIndex: 0n, bytes: new Uint8Array(10) });
    };
    send();
    send();
    expectRefusal(stores, 'SlowDown', send);
  });

  test('is charged when the completion of its upload is repeated', () => {
    const apiKey = keyWith(4n);
    const { uploadId } = begin(stores, callAt(), { apiKey, size: 10n });
    putChunk(stores, callAt(), { uploadId, chunkIndex: 0n, bytes: new Uint8Array(10) });
    const complete = (call = callAt()) => {
      return completeUpload(stores, call, { uploadId, apiKey: undefined });
    };
    expect(complete()).toEqual(complete());
    expectRefusal(stores, 'SlowDown', complete);
    expectRefusal(stores, 'SlowDown', () => complete(callAt(startNs, { isInspected: true })));
  });

  test('cancels its open upload at no charge, and is charged for each later call by its id', () => {
    const apiKey = keyWith(3n);
    const { uploadId } = begin(stores, callAt(), { apiKey, size: 10n });
    const cancel = (call = callAt()) => cancelUpload(stores, call, { uploadId });
    const chunk = { uploadId, chunkIndex: 0n, bytes: new Uint8Array(10) };
    cancel();
    cancel();
    expectRefusal(stores, 'UploadCancelled', () => putChunk(stores, callAt(), chunk));
    expectRefusal(stores, 'SlowDown', cancel);
    expectRefusal(stores, 'SlowDown', () => cancel(callAt(startNs, { isInspected: true })));
    expectRefusal(stores, 'SlowDown', () => putChunk(stores, callAt(), chunk));
    cancel({ ...callAt(), ...callOf('alice') });
  });

  test('pays for a refused chunk only if it has a budget, also in the inspection', () => {
    const isPaid = (apiKey: string, isInspected: boolean) => {
      const { uploadId } = begin(stores, callAt(), { apiKey, size: 10n });
      cancelUpload(stores, callOf('alice'), { uploadId });
      const call = callAt(startNs, { isInspected });
      const chunk = { uploadId, chunkIndex: 0n, bytes: new Uint8Array(10) };
      expectRefusal(stores, 'UploadCancelled', () => putChunk(stores, call, chunk));
      return call.charge?.isPaid;
    };
    for (const isInspected of [false, true]) {
      expect(isPaid(keyWith(9n), isInspected)).toBe(true);
      expect(isPaid(keyWith(0n), isInspected)).toBe(false);
    }
  });

  test('is charged for a costly change as for several updates', () => {
    const alice = callOf('alice');
    storeChunks(alice, 1_200);
    for (let count = 0; count < 16; count++) {
      createLink(stores, alice, { bucket: 'box', path: 'big', apiKey: undefined });
    }
    const apiKey = keyWith(3n);
    // 17 times 1,200 leaves: of the file and its links
    const change = { bucket: 'box', path: 'big', tags: ['a'], conditions: {}, apiKey };
    changeFile(stores, callAt(), change);
    put(apiKey);
    expectRefusal(stores, 'SlowDown', () => put(apiKey));
  });

  test('is charged for the hash of many chunks as for several updates, also if it is wrong', () => {
    const apiKey = keyWith(4n);
    const { uploadId } = storeChunks(callOf('anonymous'), 4_000, apiKey);
    const complete = () =>
      completeUpload(stores, callAt(), { uploadId, apiKey: undefined, sha256: 'ab'.repeat(32) });
    for (let count = 0; count < 2; count++) expectRefusal(stores, 'BadDigest', complete);
    expectRefusal(stores, 'SlowDown', complete);
  });

  test('has its own budget, which queries do not check', () => {
    const [first, second] = [keyWith(1n), keyWith(1n)];
    put(first);
    put(second);
    expectRefusal(stores, 'SlowDown', () => put(first));
    put(first, callOf('anonymous'));
  });
});
