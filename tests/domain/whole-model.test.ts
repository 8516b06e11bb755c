// Ten thousand random operations on one bucket, upgrades among them, against a plain twin. Every refused
// one proves that it wrote nothing, and so does every one that only reads or repeats.

import { expect, test } from 'vitest';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/file-access.ts';
import { entityTag, findFile } from '../../src/domain/files/files.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, expireUploads, finishUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  expectRefusal,
  hourNs,
  plainMetadata,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import { allFiles, checkInvariants } from '../support/invariants.ts';
import { createUpgradableStores, type UpgradableStores } from '../support/model-stores.ts';
import {
  areMet,
  beginCode,
  chunkCode,
  chunksOf,
  completionCode,
  createTwin,
  digestOf,
  endedCode,
  expireTwin,
  listTwin,
  pieceOf,
  putCode,
  saveTwinFile,
  sizeOf,
  type Twin,
  type TwinConditions,
  type TwinUpload,
  twinOutcomes,
  twinPlans,
  twinQuotaBytes,
  unevenPieceOf,
} from '../support/model-twin.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const operationsPerRun = 1_000;
const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const folders = ['', 'a/', 'a/b/', 'é/', 'photos/2024/', 'photos/2025/'];
const bucket = 'box';

interface Run {
  readonly model: UpgradableStores;
  readonly twin: Twin;
  readonly random: (limit: number) => number;
  /** How often each operation ended how. */
  readonly outcomes: Map<string, number>;
}

type Answer = string | undefined;

/** Answers the code of a refusal, or undefined. */
type Operation = (run: Run) => Answer | Promise<Answer>;

function oneOf<T>({ random }: Pick<Run, 'random'>, choices: readonly T[]): T {
  return choices[random(choices.length)] as T;
}

function callNow({ twin }: Run) {
  return callOf('alice', twin.nowNs);
}

/** Either side: the refusal that the twin foresees, or the change. */
function attempt(
  run: Run,
  code: Parameters<typeof expectRefusal>[1] | undefined,
  change: () => void,
) {
  if (code === undefined) change();
  else expectRefusal(run.model.current(), code, change);
  return code;
}

/** The operation succeeds and writes nothing. */
function withoutWrites<T>({ model }: Run, operation: () => T): T {
  const before = model.current().writeCount();
  const result = operation();
  expect(model.current().writeCount() - before, 'writes of what changes nothing').toBe(0);
  return result;
}

function somePath(run: Run): string {
  const there = [...run.twin.files.keys()];
  if (there.length > 0 && run.random(2) === 0) return oneOf(run, there);
  return `${oneOf(run, folders)}f${run.random(run.random(2) === 0 ? 5 : 200)}`;
}

function someTags({ random }: Run): string[] {
  return ['red', 'blue', 'green'].filter((_, index) => random(3 + index) === 0);
}

function someConditions(run: Run, path: string): TwinConditions {
  const etag = run.twin.files.get(path)?.etag ?? '"none"';
  const conditions = [{ ifMatch: etag }, { ifMatch: '*' }, { ifMatch: '"other"' }];
  const others = [{ ifNoneMatch: '*' }, { ifNoneMatch: etag }, { ifNoneMatch: '"other"' }];
  return run.random(5) < 3 ? {} : oneOf<TwinConditions>(run, [...conditions, ...others]);
}

function put(run: Run): Answer {
  const { twin, model, random } = run;
  const path = somePath(run);
  const size = oneOf(run, [0, 1, 900, 5_000, 70_000, 200_000]);
  const bytes = testBytes(size, random(1_000));
  const tags = someTags(run);
  const conditions = someConditions(run, path);
  const isDamaged = random(20) === 0;
  const write = { path, tags, size, conditions };
  const code = putCode(twin, write) ?? (isDamaged ? 'BadDigest' : undefined);
  const metadata = { ...plainMetadata, tags };
  const digests = isDamaged ? [new Uint8Array(32)] : [];
  return attempt(run, code, () => {
    const change = { path: `/${path}`, bytes, metadata, conditions, digests };
    const { isNew } = putTestFile(model.current(), change, twin.nowNs);
    expect(isNew).toBe(!twin.files.has(path));
    saveTwinFile(twin, { path, tags, chunks: [bytes] });
  });
}

function remove(run: Run): Answer {
  const { twin, model } = run;
  const path = somePath(run);
  const conditions = someConditions(run, path);
  const refused = areMet(twin, path, conditions) ? undefined : 'PreconditionFailed';
  return attempt(run, twin.files.has(path) ? refused : 'NoSuchFile', () => {
    deleteFile(model.current(), callNow(run), { bucket, path, apiKey: undefined, conditions });
    twin.files.delete(path);
  });
}

function beginBoth(run: Run): Answer {
  const { twin, model, random } = run;
  const path = somePath(run);
  const { size, pieceLength, isDeclared } = oneOf(run, twinPlans);
  const content = testBytes(size, random(1_000));
  const [tags, conditions] = [someTags(run), someConditions(run, path)];
  const isDigested = random(2) === 0;
  return attempt(run, beginCode(twin, { path, tags, size, conditions }), () => {
    const { uploadId } = begin(model.current(), callNow(run), {
      ...{ path, tags, ...conditions, size: BigInt(size), contentType: 'text/plain' },
      chunkSize: isDeclared ? BigInt(pieceLength) : undefined,
      sha256: isDigested ? digestOf(content) : undefined,
    });
    const plan = { path, tags, conditions, content, pieceLength, isDeclared, isDigested };
    const times = { begunAtNs: twin.nowNs, usedAtNs: twin.nowNs };
    const state = { chunks: new Map<number, Uint8Array>(), status: 'active', etag: '' } as const;
    twin.uploads.push({ uploadId, ...plan, ...times, ...state });
  });
}

/** For most, one of the latest that are open. */
function onUpload(operation: (run: Run, upload: TwinUpload) => Answer): Operation {
  return (run) => {
    const { uploads } = run.twin;
    const open = uploads.filter(({ status }) => status === 'active');
    const latest = oneOf(run, [open.slice(-6), open.slice(-6), uploads.slice(-6), uploads]);
    return latest.length === 0 ? undefined : operation(run, oneOf(run, latest));
  };
}

function putBoth(run: Run, upload: TwinUpload, chunk: readonly [number, Uint8Array]): Answer {
  const [index, bytes] = chunk;
  const { twin, model } = run;
  const old = upload.chunks.get(index);
  const isSame = old !== undefined && Buffer.compare(old, bytes) === 0;
  const send = () => {
    const request = { uploadId: upload.uploadId, chunkIndex: BigInt(index), bytes };
    return putChunk(model.current(), callNow(run), request);
  };
  return attempt(run, chunkCode(twin, upload, chunk), () => {
    const session = isSame ? withoutWrites(run, send) : send();
    if (!isSame) upload.usedAtNs = twin.nowNs;
    upload.chunks.set(index, bytes);
    const { size: receivedChunks } = upload.chunks;
    expect(session).toMatchObject({ uploadedSize: sizeOf(upload.chunks), receivedChunks });
  });
}

/** A piece as it was meant, one of that length with other bytes, or one of another length. */
function sendChunk(run: Run, upload: TwinUpload): Answer {
  const count = Math.ceil(upload.content.length / upload.pieceLength);
  const index = run.random(count + 2);
  const piece = pieceOf(upload, index);
  const other = testBytes(piece.length, run.random(1_000));
  const odd = testBytes(Math.max(0, piece.length + run.random(61) - 30), run.random(1_000));
  return putBoth(run, upload, [index, oneOf(run, [piece, piece, piece, other, odd])]);
}

/** Sends again what is there already. */
function resendChunk(run: Run, upload: TwinUpload): Answer {
  const there = [...upload.chunks];
  return there.length === 0 ? undefined : putBoth(run, upload, oneOf(run, there));
}

/** Sends every piece as it was meant, last or first one first; seldom cut so that the first is short. */
function fill(run: Run, upload: TwinUpload): Answer {
  const count = Math.ceil(upload.content.length / upload.pieceLength);
  const indexes = Array.from({ length: count }, (_, index) => index);
  if (run.random(2) === 0) indexes.reverse();
  const cut = run.random(8) === 0 ? unevenPieceOf : pieceOf;
  const answers = indexes.map((index) => putBoth(run, upload, [index, cut(upload, index)]));
  return answers.find((answer) => answer !== undefined);
}

function complete(run: Run, upload: TwinUpload): Answer {
  const { twin, model } = run;
  const finish = () => {
    const request = { uploadId: upload.uploadId, apiKey: undefined };
    return finishUpload(model.current(), callNow(run), request);
  };
  const code = completionCode(twin, upload);
  if (code === 'UploadCompleted') {
    const { file, isNew } = withoutWrites(run, finish);
    expect({ isNew, etag: entityTag(file) }).toEqual({ isNew: false, etag: upload.etag });
    return code;
  }
  return attempt(run, code, () => {
    const isNew = !twin.files.has(upload.path);
    const done = finish();
    const { path, tags } = upload;
    const { etag } = saveTwinFile(twin, { path, tags, chunks: chunksOf(upload) });
    expect({ isNew: done.isNew, etag: entityTag(done.file) }).toEqual({ isNew, etag });
    Object.assign(upload, { status: 'completed', usedAtNs: twin.nowNs, etag });
  });
}

function cancel(run: Run, upload: TwinUpload): Answer {
  const { twin, model } = run;
  const end = () => cancelUpload(model.current(), callNow(run), { uploadId: upload.uploadId });
  const code = endedCode(twin, upload);
  if (code === 'UploadCancelled') {
    withoutWrites(run, end);
    return code;
  }
  return attempt(run, code, () => {
    end();
    Object.assign(upload, { status: 'cancelled', usedAtNs: twin.nowNs });
  });
}

/** Somebody without any right to the bucket. */
function intrude(run: Run): Answer {
  const stores = run.model.current();
  const call = callOf('bob', run.twin.nowNs);
  const name = { bucket, path: somePath(run), apiKey: undefined };
  const page = { page: undefined, pageSize: undefined };
  const request = { ...page, sort: undefined, tag: undefined, prefix: undefined };
  const upload = run.twin.uploads.find(({ status }) => status !== 'forgotten');
  const tries: [RefusalCode, () => unknown][] = [
    ['NoSuchBucket', () => deleteFile(stores, call, { ...name, conditions: {} })],
    ['NoSuchBucket', () => readFilePart(stores, call, { ...name, offset: 0n, length: 1n })],
    ['NoSuchBucket', () => listFiles(stores, call, { bucket, apiKey: undefined, ...request })],
    ['NoSuchBucket', () => begin(stores, call)],
  ];
  if (upload !== undefined) tries.push(['AccessDenied', () => cancelUpload(stores, call, upload)]);
  const [code, attempt] = oneOf(run, tries);
  expectRefusal(stores, code, attempt);
  return code;
}

function list(run: Run): Answer {
  const wanted = {
    sort: oneOf(run, ['name_asc', 'name_desc', 'date_asc', 'date_desc']),
    prefix: oneOf(run, ['', '', 'a', 'a/', 'é/f', 'photos/202', 'photos/2025/f1', 'zz']),
    tag: oneOf(run, [undefined, undefined, 'red', 'blue', 'green', 'none']),
    page: 1 + run.random(4),
    pageSize: oneOf(run, [1, 7, 10, 50, 1_000]),
  };
  const request = { bucket, apiKey: undefined, ...wanted };
  const found = withoutWrites(run, () => listFiles(run.model.current(), callNow(run), request));
  const paths = found.paths.map((path) => Buffer.from(path).toString('utf8'));
  const { total, pages, hasMore } = found;
  expect({ paths, total, pages, hasMore }, JSON.stringify(wanted)).toEqual(
    listTwin(run.twin, wanted),
  );
  return undefined;
}

function read(run: Run): Answer {
  const path = somePath(run);
  const { bytes } = run.twin.files.get(path) ?? {};
  const offset = run.random((bytes?.length ?? 0) + 10);
  const length = run.random(2) === 0 ? run.random(300) : 1_900_000;
  const name = { bucket, path, apiKey: undefined };
  const part = { ...name, offset: BigInt(offset), length: BigInt(length) };
  const isBeyond = bytes !== undefined && offset > bytes.length;
  const code = bytes === undefined ? 'NoSuchFile' : isBeyond ? 'InvalidRange' : undefined;
  return attempt(run, code, () => {
    const get = () => readFilePart(run.model.current(), callNow(run), part);
    const expected = bytes?.subarray(offset, offset + length) ?? new Uint8Array(0);
    expect(Buffer.compare(withoutWrites(run, get), expected)).toBe(0);
  });
}

function wait(run: Run): Answer {
  run.twin.nowNs += oneOf(run, [1n, hourNs, 5n * hourNs, 13n * hourNs, 25n * hourNs]);
  return undefined;
}

function expire(run: Run): Answer {
  while (expireUploads(run.model.current(), run.twin.nowNs));
  expireTwin(run.twin);
  return undefined;
}

function reclaim(run: Run): Answer {
  return reclaimContents(run.model.current()) ? 'more' : undefined;
}

async function upgrade(run: Run): Promise<Answer> {
  await run.model.upgrade();
  return undefined;
}

const operations: readonly (readonly [weight: number, name: string, operation: Operation])[] = [
  [14, 'put', put],
  [8, 'delete', remove],
  [9, 'begin', beginBoth],
  [20, 'chunk', onUpload(sendChunk)],
  [5, 'resend', onUpload(resendChunk)],
  [9, 'fill', onUpload(fill)],
  [12, 'complete', onUpload(complete)],
  [4, 'cancel', onUpload(cancel)],
  [2, 'intrude', intrude],
  [12, 'list', list],
  [10, 'read', read],
  [2, 'wait', wait],
  [3, 'expire', expire],
  [4, 'reclaim', reclaim],
  [2, 'upgrade', upgrade],
];
const choices = operations.flatMap((entry) => Array.from({ length: entry[0] }, () => entry));

/** Everything: each record and count, and the bytes of each file. */
function checkAll({ model, twin }: Run): void {
  const stores = model.current();
  checkInvariants(stores);
  const paths = allFiles(stores).map(({ path }) => path);
  expect(paths.sort()).toEqual([...twin.files.keys()].sort());
  for (const { path, bytes, version, etag, date, tags } of twin.files.values()) {
    const file = findFile(stores, bucket, path) ?? expect.fail(`no file ${path}`);
    const found = { version: file.version, etag: entityTag(file), tags: file.tags };
    expect({ ...found, date: file.updatedAtNs }).toEqual({ version, etag, tags, date });
    const part = { bucket, path, apiKey: undefined, offset: 0n, length: BigInt(bytes.length) };
    const whole = readFilePart(stores, callOf('alice', twin.nowNs), part);
    expect(Buffer.compare(whole, bytes)).toBe(0);
  }
}

async function createRun(seed: number): Promise<Run> {
  const model = await createUpgradableStores();
  const alice = callOf('alice');
  const owner = { ...alice, caller: { ...alice.caller, isController: true } };
  createBucket(model.current(), owner, { bucket: bucket, isPublic: true });
  const box = findBucket(model.current(), bucket) ?? expect.fail('no bucket');
  saveBucket(model.current(), { ...box, isPublic: false, quotaBytes: twinQuotaBytes }, box);
  return { model, twin: createTwin(), random: randomNumbers(seed), outcomes: new Map() };
}

async function runOperations(run: Run): Promise<void> {
  for (let turn = 1; turn <= operationsPerRun; turn++) {
    // Bursts of one date
    run.twin.nowNs += BigInt(run.random(3) > 0 ? 1 + run.random(1_000) : 0);
    const [, name, operation] = oneOf(run, choices);
    const answer = await operation(run);
    const outcome = answer === undefined ? name : `${name}: ${answer}`;
    run.outcomes.set(outcome, (run.outcomes.get(outcome) ?? 0) + 1);
    if (turn % 200 === 0) checkAll(run);
  }
}

const seen = new Map<string, number>();

test.each(seeds)('%i: a bucket agrees with its plain twin, whatever happens', async (seed) => {
  const run = await createRun(seed);
  await runOperations(run);
  while (reclaimContents(run.model.current()));
  checkAll(run);
  expect(run.model.stableBytes()).toBeGreaterThan(0);
  for (const [name, count] of run.outcomes) seen.set(name, (seen.get(name) ?? 0) + count);
});

test('the operations have ended in every way that the twin foresees', () => {
  console.log(`seeds ${seeds.join(', ')}: ${JSON.stringify(Object.fromEntries([...seen].sort()))}`);
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0);
  expect(total).toBe(seeds.length * operationsPerRun);
  expect([...seen.keys()]).toEqual(expect.arrayContaining([...twinOutcomes]));
});
