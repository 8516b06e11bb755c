// Random operations on files and uploads, compared with a reference model that stores whole byte
// arrays.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import {
  cancelUpload,
  completeUpload,
  expireUploads,
} from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { allFiles, checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';
import { quotaOf } from '../support/model-reference.ts';
import { readStored } from '../support/read-files.ts';

const paths = ['a', 'b', 'c/d'] as const;
const path = fc.constantFrom(...paths);
const pick = fc.nat({ max: 5 });
const quotaBytes = 350_000;
const conditions = ['none', 'ifMatch', 'ifMatchOther', 'ifNoneMatchAny'] as const;
const operation = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    path,
    size: fc.constantFrom(0, 1, 900, 70_000),
    condition: fc.constantFrom(...conditions),
  }),
  fc.record({
    kind: fc.constant('delete' as const),
    path,
    condition: fc.constantFrom(...conditions),
  }),
  fc.record({
    kind: fc.constant('begin' as const),
    path,
    size: fc.constantFrom(undefined, undefined, 0, 100, 250, 300, 140_000),
  }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('chunk' as const),
      pick,
      index: fc.nat({ max: 3 }),
      size: fc.constantFrom(50, 100, 100, 100, 150, 70_000),
      seed: fc.nat({ max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fill' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('complete' as const), pick }) },
  fc.record({ kind: fc.constant('cancel' as const), pick }),
  fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 10, 25) }),
  fc.record({ kind: fc.constant('expire' as const) }),
  fc.record({ kind: fc.constant('reclaim' as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface PlainUpload {
  readonly uploadId: string;
  readonly path: string;
  /** Undefined for an open-ended upload, whose size is the bytes received. */
  readonly size: number | undefined;
  readonly chunks: Map<number, Uint8Array>;
  status: 'active' | 'completed' | 'cancelled' | 'expired';
  readonly begunAtNs: bigint;
  /** Time of the last chunk, or of the end. */
  usedAtNs: bigint;
}

interface Model {
  readonly stores: MemoryStores;
  readonly files: Map<string, { readonly bytes: Uint8Array; readonly version: number }>;
  readonly uploads: PlainUpload[];
  nowNs: bigint;
}

function runOperation(model: Model, step: Operation): void {
  const { stores } = model;
  switch (step.kind) {
    case 'put':
      putFileBoth(model, step);
      break;
    case 'delete':
      deleteBoth(model, step);
      break;
    case 'begin':
      beginBoth(model, step);
      break;
    case 'wait':
      model.nowNs += BigInt(step.hours) * hourNs + 1n;
      return;
    case 'expire':
      while (expireUploads(stores, model.nowNs)) checkInvariants(stores);
      forgetExpired(model);
      break;
    case 'reclaim':
      reclaimContents(stores);
      return;
    default: {
      const upload = model.uploads[step.pick % Math.max(model.uploads.length, 1)];
      if (upload !== undefined) runOnUpload(model, upload, step);
    }
  }
}

type Condition = (typeof conditions)[number];

function conditionsOf(model: Model, name: string, condition: Condition) {
  const { bytes } = model.files.get(name) ?? {};
  const file = findFile(model.stores, 'box', name);
  const etag = file === undefined ? '"none"' : entityTag(file);
  const isThere = bytes !== undefined;
  switch (condition) {
    case 'ifMatch':
      return { conditions: { ifMatch: etag }, isMet: isThere };
    case 'ifMatchOther':
      return { conditions: { ifMatch: '"other"' }, isMet: false };
    case 'ifNoneMatchAny':
      return { conditions: { ifNoneMatch: '*' }, isMet: !isThere };
    case 'none':
      return { conditions: {}, isMet: true };
  }
}

function plainQuotaOf(path: string, size: number): number {
  return quotaOf({ path, tags: [], size });
}

function plainSizeOf({ size, chunks }: PlainUpload): number {
  return size ?? sizeOf(chunks);
}

/**
 * Counts files and open uploads: an upload by its declared size, or by the bytes received so far.
 */
function exceedsQuota(model: Model, additional: number): boolean {
  const open = model.uploads.filter(({ status }) => status === 'active');
  const files = [...model.files].map(([path, { bytes }]) => plainQuotaOf(path, bytes.length));
  const uploads = open.map((upload) => plainQuotaOf(upload.path, plainSizeOf(upload)));
  const held = [...files, ...uploads].reduce((sum, bytes) => sum + bytes, 0);
  return additional > 0 && held + additional > quotaBytes;
}

function putFileBoth(
  model: Model,
  step: { readonly path: string; readonly size: number; readonly condition: Condition },
): void {
  const bytes = testBytes(step.size, Number(model.nowNs % 1_000n));
  const { conditions, isMet } = conditionsOf(model, step.path, step.condition);
  const put = () =>
    putTestFile(model.stores, { path: `/${step.path}`, bytes, conditions }, model.nowNs);
  const file = model.files.get(step.path);
  const old = file === undefined ? 0 : plainQuotaOf(step.path, file.bytes.length);
  if (exceedsQuota(model, plainQuotaOf(step.path, step.size) - old)) {
    expectRefusal(model.stores, 'QuotaExceeded', put);
  } else if (isMet) {
    expect(put().isNew).toBe(!model.files.has(step.path));
    replace(model, step.path, bytes);
  } else {
    expectRefusal(model.stores, 'PreconditionFailed', put);
  }
}

function deleteBoth(
  model: Model,
  step: { readonly path: string; readonly condition: Condition },
): void {
  const { conditions, isMet } = conditionsOf(model, step.path, step.condition);
  const request = { bucket: 'box', path: `/${step.path}`, apiKey: undefined, conditions };
  const remove = () => deleteFile(model.stores, callOf('alice', model.nowNs), request);
  if (!model.files.has(step.path)) {
    expectRefusal(model.stores, 'NoSuchFile', remove);
  } else if (isMet) {
    remove();
    model.files.delete(step.path);
  } else {
    expectRefusal(model.stores, 'PreconditionFailed', remove);
  }
}

function beginBoth(
  model: Model,
  step: { readonly path: string; readonly size: number | undefined },
): void {
  const size = step.size === undefined ? undefined : BigInt(step.size);
  const change = { path: step.path, size, contentType: 'text/plain' };
  const start = () => begin(model.stores, callOf('alice', model.nowNs), change);
  if (exceedsQuota(model, plainQuotaOf(step.path, step.size ?? 0))) {
    expectRefusal(model.stores, 'QuotaExceeded', start);
    return;
  }
  const { uploadId } = start();
  const { path: name } = step;
  const chunks = new Map<number, Uint8Array>();
  const times = { begunAtNs: model.nowNs, usedAtNs: model.nowNs };
  model.uploads.push({ uploadId, path: name, size: step.size, chunks, status: 'active', ...times });
}

function replace(model: Model, name: string, bytes: Uint8Array): void {
  const version = (model.files.get(name)?.version ?? 0) + 1;
  model.files.set(name, { bytes, version });
}

function isOver({ nowNs }: Model, upload: PlainUpload): boolean {
  const isLate = upload.status === 'active' && upload.begunAtNs + 168n * hourNs <= nowNs;
  return upload.usedAtNs + 24n * hourNs <= nowNs || isLate;
}

function forgetExpired(model: Model): void {
  const over = model.uploads.filter((upload) => isOver(model, upload));
  const gone = over.filter(({ status }) => status !== 'active');
  const left = model.uploads.filter((upload) => !gone.includes(upload));
  model.uploads.splice(0, model.uploads.length, ...left);
  for (const upload of over.filter(({ status }) => status === 'active')) {
    upload.status = 'expired';
    upload.usedAtNs = model.nowNs;
  }
}

type UploadOperation = Extract<Operation, { readonly pick: number }>;

function runOnUpload(model: Model, upload: PlainUpload, step: UploadOperation): void {
  switch (step.kind) {
    case 'chunk':
      putBoth(model, upload, [step.index, testBytes(step.size, step.seed)]);
      break;
    case 'fill': {
      const whole = upload.size ?? 290;
      const length = Math.max(
        ...[...upload.chunks.values()].map((bytes) => bytes.length),
        Math.ceil(whole / 3),
        50,
      );
      for (let start = 0; start < whole; start += length) {
        const size = Math.min(length, whole - start);
        putBoth(model, upload, [start / length, testBytes(size, start)]);
      }
      return;
    }
    case 'complete':
      completeBoth(model, upload);
      break;
    case 'cancel':
      cancelBoth(model, upload);
      break;
  }
}

/** The code that refuses a step on an ended upload; completed and cancelled precede expired. */
function endedCode(model: Model, upload: PlainUpload) {
  if (upload.status === 'completed') return 'UploadCompleted';
  if (upload.status === 'cancelled') return 'UploadCancelled';
  return upload.status === 'expired' || isOver(model, upload) ? 'UploadExpired' : undefined;
}

function sizeOf(chunks: ReadonlyMap<number, Uint8Array>): number {
  return [...chunks.values()].reduce((sum, { length }) => sum + length, 0);
}

function putBoth(model: Model, upload: PlainUpload, chunk: [number, Uint8Array]): void {
  const [index, bytes] = chunk;
  const put = () =>
    putChunk(model.stores, callOf('alice', model.nowNs), {
      uploadId: upload.uploadId,
      chunkIndex: BigInt(index),
      bytes,
    });
  const next = new Map([...upload.chunks, chunk]);
  const added = sizeOf(next) - sizeOf(upload.chunks);
  const isTooLarge = upload.size !== undefined && sizeOf(next) > upload.size;
  const isBeyondQuota = upload.size === undefined && exceedsQuota(model, added);
  const refused = isTooLarge ? 'EntityTooLarge' : isBeyondQuota ? 'QuotaExceeded' : undefined;
  const code = endedCode(model, upload) ?? refused;
  if (code !== undefined) {
    expectRefusal(model.stores, code, put);
    return;
  }
  const old = upload.chunks.get(index);
  if (old === undefined || Buffer.compare(old, bytes) !== 0) upload.usedAtNs = model.nowNs;
  upload.chunks.set(index, bytes);
  expect(put()).toMatchObject({ uploadedSize: sizeOf(next), receivedChunks: next.size });
}

/** The expected code of a failing completion, or undefined. */
function completionCode(model: Model, upload: PlainUpload) {
  const ended = endedCode(model, upload);
  if (ended !== undefined) return ended;
  const lengths = Array.from(
    { length: upload.chunks.size },
    (_, i) => upload.chunks.get(i)?.length,
  );
  if (sizeOf(upload.chunks) !== plainSizeOf(upload) || lengths.includes(undefined))
    return 'UploadIncomplete';
  const [first = 0] = lengths;
  const isEven = lengths.slice(0, -1).every((length) => length === first);
  return isEven && (lengths.at(-1) ?? 0) <= first ? undefined : 'ChunkSizeMismatch';
}

function completeBoth(model: Model, upload: PlainUpload): void {
  const complete = () => {
    const request = { uploadId: upload.uploadId, apiKey: undefined };
    return completeUpload(model.stores, callOf('alice', model.nowNs), request);
  };
  const code = completionCode(model, upload);
  if (code !== undefined && code !== 'UploadCompleted') {
    expectRefusal(model.stores, code, complete);
    return;
  }
  expect(complete().status).toBe('completed');
  if (code === undefined) {
    const chunks = [...upload.chunks].sort(([left], [right]) => left - right);
    replace(model, upload.path, Buffer.concat(chunks.map(([, bytes]) => bytes)));
    upload.status = 'completed';
    upload.usedAtNs = model.nowNs;
  }
}

function cancelBoth(model: Model, upload: PlainUpload): void {
  const cancel = () =>
    cancelUpload(model.stores, callOf('alice', model.nowNs), { uploadId: upload.uploadId });
  const code = endedCode(model, upload);
  if (code !== undefined && code !== 'UploadCancelled') {
    expectRefusal(model.stores, code, cancel);
    return;
  }
  cancel();
  if (upload.status === 'active') upload.usedAtNs = model.nowNs;
  upload.status = 'cancelled';
}

function checkModel(model: Model): void {
  checkInvariants(model.stores);
  expect(allFiles(model.stores).map((file) => file.path)).toEqual([...model.files.keys()].sort());
  for (const [name, { bytes, version }] of model.files) {
    const file = findFile(model.stores, 'box', name) ?? expect.fail(`no file ${name}`);
    expect(file.version).toBe(version);
    const read = readStored(model.stores, file, { start: 0, end: file.size });
    expect(Buffer.compare(read, bytes)).toBe(0);
  }
}

test('putChunk(): files and uploads agree with a reference model under random operations', async () => {
  const operations = fc.array(operation, { minLength: 10, maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(operations, async (steps) => {
      const { stores } = await createScene();
      const box = findBucket(stores, 'box') ?? expect.fail('no bucket');
      saveBucket(stores, { ...box, quotaBytes }, box);
      const model: Model = { stores, files: new Map(), uploads: [], nowNs: startNs };
      for (const step of steps) {
        runOperation(model, step);
        checkModel(model);
      }
      while (reclaimContents(stores)) checkInvariants(stores);
    }),
    { numRuns: 30 },
  );
});
