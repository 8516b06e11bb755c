// The steps that make the versions of one path equal to those of the same path in another bucket.
// A bucket can add a version only at the end, so versions that are missing before others require to
// store those others again.

import type { FileRecord } from '../../../client/src/types/files.ts';
import type { FileVersion } from '../../../client/src/types/versions.ts';
import { type NoteDigests, notesDigest, tagsDigest } from './note-digests.ts';

/** The file of a bucket at one path, with its former versions. */
export interface PathState {
  readonly present?: (FileRecord & Partial<Digested>) | undefined;
  /** Oldest first. */
  readonly former: readonly (FileVersion & Partial<Digested>)[];
  /** Whether the mirror did not store the target's object, and so does not change it. */
  readonly isForeign?: boolean | undefined;
}

/** In targets that store digests beside type, metadata and tags, the digests are compared. */
export interface Digested {
  readonly digests: NoteDigests;
}

export const emptyState: PathState = { former: [] };

export type StoredVersion = (FileRecord | FileVersion) & Partial<Digested>;

export interface PathPlan {
  /** Numbers of versions to erase, the present one last. */
  readonly erase: readonly number[];
  /** Versions of the source to store after that, oldest first. */
  readonly append: readonly StoredVersion[];
  /** Number of the former version that becomes the file again. */
  readonly restore?: number | undefined;
  /** Whether the file is deleted at the end, and its bytes become a former version. */
  readonly remove: boolean;
  /** The record whose type, tags and metadata the file gets. */
  readonly change?: FileRecord | undefined;
}

export function isEmptyPlan({ erase, append, restore, remove, change }: PathPlan): boolean {
  const isSame = restore === undefined && change === undefined && !remove;
  return erase.length + append.length === 0 && isSame;
}

/** `keepsVersions`: whether the source stores former versions; else those of the target stay. */
export function planOf(source: PathState, target: PathState, keepsVersions: boolean): PathPlan {
  return keepsVersions ? planOfVersions(source, target) : planOfPresent(source, target);
}

const nothing = { erase: [], append: [], remove: false };

function planOfPresent({ present }: PathState, { present: there }: PathState): PathPlan {
  if (present === undefined) return { ...nothing, remove: there !== undefined };
  if (there?.etag !== present.etag) return { ...nothing, append: [present] };
  return { ...nothing, ...changeOf(present, there) };
}

function planOfVersions(source: PathState, target: PathState): PathPlan {
  const wanted: StoredVersion[] = [...source.former, ...unlessAbsent(source.present)];
  const stored: StoredVersion[] = [...target.former, ...unlessAbsent(target.present)];
  const kept: StoredVersion[] = [];
  const erase: number[] = [];
  for (const there of stored) {
    const here = wanted[kept.length];
    const arePresent = here === source.present && there === target.present;
    const isKept = here !== undefined && (arePresent ? haveSameBytes : areEqual)(here, there);
    if (isKept) kept.push(there);
    else erase.push(there.version);
  }
  const append = wanted.slice(kept.length);
  // If the present version is erased, the last former one becomes the file again.
  const staysPresent = target.present !== undefined && kept.length > 0;
  if (append.length > 0) return { erase, append, remove: source.present === undefined };
  if (source.present === undefined) return { erase, append, remove: staysPresent };
  const last = kept.at(-1);
  const restore = staysPresent ? undefined : last?.version;
  return { erase, append, restore, remove: false, ...(last && changeOf(source.present, last)) };
}

function unlessAbsent<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function haveSameBytes(one: StoredVersion, other: StoredVersion): boolean {
  return one.etag === other.etag && one.size === other.size;
}

/** Lists of former versions have no tags. */
function areEqual(one: StoredVersion, other: StoredVersion): boolean {
  return haveSameBytes(one, other) && haveSameNotes(one, other);
}

function haveSameNotes(one: StoredVersion, other: StoredVersion): boolean {
  if (other.digests !== undefined) return other.digests.notes === notesDigest(one);
  const [metadata, others] = [one, other].map((each) =>
    JSON.stringify(Object.entries(each.metadata ?? {}).sort()),
  );
  return one.contentType === other.contentType && metadata === others;
}

function changeOf(source: FileRecord, target: StoredVersion): Pick<PathPlan, 'change'> {
  return haveSameTags(source, target) && haveSameNotes(source, target) ? {} : { change: source };
}

function haveSameTags({ tags }: FileRecord, target: StoredVersion): boolean {
  if (target.digests !== undefined) return target.digests.tags === tagsDigest(tags);
  return 'tags' in target && String([...target.tags].sort()) === String([...tags].sort());
}
