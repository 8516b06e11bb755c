// Operations of the models that read: lists, usage, bytes; and a caller without any right.

import { expect } from 'vitest';
import { getUsage } from '../../src/domain/administration/bucket-usage.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/files.ts';
import { createLink, deleteLink, listLinks } from '../../src/domain/files/links.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import {
  getVersion,
  listVersions,
  readVersionPart,
  restoreVersion,
} from '../../src/domain/files/versions.ts';
import { cutPage, isFolder, listFolder } from '../../src/domain/listing/folder-listing.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
import { cancelUpload } from '../../src/domain/uploads/upload-end.ts';
import { begin, callOf, expectRefusal } from './domain-fixture.ts';
import { keyCode, listedPrefix, type Need } from './model-link-reference.ts';
import {
  folderReference,
  listReference,
  type ReferenceVersionList,
  usageReference,
  versionsReference,
} from './model-list-reference.ts';
import type { ReferenceBucket } from './model-reference.ts';
import {
  type Answer,
  attempt,
  callNow,
  type NextPage,
  type Operation,
  oneOf,
  type Run,
  someBucket,
  somePath,
  type Walk,
  withoutWrites,
} from './model-run.ts';

const prefixes = ['', '', 'a', 'a/', 'é/f', 'photos/202', 'photos/2025/f1', 'zz'];
const tags = [undefined, undefined, 'red', 'blue', 'green', 'none'];
/** Names of files that may exist, of folders, and of neither. */
const starts = ['a/b/f1', 'photos/', 'photos/2025', 'é/f2', 'zz', 'a'];
const sorts = ['name_asc', 'name_desc', 'date_asc', 'date_desc'];

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

export function list(run: Run): Answer {
  const bucket = someBucket(run);
  const wanted = {
    sort: oneOf(run, sorts),
    prefix: oneOf(run, prefixes),
    tag: oneOf(run, tags),
    page: 1 + run.random(4),
    pageSize: oneOf(run, [1, 7, 10, 50, 1_000]),
  };
  const prefix = listedPrefix(run.key, wanted.prefix);
  const request = { bucket: bucket.id, apiKey: run.key?.secret, ...wanted };
  const listNow = () => listFiles(run.model.current(), callNow(run), request);
  return attempt(run, keyCode(run.key, [['read', bucket.id, prefix]]), () => {
    const found = withoutWrites(run, listNow);
    const paths = found.paths.map(textOf);
    const { total, pages, hasMore } = found;
    expect({ paths, total, pages, hasMore }, JSON.stringify(wanted)).toEqual(
      listReference(bucket, { ...wanted, prefix }),
    );
  });
}

/** Begins a list, or continues one with the same key, whatever has changed meanwhile. */
function walk(begun: (run: Run) => Pick<Walk, 'bucket' | 'next'> & Partial<Walk>): Operation {
  const marked = new WeakSet<object>();
  return (run) => {
    const open = run.walks.filter((one) => marked.has(one));
    const isNew = open.length < 3;
    const chosen: Walk = isNew
      ? { key: run.key, cursor: undefined, after: undefined, ...begun(run) }
      : oneOf(run, open);
    marked.add(chosen);
    run.key = chosen.key;
    const page = chosen.next(run, chosen.cursor, chosen.after);
    Object.assign(chosen, page);
    if (isNew && page !== undefined) run.walks.push(chosen);
    if (!isNew && page === undefined) run.walks.splice(run.walks.indexOf(chosen), 1);
    return undefined;
  };
}

export const listFolders = walk((run) => {
  const bucket = someBucket(run);
  const wanted = {
    prefix: oneOf(run, prefixes),
    delimiter: oneOf(run, ['/', '/', '']),
    tag: oneOf(run, tags),
    sort: oneOf(run, ['name_asc', 'name_desc']),
  };
  const next: Walk['next'] = (now, cursor, after) => {
    const limit = oneOf(now, [1, 3, 10, 1_000]);
    const place = cursor === undefined ? { cursor, startAfter: after } : { cursor };
    const request = { bucket: bucket.id, apiKey: now.key?.secret, ...wanted, ...place, limit };
    const listNow = () => listFolder(now.model.current(), callNow(now), request);
    const prefix = listedPrefix(now.key, wanted.prefix);
    if (isRefused(now, ['read', bucket.id, prefix], listNow)) return undefined;
    const found = withoutWrites(now, listNow);
    const entries = found.entries.map(textOf);
    const shown = JSON.stringify({ ...wanted, limit, after });
    expect({ entries, hasMore: found.hasMore }, shown).toEqual(
      folderReference(bucket, { ...wanted, prefix }, { after, limit }),
    );
    const files = found.entries.filter((path) => !isFolder(path)).length;
    const { nextCursor } = cutPage(found, files);
    expect(nextCursor !== null).toBe(found.hasMore);
    return nextPage(nextCursor, entries.at(-1));
  };
  return { bucket, next, after: run.random(3) === 0 ? oneOf(run, starts) : undefined };
});

export const listFormer = walk((run) => {
  const bucket = someBucket(run);
  const path = [...bucket.versions][0]?.file.path ?? 'a/f1';
  const wanted = oneOf<ReferenceVersionList>(run, [{}, { prefix: oneOf(run, prefixes) }, { path }]);
  const next: Walk['next'] = (now, cursor, after) => {
    const limit = oneOf(now, [1, 4, 1_000]);
    const request = { bucket: bucket.id, apiKey: now.key?.secret, ...wanted, cursor, limit };
    const listNow = () => listVersions(now.model.current(), callNow(now), request);
    const prefix = listedPrefix(now.key, wanted.prefix ?? '');
    if (isRefused(now, ['read', bucket.id, wanted.path ?? prefix], listNow)) return undefined;
    const found = withoutWrites(now, listNow);
    const names = found.items.map(({ file }) => `${file.path}\0${file.version}`);
    const expected = versionsReference(bucket, { ...wanted, prefix }, { after, limit });
    expect(names, JSON.stringify({ ...wanted, limit, after })).toEqual(expected.shown);
    expect(found.nextCursor !== null).toBe(expected.hasMore);
    return nextPage(found.nextCursor, names.at(-1));
  };
  return { bucket, next };
});

function isRefused(run: Run, need: Need, list: () => unknown): boolean {
  const code = keyCode(run.key, [need]);
  if (code !== undefined) expectRefusal(run.model.current(), code, list);
  return code !== undefined;
}

function nextPage(cursor: string | null, after: string | undefined): NextPage | undefined {
  return cursor === null || after === undefined ? undefined : { cursor, after };
}

export function usage(run: Run): Answer {
  const bucket = someBucket(run);
  const prefix = oneOf(run, [...prefixes, somePath(run, bucket)]);
  const shown = listedPrefix(run.key, prefix);
  const request = { bucket: bucket.id, apiKey: run.key?.secret, prefix };
  return attempt(run, keyCode(run.key, [['read', bucket.id, shown]]), () => {
    const found = withoutWrites(run, () => getUsage(run.model.current(), callNow(run), request));
    expect(found).toEqual(usageReference(bucket, shown));
  });
}

export function read(run: Run): Answer {
  const bucket = someBucket(run);
  const path = somePath(run, bucket);
  const { bytes } = bucket.files.get(path) ?? {};
  const offset = run.random((bytes?.length ?? 0) + 10);
  const length = run.random(2) === 0 ? run.random(300) : 1_900_000;
  const name = { bucket: bucket.id, path, apiKey: run.key?.secret };
  const part = { ...name, offset: BigInt(offset), length: BigInt(length) };
  const isBeyond = bytes !== undefined && offset > bytes.length;
  const code = bytes === undefined ? 'NoSuchFile' : isBeyond ? 'InvalidRange' : undefined;
  const denied = keyCode(run.key, [['read', bucket.id, path]]);
  return attempt(run, denied ?? code, () => {
    const get = () => readFilePart(run.model.current(), callNow(run), part);
    const expected = bytes?.subarray(offset, offset + length) ?? new Uint8Array(0);
    expect(Buffer.compare(withoutWrites(run, get), expected)).toBe(0);
  });
}

/** Reads a version by its number, former or present, or by a number that does not exist. */
export function readByVersion(run: Run): Answer {
  const bucket = someBucket(run);
  const there = [...bucket.files.values(), ...bucket.versions.map(({ file }) => file)];
  const isKept = there.length > 0 && run.random(4) > 0;
  const found = isKept ? oneOf(run, there) : undefined;
  const bytes = found?.bytes;
  const { path, version } = found ?? { path: somePath(run, bucket), version: 1_000_000 };
  const name = { bucket: bucket.id, path, apiKey: run.key?.secret };
  const part = { ...name, version, offset: 0n, length: 1_900_000n };
  const denied = keyCode(run.key, [['read', bucket.id, path]]);
  return attempt(run, denied ?? (bytes === undefined ? 'NoSuchFile' : undefined), () => {
    const stores = run.model.current();
    const get = () => readVersionPart(stores, callNow(run), part);
    expect(Buffer.compare(withoutWrites(run, get), bytes ?? Buffer.from('none'))).toBe(0);
    const { size } = withoutWrites(run, () => getVersion(stores, callNow(run), part));
    expect(size).toBe(bytes?.length);
  });
}

/** A caller without any right to the buckets, who must not learn that they exist. */
export function intrude(run: Run): Answer {
  const stores = run.model.current();
  const bob = callOf('bob', run.reference.nowNs);
  const bucket = someBucket(run);
  const upload = run.reference.uploads.find(({ status }) => status !== 'forgotten');
  if (upload !== undefined && run.random(4) === 0) {
    expectRefusal(stores, 'AccessDenied', () => cancelUpload(stores, bob, upload));
    return 'AccessDenied';
  }
  const code: RefusalCode = 'NoSuchBucket';
  expectRefusal(stores, code, oneOf(run, intrusions(run, bucket)));
  return code;
}

function intrusions(run: Run, { id, versions, links }: ReferenceBucket): (() => unknown)[] {
  const stores = run.model.current();
  const bob = callOf('bob', run.reference.nowNs);
  const named = { bucket: id, apiKey: undefined };
  const file = { ...named, path: somePath(run, run.reference.buckets[0] as ReferenceBucket) };
  const plain = { ...file, conditions: {} };
  const copy = { ...named, from: file.path, to: { path: 'mine' }, conditions: {} };
  const nothing = { sort: undefined, tag: undefined, prefix: undefined };
  const folder = { ...nothing, delimiter: undefined, cursor: undefined, limit: undefined };
  const { version = 1 } = versions[0]?.file ?? {};
  return [
    () => deleteFile(stores, bob, plain),
    () => readFilePart(stores, bob, { ...file, offset: 0n, length: 1n }),
    () => listFiles(stores, bob, { ...named, ...nothing, page: undefined, pageSize: undefined }),
    () => begin(stores, bob, { bucket: id }),
    () => copyFile(stores, bob, copy),
    () => moveFile(stores, bob, copy),
    () => moveFiles(stores, bob, { ...named, fromPrefix: 'a', toPrefix: 'b' }),
    () => changeFile(stores, bob, { ...plain, tags: [] }),
    () => deleteFiles(stores, bob, { ...named, read: () => ({ prefix: '' }) }),
    () => uploadBatch(stores, bob, { ...named, readFiles: () => [] }),
    () => createLink(stores, bob, file),
    () => listLinks(stores, bob, named),
    () => deleteLink(stores, bob, { ...named, id: links[0]?.id ?? 'none' }),
    () => restoreVersion(stores, bob, { ...plain, version }),
    () => eraseVersions(stores, bob, { ...named, prefix: '' }),
    () => listVersions(stores, bob, named),
    () => getVersion(stores, bob, { ...file, version }),
    () => readVersionPart(stores, bob, { ...file, version, offset: 0n, length: 1n }),
    () => listFolder(stores, bob, { ...named, ...folder }),
    () => getUsage(stores, bob, { ...named, prefix: '' }),
  ];
}
