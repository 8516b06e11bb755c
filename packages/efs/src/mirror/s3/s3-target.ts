// A bucket of an S3 store as the target of a mirror. It changes only objects with this mirror's
// mark.

import { asTheyEnd } from '../../../../client/src/connection/parallel.ts';
import { StorageError } from '../../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../../client/src/types/files.ts';
import { smallFileBytesMax } from '../../../../client/src/uploads/upload-all.ts';
import { UsageError } from '../../output/usage-error.ts';
import { openVersion } from '../apply-plans.ts';
import { type PathStates, stateAt } from '../bucket-states.ts';
import {
  attemptAt,
  type ChangedStates,
  type MirrorJob,
  type MirrorTarget,
  type StoredSmall,
} from '../mirror-job.ts';
import { loadMirror, type MirrorPair } from '../mirror-state.ts';
import { isOfStore } from './s3-failures.ts';
import { listVersions } from './s3-lists.ts';
import type { S3Place } from './s3-place.ts';
import { allStates, type S3Known, type S3Reading, statesOf } from './s3-states.ts';
import {
  copySource,
  deleteObject,
  hasVersions,
  headObject,
  objectAt,
  openStore,
  readObject,
  send,
} from './s3-store.ts';
import { abortUpload, copyObject, storeLarge, storeSmall } from './s3-writes.ts';

/** S3 copies larger objects only in parts. */
const copyBytesMax = 5 * 2 ** 30;

interface Wishes {
  readonly keepsVersions: boolean;
  readonly signal: AbortSignal;
}

interface OpenedTarget {
  readonly target: MirrorTarget;
  /** Whether both buckets store former versions. */
  readonly keepsVersions: boolean;
}

export async function openS3Target(
  place: S3Place,
  pair: MirrorPair,
  wishes: Wishes,
): Promise<OpenedTarget> {
  const store = await openStore(place, wishes.signal);
  const readsVersions = wishes.keepsVersions && (await hasVersions(store));
  const { source } = pair;
  const counts = { computed: 0, stated: 0 };
  const reading = { store, source, readsVersions, known: new Map<string, S3Known>(), counts };
  // Without a cursor, nothing shows that the prefix is this mirror's but the objects.
  const isNew = (await loadMirror(pair))?.cursor === undefined;
  return { target: targetOf(reading, place.name, isNew), keepsVersions: readsVersions };
}

function targetOf(reading: S3Reading, name: string, isNew: boolean): MirrorTarget {
  const { store, source } = reading;
  const writer = { store, source };
  let mustBeOwn = isNew;
  return {
    name: name.replace(/\/$/, ''),
    begin: (job) => abortLeft(job, reading),
    async allStates(concurrency) {
      const states = await allStates(reading, concurrency);
      if (mustBeOwn) requireOwn(states, name);
      mustBeOwn = false;
      return states;
    },
    statesOf: (paths, concurrency) => statesOf(reading, paths, concurrency),
    moveLarge: (job, changed) => moveLarge(job, reading, changed),
    erase: (path, version) => erase(reading, path, version),
    restore: (path, version) => restore(reading, path, version),
    change: (job, path, record) => change(job, reading, { path, record }),
    async *storeSmall(files, concurrency) {
      const tasks = (async function* () {
        for await (const file of files) yield () => storeUnlessForeign(reading, file);
      })();
      yield* asTheyEnd(tasks, concurrency);
    },
    async storeLarge(job, opened) {
      requireOurs(reading, opened.record.path);
      await storeLarge(writer, job, opened);
    },
    async *removeAll(paths, concurrency) {
      const tasks = (async function* () {
        for (const path of paths) yield () => removeOne(reading, path);
      })();
      yield* asTheyEnd(tasks, concurrency);
    },
    read: (path, version) => readObject(store, path, reading.known.get(path)?.ids[version - 1]),
    endsAll: isOfStore,
    aboutDigests: () => aboutDigests(reading),
  };
}

function requireOwn(states: PathStates, name: string): void {
  const foreign = [...states].filter(([, { isForeign }]) => isForeign).map(([path]) => path);
  const [first] = foreign;
  if (first === undefined) return;
  throw new UsageError(
    `Nothing was done, because ${name} contains ${foreign.length} objects that this mirror did ` +
      `not store, such as "${first}": choose an empty prefix, s3://BUCKET/PREFIX.`,
  );
}

function requireOurs({ known }: S3Reading, path: string): void {
  if (!known.get(path)?.isForeign) return;
  throw new StorageError(
    'FileExists',
    'the S3 bucket has an object there that this mirror did not store: move that object away.',
    { status: 409 },
  );
}

/** Aborts the upload that a stopped mirror has left. */
async function abortLeft(job: MirrorJob, { store }: S3Reading): Promise<void> {
  const { upload } = job;
  if (upload === undefined) return;
  await abortUpload(store, upload.path, upload.uploadId);
  await job.saveUpload(undefined);
}

async function storeUnlessForeign(
  reading: S3Reading,
  file: Parameters<typeof storeSmall>[1],
): Promise<StoredSmall> {
  try {
    requireOurs(reading, file.path);
  } catch (error) {
    return { path: file.path, error };
  }
  return storeSmall(reading, file);
}

async function removeOne(reading: S3Reading, path: string): Promise<StoredSmall> {
  try {
    requireOurs(reading, path);
    await deleteObject(reading.store, path);
    return { path };
  } catch (error) {
    return { path, error };
  }
}

/**
 * Erases a version. If it is the present one, a delete marker below it would become visible, where
 * the service shows the former version.
 */
async function erase(reading: S3Reading, path: string, version: number): Promise<void> {
  requireOurs(reading, path);
  const { store, known } = reading;
  const { ids = [], buried = [], hasForeign } = known.get(path) ?? {};
  const id = ids[version - 1];
  if (id === undefined) return;
  for (const marker of hasForeign ? [] : buried) await deleteObject(store, path, marker);
  await deleteObject(store, path, id);
}

async function restore(reading: S3Reading, path: string, version: number): Promise<void> {
  const { store, known } = reading;
  const { ids = [] } = known.get(path) ?? {};
  const id = ids[version - 1];
  for (let last: string | undefined; ; ) {
    const { markers = [], versions = [] } = (await listVersions(store, path)).get(path) ?? {};
    const top = markers.find(({ isLatest }) => isLatest);
    if (top?.id !== undefined && top.id !== last) {
      await deleteObject(store, path, top.id);
      last = top.id;
    } else if (versions.some((one) => one.isLatest) || id === undefined) return;
    else return copyFormer(reading, path, id);
  }
}

/** Restores in stores without delete markers, such as `efs serve s3`. */
async function copyFormer(reading: S3Reading, path: string, id: string): Promise<void> {
  const { store } = reading;
  const CopySource = copySource(store, path, id);
  const command = new store.sdk.CopyObjectCommand({ ...objectAt(store, path), CopySource });
  await send(store, 'restore versions (s3:PutObject)', (client, options) =>
    client.send(command, options),
  );
  await deleteObject(store, path, id);
}

interface Change {
  readonly path: string;
  readonly record: FileRecord;
}

/** Replaces the object by a copy with the new fields; in the source, the version stays the same. */
async function change(job: MirrorJob, reading: S3Reading, { path, record }: Change) {
  requireOurs(reading, path);
  const { store, source, readsVersions } = reading;
  const former = readsVersions ? (await headObject(store, path))?.VersionId : undefined;
  const writer = { store, source };
  if (record.size > copyBytesMax) await storeLarge(writer, job, await openVersion(job, record));
  else await copyObject(writer, { path, from: path, record });
  if (former !== undefined) await deleteObject(store, path, former);
}

/** Copies large files to the paths that the source has moved them to. */
async function moveLarge(
  job: MirrorJob,
  reading: S3Reading,
  { changes, here, there }: ChangedStates,
): Promise<PathStates> {
  const states = new Map(there);
  for (const { kind, path, formerPath } of changes.entries) {
    if (kind !== 'file.moved' || path === undefined || formerPath === undefined) continue;
    const wanted = stateAt(here, path).present;
    if (wanted === undefined || wanted.size <= smallFileBytesMax) continue;
    if (wanted.size > copyBytesMax || stateAt(states, path).isForeign) continue;
    const isThere = stateAt(states, path).present?.etag === wanted.etag;
    if (isThere || stateAt(states, formerPath).present?.etag !== wanted.etag) continue;
    await attemptAt(job, path, async () => {
      await copyObject(reading, { path, from: formerPath, record: wanted });
      for (const [name, state] of await statesOf(reading, [path], 1)) states.set(name, state);
    });
  }
  return states;
}

function aboutDigests({ counts: { computed, stated } }: S3Reading): string {
  return (
    `The S3 store computed ${computed} of the digests when it stored the objects, and the mirror ` +
    `stated ${stated}: --verify --bytes downloads all objects and compares their bytes.`
  );
}
