// The conversion of records after an upgrade, while uploads begin and end between its steps.

import { expect, test } from 'vitest';
import { upgradeRecords } from '../../src/domain/administration/record-upgrade.ts';
import { getBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { forgetUpload } from '../../src/domain/uploads/open-uploads.ts';
import { cancelUpload, expireUploads } from '../../src/domain/uploads/upload-end.ts';
import {
  findSession,
  saveSession,
  type UploadSession,
} from '../../src/domain/uploads/upload-session.ts';
import { upgradedFilesPerMessage } from '../../src/limits.ts';
import { begin, callOf, createScene, hourNs, startNs } from '../support/domain-fixture.ts';
import { allSessions, checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

const dayNs = 24n * hourNs;

/** Begins an upload whose id is fifteen bytes of 0 and this byte. */
function beginWithId(stores: MemoryStores, byte: number, nowNs: bigint): UploadSession {
  const { random } = stores.secrets;
  const id = new Uint8Array(16).fill(byte, 15);
  Object.assign(stores.secrets, {
    random: (length: number) => (length === 16 ? id : random(length)),
  });
  const session = begin(stores, callOf('alice', nowNs));
  Object.assign(stores.secrets, { random });
  return session;
}

/** Makes the upload one that version 0.1.0 began: without an entry in the directory. */
function makeOld(stores: MemoryStores, session: UploadSession): void {
  const bucket = getBucket(stores, session.bucketId);
  const openUploadByteCount = bucket.openUploadByteCount - overheadBytesOf(session);
  saveBucket(stores, { ...bucket, openUploadByteCount }, bucket);
  forgetUpload(stores, session);
  saveSession(stores, { ...session, isNoted: false });
}

test('upgradeRecords notes every open upload while others end and begin', async () => {
  const { stores } = await createScene();
  const [first, second] = [1, 2].map((byte) => beginWithId(stores, byte, startNs).uploadId);
  cancelUpload(stores, callOf('alice'), { uploadId: first ?? '' });
  cancelUpload(stores, callOf('alice', startNs + hourNs), { uploadId: second ?? '' });
  for (let count = 0; count < 2 * upgradedFilesPerMessage + 3; count++) {
    makeOld(stores, begin(stores, callOf('alice', startNs + 12n * hourNs)));
  }
  // Each shifts the positions of all others, at the end of a pass over them
  const changes = new Map<number, () => unknown>([
    [2, () => expireUploads(stores, startNs + dayNs)],
    [3, () => beginWithId(stores, 0, startNs + dayNs)],
    [5, () => expireUploads(stores, startNs + dayNs + hourNs)],
  ]);
  for (let step = 1; upgradeRecords(stores, startNs); step++) {
    changes.get(step)?.();
    checkInvariants(stores);
  }
  expect([first, second].map((id) => findSession(stores, id ?? ''))).toEqual([
    undefined,
    undefined,
  ]);
  expect(allSessions(stores).filter(({ isNoted }) => !isNoted)).toEqual([]);
});
