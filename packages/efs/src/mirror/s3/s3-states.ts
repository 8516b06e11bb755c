// The states of paths in an S3 bucket, in the form in which a mirror plans. Only a request for each
// object returns its metadata, and with it the mirror's mark.

import { inParallel } from '../../../../client/src/connection/parallel.ts';
import type { PathStates } from '../bucket-states.ts';
import type { PathState } from '../path-plan.ts';
import { listObjects, listVersions, type S3Listed, type S3Paths } from './s3-lists.ts';
import { type Mark, markIn } from './s3-marks.ts';
import { headObject, type S3Store } from './s3-store.ts';

/** The ids that the steps at a path need besides its state. */
export interface S3Known {
  /** Ids of the mirror's versions, oldest first: version 1 is the first. */
  readonly ids: readonly (string | undefined)[];
  /** Ids of the delete markers that newer versions cover. */
  readonly buried: readonly (string | undefined)[];
  /** Whether somebody else stored the present object, or any version. */
  readonly isForeign: boolean;
  readonly hasForeign: boolean;
}

export interface S3Reading {
  readonly store: S3Store;
  readonly source: string;
  readonly readsVersions: boolean;
  readonly known: Map<string, S3Known>;
  /** How many digests the store computed itself, and how many only the mark states. */
  readonly counts: { computed: number; stated: number };
}

export async function allStates(reading: S3Reading, concurrency: number): Promise<PathStates> {
  const { store, readsVersions, known, counts } = reading;
  const listed = await (readsVersions ? listVersions(store) : listObjects(store));
  Object.assign(counts, { computed: 0, stated: 0 });
  known.clear();
  return statesFrom(reading, listed.keys(), { concurrency, listed });
}

export async function statesOf(
  reading: S3Reading,
  paths: Iterable<string>,
  concurrency: number,
): Promise<PathStates> {
  return statesFrom(reading, paths, { concurrency });
}

interface Sources {
  readonly concurrency: number;
  readonly listed?: S3Paths;
}

async function statesFrom(
  reading: S3Reading,
  paths: Iterable<string>,
  { concurrency, listed }: Sources,
): Promise<PathStates> {
  const { store, readsVersions } = reading;
  const states = new Map<string, PathState>();
  const left = [...paths][Symbol.iterator]();
  const alone: S3Listed = { versions: [{ id: undefined, isLatest: true }], markers: [] };
  await inParallel({ concurrency, signal: store.signal }, async (stopped) => {
    for (const path of left) {
      if (stopped.aborted) return;
      const found = readsVersions ? (await listVersions(store, path)).get(path) : alone;
      const entry = listed === undefined ? found : listed.get(path);
      if (entry !== undefined) states.set(path, await stateOf(reading, path, entry));
      else reading.known.delete(path);
    }
  });
  return states;
}

async function stateOf(reading: S3Reading, path: string, entry: S3Listed): Promise<PathState> {
  const ids: (string | undefined)[] = [];
  const former: PathState['former'][number][] = [];
  let present: PathState['present'];
  let [isForeign, hasForeign] = [false, false];
  for (const { id, isLatest } of entry.versions) {
    const found = await markOf(reading, path, id);
    if (found === undefined) continue;
    if (found === 'foreign') {
      hasForeign = true;
      isForeign = isLatest;
      continue;
    }
    ids.push(id);
    const record = { ...blank, ...found, path, name: path, version: ids.length };
    if (isLatest) present = record;
    else former.push(withoutTags(record));
  }
  const buried = entry.markers.filter(({ isLatest }) => !isLatest).map(({ id }) => id);
  reading.known.set(path, { ids, buried, isForeign, hasForeign });
  return { former, ...(present && { present }), ...(isForeign && { isForeign }) };
}

const blank = {
  ...{ id: '', bucketId: '', contentType: '', tags: [], createdAt: '', updatedAt: '', url: '' },
  ...{ retiredAt: '', expiresAt: '' },
};

function withoutTags<T extends { readonly tags: readonly string[] }>({ tags, ...rest }: T) {
  return rest;
}

/** Returns undefined if the object does not exist. */
async function markOf(reading: S3Reading, path: string, id: string | undefined) {
  const head = await headObject(reading.store, path, id);
  if (head === undefined) return undefined;
  const mark = markIn(head.Metadata);
  if (mark === undefined || mark.source !== reading.source) return 'foreign';
  const computed = wholeSha256(head.ChecksumSHA256);
  reading.counts[computed === undefined ? 'stated' : 'computed'] += 1;
  const etag = computed === undefined ? mark.etag : judged(mark, computed);
  return { etag, size: head.ContentLength ?? -1, digests: mark.digests };
}

/** Returns the checksum of the whole object, not that of the checksums of its parts. */
function wholeSha256(checksum: string | undefined): string | undefined {
  if (checksum === undefined || checksum.includes('-')) return undefined;
  return Buffer.from(checksum, 'base64').toString('hex');
}

/** Returns the entity tag of the mark, or a different one if the store has other bytes. */
function judged({ etag, sha256 }: Mark, computed: string): string {
  const stated = etag.includes('-') ? sha256 : etag;
  return stated === undefined || stated === computed ? etag : computed;
}
