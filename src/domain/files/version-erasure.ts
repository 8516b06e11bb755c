// Erasure of versions, former and present. A held version stays: by its number it is refused, and
// among others it is counted.

import { encodeUtf8 } from '../../lib/text.ts';
import { erasedVersionsPerMessage } from '../../limits.ts';
import { type Bucket, saveBucket } from '../buckets/buckets.ts';
import { hastenRuleCheck } from '../buckets/rule-times.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { cursorOf } from '../listing/cursors.ts';
import { authorize, requireBypassRight, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { createWorkLimit, leavesOfErasure } from './bulk-work.ts';
import {
  eraseFile,
  type FileRecord,
  findFile,
  noteFile,
  type Replaced,
  replaceByFormer,
} from './file-records.ts';
import { type Release, requireNotHeld } from './retention.ts';
import { type VersionName, versionNames } from './version-entries.ts';
import { eraseVersion, findVersion, latestVersion, takeVersion } from './version-records.ts';
import { nameOfVersion, noSuchVersion, rangeOf, readableVersion, withFormer } from './versions.ts';

export interface Erasure {
  readonly bucket: string;
  /** Erases versions of this path; absent: of all paths that begin with the prefix. */
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** Erases only this version of the path, present or former. */
  readonly version?: number | undefined;
  /** The cursor that the previous call returned. */
  readonly cursor?: string | undefined;
  /** For owners: erases also versions that are retained in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
  readonly apiKey: SentKey;
}

/** Refuses callers who may not erase the named versions, without looking at them. */
export function authorizeErasure(stores: Stores, call: Call, request: Erasure): Bucket {
  const { bucket: id, path, prefix = '', apiKey, bypassesGovernance } = request;
  const place = path === undefined ? { prefix } : { path };
  const claim = { bucket: id, apiKey, permission: 'delete', ...place } as const;
  const { bucket, key } = authorize(stores, call, claim);
  requireBypassRight(stores, call, { bypassesGovernance, claim: { ...claim, apiKey: key } });
  return bucket;
}

/** The versions that one message erases, and whether more are left. */
interface Erasable {
  readonly bucket: Bucket;
  readonly names: readonly VersionName[];
  /** The file without its retention, if its present version was named. */
  readonly present?: FileRecord;
  readonly isLast: boolean;
}

/** Refuses what eraseVersions() would refuse, except for damaged data; changes nothing. */
export function checkErasure(stores: Stores, call: Call, request: Erasure): Erasable {
  const { path, prefix, version, cursor, apiKey } = request;
  const bucket = authorizeErasure(stores, call, request);
  if ((path === undefined) === (prefix === undefined)) {
    throw new Refusal(
      'InvalidArgument',
      'Name either a path, with or without a version, or a prefix.',
    );
  }
  const range = rangeOf(bucket, { bucket: bucket.id, path, prefix, cursor, apiKey });
  if (version !== undefined && range.path !== undefined) {
    const name = { bucketId: bucket.id, path: range.path, version };
    const release = releaseOf(call, request);
    const found = findFile(stores, bucket.id, range.path);
    if (found?.version === version) {
      return { bucket, names: [], present: requireNotHeld(found, release), isLast: true };
    }
    const former = readableVersion(stores, name);
    if (former === undefined) throw noSuchVersion(name);
    requireNotHeld(former.file, release);
    return { bucket, names: [name], isLast: true };
  }
  const names = versionNames(stores, range, erasedVersionsPerMessage + 1);
  const isLast = names.length <= erasedVersionsPerMessage;
  return { bucket, names: names.slice(0, erasedVersionsPerMessage), isLast };
}

function releaseOf({ nowNs }: Call, { bypassesGovernance }: Erasure): Release {
  return { nowNs, bypassesGovernance };
}

export interface Erased {
  readonly erased: number;
  /** Number of versions that stay because they are held. */
  readonly held: number;
  /** Whether a call without the cursor would erase nothing more. */
  readonly isDone: boolean;
  /** Present unless all versions were visited. */
  readonly nextCursor: string | undefined;
}

/**
 * Erases versions and their keys at once, up to 1,000 per message, fewer with many chunks, and
 * passes over held ones. The latest former version replaces an erased current one; without a former
 * version the file is deleted.
 */
export function eraseVersions(stores: Stores, call: Call, request: Erasure): Erased {
  const { bucket, names, present, isLast } = checkErasure(stores, call, request);
  if (present !== undefined) {
    erasePresent(stores, { nowNs: call.nowNs, bucket, old: present });
    return { erased: 1, held: 0, isDone: true, nextCursor: undefined };
  }
  const { erased, held } = eraseFormer(stores, names, releaseOf(call, request));
  const visited = erased + held;
  const last = names[visited - 1];
  const isOver = isLast && visited === names.length;
  const nextCursor =
    isOver || last === undefined ? undefined : cursorOf(encodeUtf8(nameOfVersion(last)));
  return { erased, held, isDone: isOver || erased === 0, nextCursor };
}

/** Erases the first versions, as many as fit into one message, except held ones. */
function eraseFormer(
  stores: Stores,
  names: readonly VersionName[],
  release: Release,
): Pick<Erased, 'erased' | 'held'> {
  const limit = createWorkLimit();
  let erased = 0;
  let held = 0;
  for (const name of names) {
    const leaves = leavesOfErasure(stores, readableVersion(stores, name)?.file);
    if (!limit.fits(leaves)) break;
    const done = valueOrRefusal(() => eraseVersion(stores, name, release));
    if (done instanceof Refusal) {
      held += 1;
    } else {
      limit.spend(leaves);
      erased += 1;
    }
  }
  return { erased, held };
}

/** Refuses with IntegrityError if the latest former version is damaged. */
function erasePresent(stores: Stores, replaced: Replaced & { readonly old: FileRecord }): void {
  const { bucket, old, nowNs } = replaced;
  const version = latestVersion(stores, bucket, old.path);
  const former = findVersion(stores, { bucketId: bucket.id, path: old.path, version });
  if (former === undefined) {
    eraseFile(stores, bucket, old);
    noteFile(stores, 'version.erased', old);
    return;
  }
  withFormer(stores, { bucket, former }, ({ file, key }) => {
    const chunks = chunkDigests(stores, file);
    const taken = takeVersion(stores, bucket, { ...file, bucketId: bucket.id });
    const placement = { file, key, chunkDigests: chunks, sequence: former.sequence };
    const left = replaceByFormer(
      stores,
      { ...placement, sealNumber: nextContentId(stores) },
      { nowNs, bucket: taken?.bucket ?? bucket, old },
    );
    saveBucket(stores, left, bucket);
    // The file has its former date again, at which a rule may delete it
    hastenRuleCheck(stores, bucket.id, nowNs);
    noteFile(stores, 'version.erased', old);
    noteFile(stores, 'file.restored', { ...file, bucketId: bucket.id });
  });
}
