// Operations of the models on files and former versions, one at a time and many in one call.

import { expect } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { entityTag } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
import { uploadSingle } from '../../src/domain/uploads/single-upload.ts';
import { bucketChange, plainMetadata, testBytes } from './domain-fixture.ts';
import { keyCode, type Need } from './model-link-reference.ts';
import { pathsBelow } from './model-list-reference.ts';
import {
  areMet,
  batchCodes,
  changeCode,
  changeReferenceFile,
  copyCode,
  copyReferenceFile,
  eraseReferenceFile,
  etagOf,
  findReferenceVersion,
  heldOf,
  putCode,
  type ReferenceBucket,
  type ReferenceCopy,
  type ReferenceFile,
  type ReferenceNotes,
  type ReferenceVersionName,
  removeReferenceFile,
  restoreCode,
  restoreReference,
  saveReferenceFile,
  versionsOf,
} from './model-reference.ts';
import {
  type Answer,
  attempt,
  callNow,
  type Operation,
  oneOf,
  type Run,
  someBucket,
  someConditions,
  someMetadata,
  somePath,
  someTags,
  withoutWrites,
} from './model-run.ts';

export function put(run: Run): Answer {
  const { reference, model, random } = run;
  const bucket = someBucket(run);
  const path = somePath(run, bucket);
  const size = oneOf(run, [0, 1, 900, 5_000, 70_000, 200_000]);
  const bytes = testBytes(size, random(1_000));
  const [tags, noted] = [someTags(run), someMetadata(run)];
  const conditions = someConditions(run, bucket, path);
  const isDamaged = random(20) === 0;
  const write = { path, tags, metadata: noted, size, conditions };
  const denied = keyCode(run.key, [['write', bucket.id, path]]);
  const code = denied ?? putCode(reference, bucket, write) ?? (isDamaged ? 'BadDigest' : undefined);
  const metadata = { ...plainMetadata, tags, metadata: noted };
  const digests = isDamaged ? [new Uint8Array(32)] : [];
  return attempt(run, code, () => {
    const named = { bucket: bucket.id, path: `/${path}`, bytes };
    const upload = { ...named, metadata, conditions, digests, apiKey: run.key?.secret };
    const { isNew } = uploadSingle(model.current(), callNow(run), upload);
    expect(isNew).toBe(!bucket.files.has(path));
    saveReferenceFile(reference, bucket, {
      path,
      tags,
      metadata: noted,
      bytes,
      etag: etagOf([bytes]),
    });
  });
}

export function remove(run: Run): Answer {
  const { reference, model } = run;
  const bucket = someBucket(run);
  const path = somePath(run, bucket);
  const conditions = someConditions(run, bucket, path);
  const refused = areMet(bucket, path, conditions) ? undefined : 'PreconditionFailed';
  const file = bucket.files.get(path);
  const denied = keyCode(run.key, [['delete', bucket.id, path]]);
  return attempt(run, denied ?? (file === undefined ? 'NoSuchFile' : refused), () => {
    const named = { bucket: bucket.id, path, apiKey: run.key?.secret };
    deleteFile(model.current(), callNow(run), { ...named, conditions });
    if (file !== undefined) removeReferenceFile(reference, bucket, file);
  });
}

/** Copies or moves within a bucket or to the other one, seldom onto the file itself. */
export function copyOrMove(isMove: boolean): Operation {
  return (run) => {
    const { reference, model } = run;
    const [source, target] = [someBucket(run), someBucket(run)];
    // Sometimes only paths with links, so that one file with links replaces another
    const isLinked = run.random(4) === 0;
    const linked = (bucket: ReferenceBucket, at: number) =>
      (isLinked ? bucket.links.at(at)?.path : undefined) ?? somePath(run, bucket);
    const from = linked(source, 0);
    const to = run.random(20) === 0 ? from : linked(target, -1);
    const conditions = someConditions(run, target, to);
    const former = isMove || run.random(3) > 0 ? undefined : someVersion(run, source);
    const noted = run.random(4) === 0 ? someNotes(run) : {};
    const copy: ReferenceCopy = {
      ...{ isMove, source, target, to, conditions, notes: noted },
      ...{ from: former?.path ?? from, version: former?.version },
    };
    const code = keyCode(run.key, copyNeeds(copy)) ?? copyCode(reference, copy);
    return attempt(run, code, () => {
      const place = { bucket: target === source ? undefined : target.id, path: to };
      const asked = { bucket: source.id, from: copy.from, version: copy.version, to: place };
      const named = { ...asked, ...noted, conditions, apiKey: run.key?.secret };
      const isNew = !target.files.has(to);
      const done = (isMove ? moveFile : copyFile)(model.current(), callNow(run), named);
      const { etag } = copyReferenceFile(reference, copy);
      expect({ isNew: done.isNew, etag: entityTag(done.file) }).toEqual({ isNew, etag });
    });
  };
}

function copyNeeds({ isMove, source, from, target, to }: ReferenceCopy): Need[] {
  const deletes: Need[] = isMove ? [['delete', source.id, from]] : [];
  return [['write', target.id, to], ['read', source.id, from], ...deletes];
}

function someNotes(run: Run): Partial<ReferenceNotes> {
  const long = 'x'.repeat(run.random(1_500));
  return oneOf<Partial<ReferenceNotes>>(run, [
    { tags: someTags(run) },
    { contentType: oneOf(run, ['text/html', 'video/mp4']) },
    { metadata: [['note', long]], tags: someTags(run) },
    { metadata: [] },
  ]);
}

export function change(run: Run): Answer {
  const { reference, model } = run;
  const bucket = someBucket(run);
  const path = somePath(run, bucket);
  const conditions = someConditions(run, bucket, path);
  const notes = someNotes(run);
  const denied = keyCode(run.key, [['write', bucket.id, path]]);
  const code = denied ?? changeCode(reference, bucket, { ...notes, path, conditions });
  return attempt(run, code, () => {
    const named = { bucket: bucket.id, path, conditions, apiKey: run.key?.secret };
    const { file: changed } = changeFile(model.current(), callNow(run), { ...named, ...notes });
    const file = bucket.files.get(path) ?? expect.fail(`no file ${path}`);
    expect(changed.version).toBe(changeReferenceFile(reference, bucket, file, notes).version);
  });
}

/** Returns a version, in most cases an existing one. */
function someVersion(run: Run, bucket: ReferenceBucket): ReferenceVersionName {
  const { path, version } = oneOf(run, versionsOf(bucket))?.file ?? { path: 'a/f1', version: 1 };
  return { path, version: run.random(6) === 0 ? version + 1 : version };
}

export function restore(run: Run): Answer {
  const { reference, model } = run;
  const bucket = someBucket(run);
  const named = someVersion(run, bucket);
  const conditions = someConditions(run, bucket, named.path);
  const needs = ['read', 'write'].map((permission): Need => [permission, bucket.id, named.path]);
  const denied = keyCode(run.key, needs);
  const code = denied ?? restoreCode(reference, bucket, { ...named, conditions });
  return attempt(run, code, () => {
    const isNew = !bucket.files.has(named.path);
    const request = { bucket: bucket.id, ...named, conditions, apiKey: run.key?.secret };
    const restored = restoreVersion(model.current(), callNow(run), request);
    const version = findReferenceVersion(bucket, named) ?? expect.fail('no version');
    const file = restoreReference(reference, bucket, version);
    expect([restored.isNew, restored.file.version]).toEqual([isNew, file.version]);
  });
}

/** Erases the present version or a former one, those of a path, or those of a prefix. */
export function erase(run: Run): Answer {
  const { model } = run;
  const bucket = someBucket(run);
  const isPresent = run.random(4) === 0;
  const named = (isPresent && oneOf(run, [...bucket.files.values()])) || someVersion(run, bucket);
  const present = bucket.files.get(named.path);
  if (present?.version === named.version) return erasePresent(run, bucket, present);
  const wanted = oneOf(run, [
    named,
    named,
    { path: named.path },
    { prefix: oneOf(run, ['a/b/', 'é/f1', 'photos/2025/']) },
  ]);
  const isMeant = ({ path, version }: ReferenceVersionName) =>
    'prefix' in wanted
      ? path.startsWith(wanted.prefix)
      : path === wanted.path && (!('version' in wanted) || version === wanted.version);
  const left = bucket.versions.filter(({ file }) => !isMeant(file));
  const erased = bucket.versions.length - left.length;
  const missing = 'version' in wanted && erased === 0 ? 'NoSuchFile' : undefined;
  const place = 'prefix' in wanted ? wanted.prefix : wanted.path;
  const denied = keyCode(run.key, [['delete', bucket.id, place]]);
  return attempt(run, denied ?? missing, () => {
    const request = { bucket: bucket.id, ...wanted, apiKey: run.key?.secret };
    const eraseNow = () => eraseVersions(model.current(), callNow(run), request);
    const done = erased === 0 ? withoutWrites(run, eraseNow) : eraseNow();
    expect(done).toEqual({ erased, held: 0, isDone: true });
    bucket.versions = left;
  });
}

function erasePresent(run: Run, bucket: ReferenceBucket, file: ReferenceFile): Answer {
  const { path, version } = file;
  const denied = keyCode(run.key, [['delete', bucket.id, path]]);
  return attempt(run, denied, () => {
    const request = { bucket: bucket.id, path, version, apiKey: run.key?.secret };
    const done = eraseVersions(run.model.current(), callNow(run), request);
    expect(done).toEqual({ erased: 1, held: 0, isDone: true });
    eraseReferenceFile(run.reference, bucket, file);
  });
}

export function uploadMany(run: Run): Answer {
  const { reference, model, random } = run;
  const bucket = someBucket(run);
  const files = Array.from({ length: 1 + random(5) }, () => {
    const path = somePath(run, bucket);
    const bytes = testBytes(oneOf(run, [0, 3, 1_000, 20_000]), random(1_000));
    const conditions = random(4) === 0 ? someConditions(run, bucket, path) : {};
    const notes = { tags: someTags(run), metadata: someMetadata(run) };
    const write = { path, ...notes, size: bytes.length, conditions };
    const isDenied = !path.startsWith(run.key?.prefix ?? '');
    return { ...write, bytes, isDenied, isDamaged: random(20) === 0 };
  });
  const sent = files.map(({ path, bytes, tags, metadata, conditions, isDamaged }) => ({
    path: `/${path}`,
    read: () => ({
      ...{ bytes, conditions, metadata: { ...plainMetadata, tags, metadata } },
      digests: isDamaged ? [new Uint8Array(32)] : [],
    }),
  }));
  const store = () => {
    const batch = { bucket: bucket.id, apiKey: run.key?.secret, readFiles: () => sent };
    return uploadBatch(model.current(), callNow(run), batch);
  };
  const denied = keyCode(run.key, [['write', bucket.id, run.key?.prefix ?? '']]);
  const codes = denied ?? batchCodes(reference, bucket, files);
  if (!Array.isArray(codes)) return attempt(run, codes, store);
  const isRefused = codes.some((code) => code !== undefined);
  const results = isRefused ? withoutWrites(run, store) : store();
  expect(results.map(({ refusal }) => refusal?.code)).toEqual(codes);
  if (isRefused) return codes.find((code) => code !== 'NotStored');
  for (const [index, { path, tags, metadata, bytes }] of files.entries()) {
    expect(results[index]?.stored?.isNew).toBe(!bucket.files.has(path));
    saveReferenceFile(reference, bucket, { path, tags, metadata, bytes, etag: etagOf([bytes]) });
  }
  return undefined;
}

/** Deletes by paths, sometimes with a repeated one, or by a narrow prefix. */
export function deleteMany(run: Run): Answer {
  const { reference, model, random } = run;
  const bucket = someBucket(run);
  const prefix = oneOf(run, ['a/b/f1', 'é/f2', 'photos/2024/f', 'photos/2025/f3', 'zz']);
  const paths = Array.from({ length: random(5) }, () => somePath(run, bucket));
  const isByPrefix = random(3) === 0;
  const deletion = isByPrefix ? { prefix } : { paths };
  const meant = isByPrefix ? pathsBelow(bucket, prefix) : paths;
  const deleteNow = () => {
    const request = { bucket: bucket.id, apiKey: run.key?.secret, read: () => deletion };
    return deleteFiles(model.current(), callNow(run), request);
  };
  const own = run.key?.prefix ?? '';
  const denied = keyCode(run.key, [['delete', bucket.id, isByPrefix ? prefix : own]]);
  if (denied !== undefined) return attempt(run, denied, deleteNow);
  const isIdle = meant.every((path) => !bucket.files.has(path) || !path.startsWith(own));
  const { results, nextCursor } = isIdle ? withoutWrites(run, deleteNow) : deleteNow();
  const codes = meant.map((path) => {
    if (!path.startsWith(own)) return [path, 'AccessDenied'];
    const file = bucket.files.get(path);
    if (file !== undefined) removeReferenceFile(reference, bucket, file);
    return [path, file === undefined ? 'NoSuchFile' : undefined];
  });
  expect(results.map(({ path, refusal }) => [path, refusal?.code])).toEqual(codes);
  expect(nextCursor).toBeUndefined();
  return codes.map(([, code]) => code).find((code) => code !== undefined);
}

const fromPrefixes = ['a/b/', 'é/', 'photos/2024/f1', 'photos/2025/f', 'moved/', 'new/deep/', 'a'];
const toPrefixes = ['moved/', 'new/deep/', 'a/b/', 'photos/2024/f1', ''];

export function movePrefix(run: Run): Answer {
  const { reference, model } = run;
  const bucket = someBucket(run);
  const [fromPrefix, toPrefix] = [oneOf(run, fromPrefixes), oneOf(run, toPrefixes)];
  const moves = pathsBelow(bucket, fromPrefix).map((from) => {
    return { from, to: `${toPrefix}${from.slice(fromPrefix.length)}` };
  });
  const moveNow = () => {
    const request = { bucket: bucket.id, fromPrefix, toPrefix, apiKey: run.key?.secret };
    return moveFiles(model.current(), callNow(run), request);
  };
  const denied = keyCode(run.key, [
    ...[['read', bucket.id, fromPrefix] as const, ['delete', bucket.id, fromPrefix] as const],
    ['write', bucket.id, toPrefix],
  ]);
  const areOverlapping = fromPrefix.startsWith(toPrefix) || toPrefix.startsWith(fromPrefix);
  const code = denied ?? (areOverlapping ? 'InvalidArgument' : undefined);
  let firstFailure: Answer;
  const answered = attempt(run, code, () => {
    const done = moves.length === 0 ? withoutWrites(run, moveNow) : moveNow();
    const failed = moves.flatMap(({ from, to }) => {
      const places = { source: bucket, from, target: bucket, to };
      const copy = { isMove: true, ...places, conditions: {} };
      const refused = to.split('/').includes('') ? 'InvalidPath' : copyCode(reference, copy);
      if (refused === undefined) copyReferenceFile(reference, copy);
      return refused === undefined ? [] : [[from, refused]];
    });
    const moved = moves.length - failed.length;
    expect({ moved: done.moved, isDone: done.isDone }).toEqual({ moved, isDone: true });
    expect(done.failed.map(({ path, error }) => [path, error.code])).toEqual(failed);
    firstFailure = failed[0]?.[1];
  });
  return answered ?? firstFailure;
}

/** Changes how long versions are stored, or the quota, sometimes to less than the usage. */
export function configure(run: Run): Answer {
  const { model } = run;
  const bucket = someBucket(run);
  const [isQuota, isCount] = [run.random(3) === 0, run.random(2) === 0];
  const keepDays = oneOf(run, [0, 1, 1, 2]);
  // A quota just above the usage, which metadata alone can exceed.
  const full = heldOf(run.reference, bucket) + run.random(500);
  const quotaBytes = oneOf(run, [600_000, 1_200_000, 2_000_000, 2_000_000, full]);
  const quotaFiles = oneOf(run, [10, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  if (!isQuota) bucket.keepDays = keepDays;
  else if (isCount) bucket.quotaFiles = quotaFiles;
  else bucket.quotaBytes = quotaBytes;
  const files = Number.isFinite(bucket.quotaFiles) ? BigInt(bucket.quotaFiles) : 0n;
  const change = bucketChange({
    bucket: bucket.id,
    keepVersionsDays: BigInt(bucket.keepDays),
    quotaBytes: BigInt(bucket.quotaBytes),
    quotaFiles: files,
  });
  updateBucket(model.current(), callNow(run), change);
  return undefined;
}
