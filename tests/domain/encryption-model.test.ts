// Random histories of uploads, replacements, deletions and rotations of keys, with upgrades and kills
// between any two messages. What was answered reads back by src and by another implementation,
// nothing that was deleted opens with any key that is left, and no nonce serves twice under one key.

import { chacha20poly1305 } from '@noble/ciphers/chacha';
import { expect, test } from 'vitest';
import {
  continueRotation,
  isRotating,
  rotateBucketKey,
  rotateRootKey,
} from '../../src/domain/administration/key-rotation.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/file-access.ts';
import { findFile } from '../../src/domain/files/files.ts';
import { rootKeyEntries } from '../../src/domain/keys/root-keys.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { getSession } from '../../src/domain/uploads/upload-session.ts';
import { begin, callOf, createScene, putTestFile, testBytes } from '../support/domain-fixture.ts';
import {
  chunkOf,
  fileKeyOf,
  keySlotsOf,
  nonceOfRecord,
  openKey,
  readByTwin,
  segmentData,
  segmentLength,
  segmentNonce,
  tagBytes,
} from '../support/encryption-twin.ts';
import { checkInvariants } from '../support/invariants.ts';
import {
  giveRootKey,
  type MemoryStores,
  rewind,
  stateOf,
  upgradeStores,
} from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const rounds = Number(process.env.EFS_ROTATION_ROUNDS ?? 200);
const operationsPerRound = 8;
const seed = Number(process.env.EFS_SEED ?? 20261120) || Date.now();
const buckets = ['box', 'other'];
/** Of one segment, mostly, and of two. */
const chunkSizes = [500, 900, 66_000];

interface Upload {
  readonly bucket: string;
  readonly path: string;
  readonly chunkBytes: number;
  readonly chunks: (Uint8Array | undefined)[];
}

/** What somebody has who copied stable memory before the content went. */
interface Gone {
  readonly contentId: number;
  readonly key: string;
  readonly nonce: Uint8Array;
  readonly data: Uint8Array;
  readonly sealed: Uint8Array;
}

/** Plain data, copied before each message for the case that it is killed. */
interface Twin {
  files: Map<string, Uint8Array>;
  uploads: Map<string, Upload>;
}

interface Run {
  stores: MemoryStores;
  twin: Twin;
  nowNs: bigint;
  upgrades: number;
  readonly random: (limit: number) => number;
  readonly gone: Gone[];
  /** Every nonce by its key, and what it was seen at. */
  readonly nonces: Map<string, string>;
  readonly counts: Map<string, number>;
}

function oneOf<T>({ random }: Run, choices: readonly T[]): T | undefined {
  return choices[random(choices.length)];
}

function callNow(run: Run, person: 'alice' | 'controller' = 'alice') {
  // Messages of one round of the network have one time.
  if (run.random(3) > 0) run.nowNs += 1_000_000n;
  return callOf(person, run.nowNs);
}

/** Notes what there is to know of a content that is about to go. */
function noteGone(run: Run, content: { bucket: string; contentId: number; keySlot: number }) {
  const { stores } = run;
  const entry = stores.chunks.entries().find((one) => chunkOf(one).contentId === content.contentId);
  if (entry === undefined) return;
  const chunk = chunkOf(entry);
  const sealed = new Uint8Array(segmentLength(chunk, 0) + tagBytes);
  stores.blobs.read(chunk.slots[0] ?? 0, sealed);
  run.gone.push({
    contentId: content.contentId,
    key: Buffer.from(fileKeyOf(stores, content)).toString('hex'),
    nonce: segmentNonce(chunk, 0),
    data: segmentData(chunk, 0),
    sealed,
  });
}

function noteGoneFile(run: Run, bucket: string, path: string) {
  const file = findFile(run.stores, bucket, path);
  if (file !== undefined) noteGone(run, { bucket, ...file });
}

function somePlace(run: Run) {
  return { bucket: oneOf(run, buckets) ?? 'box', path: `f${run.random(8)}` };
}

function put(run: Run) {
  const { bucket, path } = somePlace(run);
  const bytes = testBytes(oneOf(run, [0, 1, 700, 2_000, 66_000]) ?? 0, run.random(1_000));
  noteGoneFile(run, bucket, path);
  putTestFile(run.stores, { bucket, path: `/${path}`, bytes }, callNow(run).nowNs);
  run.twin.files.set(`${bucket}\0${path}`, bytes);
}

function remove(run: Run) {
  const [bucket = '', path = ''] = oneOf(run, [...run.twin.files.keys()])?.split('\0') ?? [];
  if (bucket === '') return;
  noteGoneFile(run, bucket, path);
  const request = { bucket, path: `/${path}`, apiKey: undefined, conditions: {} };
  deleteFile(run.stores, callNow(run), request);
  run.twin.files.delete(`${bucket}\0${path}`);
}

function beginSome(run: Run) {
  if (run.twin.uploads.size > 5) return;
  const { bucket, path } = somePlace(run);
  const count = 1 + run.random(3);
  const chunkBytes = oneOf(run, chunkSizes) ?? 1;
  const request = { bucket, path: `/${path}`, size: BigInt(count * chunkBytes) };
  const { uploadId } = begin(run.stores, callNow(run), request);
  run.twin.uploads.set(uploadId, {
    bucket,
    path,
    chunkBytes,
    chunks: Array.from({ length: count }),
  });
}

/** A new chunk, the same again, or other bytes in its place. */
function chunk(run: Run) {
  const [uploadId, upload] = oneOf(run, [...run.twin.uploads]) ?? [];
  if (uploadId === undefined || upload === undefined) return;
  const index = run.random(upload.chunks.length);
  const bytes = testBytes(upload.chunkBytes, run.random(3));
  putChunk(run.stores, callNow(run), { uploadId, chunkIndex: BigInt(index), bytes });
  const chunks = upload.chunks.with(index, bytes);
  run.twin.uploads.set(uploadId, { ...upload, chunks });
}

function complete(run: Run) {
  const isWhole = ([, { chunks }]: [string, Upload]) => chunks.every((bytes) => bytes);
  const [uploadId, upload] = oneOf(run, [...run.twin.uploads].filter(isWhole)) ?? [];
  if (uploadId === undefined || upload === undefined) return;
  noteGoneFile(run, upload.bucket, upload.path);
  completeUpload(run.stores, callNow(run), { uploadId, apiKey: undefined });
  const chunks = upload.chunks.flatMap((bytes) => bytes ?? []);
  run.twin.files.set(`${upload.bucket}\0${upload.path}`, Buffer.concat(chunks));
  run.twin.uploads.delete(uploadId);
}

function cancel(run: Run) {
  const [uploadId, upload] = oneOf(run, [...run.twin.uploads]) ?? [];
  if (uploadId === undefined || upload === undefined) return;
  noteGone(run, { bucket: upload.bucket, ...getSession(run.stores, uploadId) });
  cancelUpload(run.stores, callNow(run), { uploadId: uploadId });
  run.twin.uploads.delete(uploadId);
}

/** A refusal because another rotation is going on is an answer too. */
function unlessBusy(rotate: () => void) {
  try {
    rotate();
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'SlowDown')) throw error;
  }
}

function rotateBucket(run: Run) {
  unlessBusy(() => rotateBucketKey(run.stores, callNow(run), oneOf(run, buckets) ?? 'box'));
}

function rotateRoot(run: Run) {
  const sources = [undefined, { kind: 'stored' }, { kind: 'vetkd', keyName: 'key_1' }] as const;
  unlessBusy(() => rotateRootKey(run.stores, callNow(run, 'controller'), oneOf(run, sources)));
}

async function upgrade(run: Run) {
  run.upgrades += 1;
  run.stores = await upgradeStores(run.stores, 7 + run.upgrades);
}

type Operation = (run: Run) => void | Promise<void>;

const operations: [weight: number, name: string, operation: Operation][] = [
  [6, 'put', put],
  [3, 'remove', remove],
  [3, 'begin', beginSome],
  [10, 'chunk', chunk],
  [4, 'complete', complete],
  [1, 'cancel', cancel],
  [2, 'rotateBucketKey', rotateBucket],
  [1, 'rotateRootKey', rotateRoot],
  [5, 'continueRotation', (run) => void continueRotation(run.stores)],
  [2, 'root key', (run) => giveRootKey(run.stores)],
  [2, 'reclaim', (run) => void reclaimContents(run.stores)],
];
const wheel = operations.flatMap(([weight, name, operation]) =>
  Array.from({ length: weight }, () => ({ name, operation })),
);

/** One message; killed, as if it had never begun. */
async function message(run: Run, isKilled: boolean) {
  const { name, operation } = oneOf(run, wheel) ?? expect.fail();
  const before = isKilled ? stateOf(run.stores) : undefined;
  const twin = { files: new Map(run.twin.files), uploads: new Map(run.twin.uploads) };
  const goneCount = run.gone.length;
  await operation(run);
  run.counts.set(name, (run.counts.get(name) ?? 0) + 1);
  if (before === undefined) {
    noteNonces(run);
    return;
  }
  run.twin = twin;
  run.gone.length = goneCount;
  run.upgrades += 1;
  run.stores = await rewind(run.stores, before, 7 + run.upgrades);
}

function noteNonce(run: Run, key: string, seen: { nonce: Uint8Array; at: string }) {
  const name = `${key} ${Buffer.from(seen.nonce).toString('hex')}`;
  const former = run.nonces.get(name) ?? seen.at;
  if (former !== seen.at) expect.fail(`${name} sealed ${former} and ${seen.at}`);
  run.nonces.set(name, seen.at);
}

/** Of all segments, file records and wrapped keys that are stored now. */
function noteNonces(run: Run) {
  const { stores } = run;
  for (const entry of stores.chunks.entries()) {
    const chunk = chunkOf(entry);
    const { contentId, index } = chunk;
    for (const segment of chunk.slots.keys()) {
      const at = `${index} ${segment} ${Buffer.from(chunk.digest).toString('hex')}`;
      noteNonce(run, `content ${contentId}`, { nonce: segmentNonce(chunk, segment), at });
    }
  }
  for (const [key, record] of stores.files.entries()) {
    const contentId = Buffer.from(record).readBigUInt64LE(25);
    const at = `${Buffer.from(key)} ${Buffer.from(record.subarray(1, 17)).toString('hex')}`;
    noteNonce(run, `content ${contentId}`, { nonce: nonceOfRecord(record), at });
  }
  const roots = new Set(rootKeyEntries(stores).map(({ slot }) => slot));
  for (const { slot, wrapperId, bytes } of keySlotsOf(stores.system.stable).used) {
    if (roots.has(slot)) continue;
    const at = Buffer.from(bytes.subarray(28, 76)).toString('hex');
    noteNonce(run, `wrapper ${wrapperId}`, { nonce: bytes.slice(16, 28), at });
  }
}

/** Every key that stable memory and all root keys there ever were open. */
function keysThatOpen(run: Run): Map<string, Uint8Array> {
  const { used } = keySlotsOf(run.stores.system.stable);
  const keys = new Map<string, Uint8Array>();
  const ofBuckets = new Map<number, Uint8Array>();
  for (const { wrapperId, ownerId, bytes } of used.filter((slot) => slot.wrapperId < 0)) {
    const root = new Uint8Array(32).fill(-wrapperId);
    for (const name of buckets) {
      try {
        ofBuckets.set(ownerId, openKey(bytes, root, name));
      } catch {
        // Of the other bucket.
      }
    }
  }
  for (const { wrapperId, bytes } of used) {
    const wrapper = ofBuckets.get(wrapperId);
    if (wrapper === undefined) continue;
    const key = openKey(bytes, wrapper);
    keys.set(Buffer.from(key).toString('hex'), key);
  }
  return keys;
}

function checkGone(run: Run) {
  const keys = keysThatOpen(run);
  const contents = new Set(
    [...run.stores.files.entries()].map(([, bytes]) => {
      return Number(Buffer.from(bytes).readBigUInt64LE(25));
    }),
  );
  const isLeft = run.gone.filter(({ contentId, key }) => contents.has(contentId) || keys.has(key));
  expect(isLeft).toEqual([]);
  const last = run.gone.at(-1);
  for (const key of last === undefined ? [] : keys.values()) {
    const { nonce, data, sealed } = last ?? expect.fail();
    expect(() => chacha20poly1305(key, nonce, data).decrypt(sealed)).toThrow();
  }
}

function checkFiles(run: Run) {
  const { stores, twin } = run;
  const there = stores.files.entries().map(([key]) => Buffer.from(key).toString());
  expect(there).toEqual([...twin.files.keys()].sort());
  for (const [name, bytes] of twin.files) {
    const [bucket = '', path = ''] = name.split('\0');
    const part = { offset: 0n, length: 1_900_000n, apiKey: undefined };
    const read = readFilePart(stores, callOf('alice'), { bucket, path: `/${path}`, ...part });
    expect(Buffer.compare(read, bytes), name).toBe(0);
    const isSampled = run.random(40) === 0;
    if (isSampled) expect(Buffer.compare(readByTwin(stores, bucket, path), bytes)).toBe(0);
  }
}

test(`keys and nonces under ${rounds} rounds of random histories, seed ${seed}`, async () => {
  const { stores } = await createScene();
  const run: Run = {
    stores,
    twin: { files: new Map(), uploads: new Map() },
    nowNs: callOf('alice').nowNs,
    upgrades: 0,
    random: randomNumbers(seed),
    gone: [],
    nonces: new Map(),
    counts: new Map(),
  };
  for (let round = 0; round < rounds; round++) {
    const killedAt = run.random(operationsPerRound);
    for (let turn = 0; turn < operationsPerRound; turn++) {
      await message(run, turn === killedAt);
    }
    if (run.random(3) === 0) await upgrade(run);
    checkGone(run);
    if (round % 4 === 0) checkFiles(run);
    if (round % 10 === 0) checkInvariants(run.stores);
  }
  giveRootKey(run.stores);
  while (isRotating(run.stores)) continueRotation(run.stores);
  noteNonces(run);
  checkFiles(run);
  checkGone(run);
  checkInvariants(run.stores);
  expect(rootKeyEntries(run.stores)).toHaveLength(1);
  expect(run.counts.size).toBe(operations.length);
  expect(run.gone.length).toBeGreaterThan(rounds / 2);
}, 600_000);
