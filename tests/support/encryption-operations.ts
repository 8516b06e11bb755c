// Operations of the encryption model: uploads, copies, changes, former versions and key rotations
// in two buckets, each with its effect on a reference model of plain data.

import { expect } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import {
  continueRotation,
  rotateBucketKey,
  rotateRootKey,
} from '../../src/domain/administration/key-rotation.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { putThumbnail } from '../../src/domain/files/thumbnails.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions } from '../../src/domain/files/version-records.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import {
  cancelUpload,
  completeUpload,
  expireUploads,
} from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  bucketChange,
  callOf,
  hourNs,
  putTestFile,
  testBytes,
  testPicture,
} from './domain-fixture.ts';
import { giveRootKey, type MemoryStores } from './memory-stores.ts';
export const encryptedBuckets = ['box', 'other'];
/** Chunk sizes, in bytes, of one segment and of two. */
const chunkSizes = [500, 900, 66_000];

interface Upload {
  readonly bucket: string;
  readonly path: string;
  readonly content: number;
  readonly chunkBytes: number;
  readonly chunks: (Uint8Array | undefined)[];
}

/** The knowledge of an attacker who copied stable memory while the content existed. */
export interface Known {
  readonly contentId: number;
  readonly key: string;
  readonly nonce: Uint8Array;
  readonly data: Uint8Array;
  readonly sealed: Uint8Array;
}

interface ReferenceFile {
  readonly bytes: Uint8Array;
  /** Number of the content; a copy has the number of its source. */
  readonly content: number;
  readonly version: number;
}

/** Plain data, copied before each message in case the message is killed. */
export interface EncryptionReference {
  /** By bucket, NUL, path. */
  readonly files: Map<string, ReferenceFile>;
  /** By bucket, NUL, path, NUL, number. */
  readonly versions: Map<string, ReferenceFile & { readonly expiresAtNs: bigint }>;
  readonly uploads: Map<string, Upload>;
  readonly keepDays: Map<string, number>;
}

export interface EncryptionRun {
  stores: MemoryStores;
  reference: EncryptionReference;
  nowNs: bigint;
  upgrades: number;
  readonly random: (limit: number) => number;
  /** Keys and sealed bytes of contents, until the last record of each is gone. */
  readonly known: Map<number, Known>;
  readonly gone: Known[];
  /** The use of each nonce, by key and nonce: none may occur twice. */
  readonly nonces: Map<string, string>;
  readonly counts: Map<string, number>;
}

export function oneOf<T>({ random }: EncryptionRun, choices: readonly T[]): T | undefined {
  return choices[random(choices.length)];
}

function callNow(run: EncryptionRun, person: 'alice' | 'controller' = 'alice') {
  // Messages of one round of the network have the same time.
  if (run.random(3) > 0) run.nowNs += 1_000_000n;
  return callOf(person, run.nowNs);
}

function somePlace(run: EncryptionRun) {
  return { bucket: oneOf(run, encryptedBuckets) ?? 'box', path: `f${run.random(8)}` };
}

/** Returns an existing file. */
function someFile(run: EncryptionRun) {
  const [name, file] = oneOf(run, [...run.reference.files]) ?? [];
  const [bucket = '', path = ''] = name?.split('\0') ?? [];
  return name === undefined || file === undefined ? undefined : { name, bucket, path, file };
}

/** Removes the file with that name; it becomes a former version if the bucket stores any. */
function retire(run: EncryptionRun, name: string) {
  const { files, versions, keepDays } = run.reference;
  const old = files.get(name);
  const days = keepDays.get(name.split('\0')[0] ?? '') ?? 0;
  files.delete(name);
  if (old === undefined || days === 0) return;
  const expiresAtNs = run.nowNs + BigInt(days) * 24n * hourNs;
  versions.set(`${name}\0${old.version}`, { ...old, expiresAtNs });
}

type Stored = { readonly contentId: number; readonly version: number };

function store(run: EncryptionRun, name: string, [stored, bytes]: readonly [Stored, Uint8Array]) {
  retire(run, name);
  const { contentId: content, version } = stored;
  run.reference.files.set(name, { bytes, content, version });
}

function put(run: EncryptionRun) {
  const { bucket, path } = somePlace(run);
  const bytes = testBytes(oneOf(run, [0, 1, 700, 2_000, 66_000]) ?? 0, run.random(1_000));
  const { nowNs } = callNow(run);
  const { file } = putTestFile(run.stores, { bucket, path: `/${path}`, bytes }, nowNs);
  store(run, `${bucket}\0${path}`, [file, bytes]);
}

function remove(run: EncryptionRun) {
  const chosen = someFile(run);
  if (chosen === undefined) return;
  const { bucket, path, name } = chosen;
  const request = { bucket, path: `/${path}`, apiKey: undefined, conditions: {} };
  deleteFile(run.stores, callNow(run), request);
  retire(run, name);
}

/** Copies or moves within a bucket or to the other one, over any existing file. */
function copyOrMove(run: EncryptionRun, move: typeof moveFile | typeof copyFile) {
  const [chosen, to] = [someFile(run), somePlace(run)];
  const name = `${to.bucket}\0${to.path}`;
  if (chosen === undefined || chosen.name === name) return;
  const { bucket, path: from, file } = chosen;
  const request = { bucket, from, to, conditions: {}, apiKey: undefined };
  const { file: copy } = move(run.stores, callNow(run), request);
  expect(copy.contentId).toBe(file.content);
  store(run, name, [copy, file.bytes]);
  if (move === moveFile) run.reference.files.delete(chosen.name);
}

/** Changes a file, and sometimes copies it, at one time; only the last seals stay. */
function change(run: EncryptionRun) {
  const chosen = someFile(run);
  if (chosen === undefined) return;
  const { bucket, path, name, file } = chosen;
  const call = callNow(run);
  const request = { bucket, path, conditions: {}, apiKey: undefined };
  for (let turn = run.random(2); turn >= 0; turn--) {
    const { file: changed } = changeFile(run.stores, call, {
      ...request,
      tags: [`t${run.random(4)}`],
    });
    run.reference.files.set(name, { ...file, version: changed.version });
  }
  const to = { bucket: oneOf(run, encryptedBuckets) ?? 'box', path: `same${run.random(3)}` };
  const place = `${to.bucket}\0${to.path}`;
  if (place === name || run.random(2) === 0) return;
  const { file: copy } = copyFile(run.stores, call, { ...request, from: path, to });
  store(run, place, [copy, file.bytes]);
}

/** Stores or replaces a thumbnail, sometimes twice at one time. */
function thumbnail(run: EncryptionRun) {
  const chosen = someFile(run);
  if (chosen === undefined) return;
  const { bucket, path } = chosen;
  const call = callNow(run);
  const file = findFile(run.stores, bucket, path) ?? expect.fail();
  const etag = entityTag(file);
  for (let turn = run.random(2); turn >= 0; turn--) {
    const bytes = testPicture(1 + run.random(20_000), run.random(1_000));
    putThumbnail(run.stores, call, { bucket, path, etag, bytes, apiKey: undefined });
  }
}

function configure(run: EncryptionRun) {
  const bucket = oneOf(run, encryptedBuckets) ?? 'box';
  const days = run.random(3);
  const change = bucketChange({ bucket, keepVersionsDays: BigInt(days) });
  updateBucket(run.stores, callNow(run), change);
  run.reference.keepDays.set(bucket, days);
}

/** Returns a stored former version. */
function someVersion(run: EncryptionRun) {
  const [name, file] = oneOf(run, [...run.reference.versions]) ?? [];
  const [bucket = '', path = '', version = ''] = name?.split('\0') ?? [];
  if (name === undefined || file === undefined) return undefined;
  return { name, file, place: { bucket, path, version: Number(version), apiKey: undefined } };
}

function restore(run: EncryptionRun) {
  const chosen = someVersion(run);
  if (chosen === undefined) return;
  const { name, file, place } = chosen;
  const request = { ...place, conditions: {} };
  const restored = restoreVersion(run.stores, callNow(run), request).file;
  expect(restored.contentId).toBe(file.content);
  run.reference.versions.delete(name);
  store(run, `${place.bucket}\0${place.path}`, [restored, file.bytes]);
}

function copyVersion(run: EncryptionRun) {
  const [chosen, to] = [someVersion(run), somePlace(run)];
  if (chosen === undefined) return;
  const { file, place } = chosen;
  const { path: from, ...named } = place;
  const request = { ...named, from, to, conditions: {} };
  const { file: copy } = copyFile(run.stores, callNow(run), request);
  expect(copy.contentId).toBe(file.content);
  store(run, `${to.bucket}\0${to.path}`, [copy, file.bytes]);
}

function erase(run: EncryptionRun) {
  const chosen = someVersion(run);
  if (chosen === undefined) return;
  eraseVersions(run.stores, callNow(run), chosen.place);
  run.reference.versions.delete(chosen.name);
}

/** Waits a day: expired versions and abandoned uploads are removed. */
export function wait(run: EncryptionRun) {
  run.nowNs += 25n * hourNs;
  while (expireVersions(run.stores, run.nowNs));
  while (expireUploads(run.stores, run.nowNs));
  const { versions, uploads } = run.reference;
  for (const [name, { expiresAtNs }] of versions) {
    if (expiresAtNs <= run.nowNs) versions.delete(name);
  }
  uploads.clear();
}

function beginSome(run: EncryptionRun) {
  if (run.reference.uploads.size > 5) return;
  const { bucket, path } = somePlace(run);
  const count = 1 + run.random(3);
  const chunkBytes = oneOf(run, chunkSizes) ?? 1;
  const size = run.random(3) === 0 ? undefined : BigInt(count * chunkBytes);
  const { uploadId, contentId: content } = begin(run.stores, callNow(run), {
    ...{ bucket, path: `/${path}`, size },
  });
  const chunks = Array.from<undefined>({ length: count });
  run.reference.uploads.set(uploadId, { bucket, path, content, chunkBytes, chunks });
}

/** Sends a new chunk, repeats one, or replaces one with other bytes. */
function chunk(run: EncryptionRun) {
  const [uploadId, upload] = oneOf(run, [...run.reference.uploads]) ?? [];
  if (uploadId === undefined || upload === undefined) return;
  const index = run.random(upload.chunks.length);
  const bytes = testBytes(upload.chunkBytes, run.random(3));
  putChunk(run.stores, callNow(run), { uploadId, chunkIndex: BigInt(index), bytes });
  const chunks = upload.chunks.with(index, bytes);
  run.reference.uploads.set(uploadId, { ...upload, chunks });
}

function complete(run: EncryptionRun) {
  const isWhole = ([, { chunks }]: [string, Upload]) => chunks.every((bytes) => bytes);
  const [uploadId, upload] = oneOf(run, [...run.reference.uploads].filter(isWhole)) ?? [];
  if (uploadId === undefined || upload === undefined) return;
  const session = completeUpload(run.stores, callNow(run), { uploadId, apiKey: undefined });
  const stored = { contentId: session.contentId, version: session.fileVersion };
  const bytes = Buffer.concat(upload.chunks.flatMap((bytes) => bytes ?? []));
  store(run, `${upload.bucket}\0${upload.path}`, [stored, bytes]);
  run.reference.uploads.delete(uploadId);
}

function cancel(run: EncryptionRun) {
  const [uploadId] = oneOf(run, [...run.reference.uploads]) ?? [];
  if (uploadId === undefined) return;
  cancelUpload(run.stores, callNow(run), { uploadId });
  run.reference.uploads.delete(uploadId);
}

/** A refusal because of a running rotation is also a right answer. */
function unlessBusy(rotate: () => void) {
  try {
    rotate();
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'SlowDown')) throw error;
  }
}

function rotateBucket(run: EncryptionRun) {
  unlessBusy(() =>
    rotateBucketKey(run.stores, callNow(run), oneOf(run, encryptedBuckets) ?? 'box'),
  );
}

function rotateRoot(run: EncryptionRun) {
  const sources = [undefined, { kind: 'stored' }, { kind: 'vetkd', keyName: 'key_1' }] as const;
  unlessBusy(() => rotateRootKey(run.stores, callNow(run, 'controller'), oneOf(run, sources)));
}

type Operation = (run: EncryptionRun) => void | Promise<void>;

export const encryptionOperations: [weight: number, name: string, operation: Operation][] = [
  [6, 'put', put],
  [3, 'remove', remove],
  [4, 'copy', (run) => copyOrMove(run, copyFile)],
  [2, 'copy version', copyVersion],
  [2, 'move', (run) => copyOrMove(run, moveFile)],
  [3, 'change', change],
  [3, 'thumbnail', thumbnail],
  [1, 'configure', configure],
  [2, 'restore', restore],
  [1, 'erase', erase],
  [1, 'wait', wait],
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
