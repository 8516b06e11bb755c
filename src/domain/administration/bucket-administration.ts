// Operations of owners on whole buckets: show, list, change and delete.

import { pageSizeMax } from '../../../packages/wire/src/limits.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { memberCountMax, pageSizeDefault } from '../../limits.ts';
import { bucketIds, countBuckets, forgetBucket } from '../buckets/bucket-directory.ts';
import { changeTotals } from '../buckets/bucket-totals.ts';
import { type Bucket, checkListed, checkSite, getBucket, saveBucket } from '../buckets/buckets.ts';
import { type EndToEnd, findEndToEnd, forgetEndToEnd } from '../buckets/end-to-end.ts';
import { noteChanged } from '../buckets/public-buckets.ts';
import { parseKeepDays, parseQuota } from '../buckets/quota.ts';
import {
  type RetentionRule,
  retentionRules,
  saveRetentionRules,
} from '../buckets/retention-rules.ts';
import { endLinksOf, linkMaker } from '../files/link-records.ts';
import { forgetRenewal, startRenewal } from '../files/renewal-progress.ts';
import { publishMissing } from '../files/site-publication.ts';
import { endJournal } from '../journal/bucket-journal.ts';
import { forgetKeptDays } from '../journal/journal-retention.ts';
import { forgetSubscriptions } from '../journal/subscriptions.ts';
import { eraseBucketKeys } from '../keys/bucket-keys.ts';
import { unindexBucket } from '../listing/file-index.ts';
import { useKey } from '../rights/key-budgets.ts';
import {
  type Member,
  membersOf,
  parseMemberName,
  parseRole,
  type Role,
  requireNameable,
  roleOf,
  saveMembers,
} from '../rights/members.ts';
import { ownedBucket, visibleBucket } from '../rights/ownership.ts';
import { authorize, type SentKey } from '../rights/rights.ts';
import { type Call, isAnonymous } from '../shared/caller.ts';
import { parseBucketId } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { endUploadsOf, openUploadsOf, principalHolder } from '../uploads/open-uploads.ts';
import { cancelUploadsOf } from '../uploads/upload-end.ts';
import { withdrawKeys } from './api-key-administration.ts';
import { noteRoles, noteSettings, type RoleChange } from './bucket-notes.ts';
import { changedRules, type RulesChange } from './bucket-retention.ts';
import { forgetRules } from './bucket-rules.ts';
import { changedMode, type ModeChange, saveMode } from './end-to-end-mode.ts';
import { removeUploadLinks } from './upload-links.ts';

export interface BucketDetails extends Bucket {
  /** Shown to owners; empty for others. */
  readonly members: readonly Member[];
  readonly endToEnd: EndToEnd | undefined;
  readonly retention: readonly RetentionRule[];
  /** Undefined for callers without a role, and for API keys. */
  readonly callerRole: Role | undefined;
}

/** Returns what the caller may see of the bucket besides its record. */
export function withDetails(stores: Stores, call: Call, bucket: Bucket): BucketDetails {
  const callerRole = roleOf(stores, call.caller, bucket);
  const members = callerRole === 'owner' ? membersOf(stores, bucket.id) : [];
  const endToEnd = bucket.isEndToEnd ? findEndToEnd(stores, bucket.id) : undefined;
  return { ...bucket, members, endToEnd, retention: retentionRules(stores, bucket), callerRole };
}

interface BucketName {
  readonly bucket: string;
  readonly apiKey: SentKey;
}

/**
 * Returns the bucket's record to callers who may read all of it: a key with a prefix may not.
 * In an end-to-end bucket, any key with `write` or `upload` gets the recipients, but no counts.
 */
export function describeBucket(stores: Stores, call: Call, request: BucketName): BucketDetails {
  const described = valueOrRefusal(() =>
    authorize(stores, call, { ...request, permission: 'read', prefix: '' }),
  );
  if (!(described instanceof Refusal)) return withDetails(stores, call, described.bucket);
  if (request.apiKey === undefined || described.code !== 'AccessDenied') throw described;
  const { bucket } = authorize(stores, call, { ...request, permission: 'upload', place: 'later' });
  if (!bucket.isEndToEnd) throw described;
  return { ...withDetails(stores, call, bucket), ...uncounted };
}

/** Refuses the record as an update to all but owners and writers, whose calls may cost updates. */
export function checkSignedRecord(stores: Stores, call: Call, request: BucketName): void {
  const { role } = visibleBucket(stores, call, request.bucket);
  if (request.apiKey === undefined && (role === 'owner' || role === 'writer')) return;
  throw new Refusal(
    'AccessDenied',
    'Only owners and writers may send getBucket as an update: call with their identity and ' +
      'without a key, or send a query.',
  );
}

/** Replaces counts and quotas for a key that may not read the whole bucket. */
const uncounted = {
  fileCount: 0,
  byteCount: 0,
  overheadBytes: 0,
  openUploadCount: 0,
  versionCount: 0,
  versionBytes: 0,
  quotaBytes: undefined,
  quotaFiles: undefined,
  members: [],
} as const;

/**
 * Returns the end-to-end mode, or `undefined` if the bucket has none. For keys with `write`
 * or `upload`, whatever their prefix.
 */
export function endToEndFor(stores: Stores, call: Call, request: BucketName): EndToEnd | undefined {
  const claim = { ...request, permission: 'upload', place: 'later' } as const;
  const { bucket } = authorize(stores, call, claim);
  return bucket.isEndToEnd ? findEndToEnd(stores, bucket.id) : undefined;
}

/**
 * Returns the end-to-end mode, with only the newest epoch, or `undefined` if the bucket has none.
 * For members, for keys with `write` or `upload` whatever their prefix, and for keys that may read
 * the whole bucket. Looks the key up only once, because each lookup charges it in an update.
 */
export function bucketMode(stores: Stores, call: Call, request: BucketName): EndToEnd | undefined {
  const { bucket: id, apiKey: sent } = request;
  parseBucketId(id);
  const apiKey = typeof sent === 'string' ? useKey(stores, call, sent) : sent;
  const claim = { bucket: id, apiKey };
  const maySend = apiKey?.permissions.some((one) => one === 'write' || one === 'upload');
  const { bucket } = maySend
    ? authorize(stores, call, { ...claim, permission: 'upload', place: 'later' })
    : authorize(stores, call, { ...claim, permission: 'read', prefix: '' });
  const mode = bucket.isEndToEnd ? findEndToEnd(stores, bucket.id) : undefined;
  return mode && { ...mode, epochs: mode.epochs.slice(-1) };
}

export interface BucketPage {
  readonly items: readonly BucketDetails[];
  readonly page: bigint;
  readonly pageSize: number;
  readonly total: number;
  readonly pages: number;
  readonly hasMore: boolean;
}

/** Returns the buckets in which the caller has a role, by id; controllers get all buckets. */
export function listBuckets(
  stores: Stores,
  call: Call,
  request: { readonly page: bigint | undefined; readonly pageSize: bigint | undefined },
): BucketPage {
  const { page = 1n, pageSize = BigInt(pageSizeDefault) } = request;
  if (page < 1n || pageSize < 1n) {
    throw new Refusal(
      'InvalidArgument',
      `page and pageSize must be whole numbers from 1 on; got ${page} and ${pageSize}.`,
    );
  }
  const size = pageSize > BigInt(pageSizeMax) ? pageSizeMax : Number(pageSize);
  const { caller } = call;
  const principal = caller.isController ? undefined : caller.principal;
  const isNobody = principal !== undefined && isAnonymous(caller);
  const total = isNobody ? 0 : countBuckets(stores.directory, principal);
  const pages = Math.ceil(total / size);
  const isThere = page <= BigInt(pages);
  const range = { skip: (Number(page) - 1) * size, limit: size };
  const ids = isThere ? bucketIds(stores.directory, principal, range) : [];
  const items = ids.map((id) => withNewestEpoch(withDetails(stores, call, getBucket(stores, id))));
  return { items, page, pageSize: size, total, pages, hasMore: page < BigInt(pages) };
}

/** Omits older epochs: a page of buckets with a thousand epochs each would exceed an answer. */
function withNewestEpoch({ endToEnd, ...bucket }: BucketDetails): BucketDetails {
  const epochs = endToEnd?.epochs.slice(-1) ?? [];
  return { ...bucket, endToEnd: endToEnd && { ...endToEnd, epochs } };
}

export interface BucketChange extends ModeChange, RulesChange {
  readonly bucket: string;
  readonly isPublic: boolean | undefined;
  /** Requires a public bucket. A site bucket keeps the flag while it is private. */
  readonly isSite?: boolean | undefined;
  /** Requires a public bucket. A bucket that becomes private loses the flag. */
  readonly isListed?: boolean | undefined;
  /** 0n removes the quota; absent keeps it. */
  readonly quotaBytes: bigint | undefined;
  readonly quotaFiles?: bigint | undefined;
  /** Absent keeps the setting. Versions that are already stored keep their expiry. */
  readonly keepVersionsDays?: bigint | undefined;
  /** The new owner. The present one stays a member with the role of an owner unless removed. */
  readonly owner?: Uint8Array | undefined;
  /** New members, and members with a new role or name. */
  readonly addMembers: readonly AddedMember[];
  readonly removeMembers: readonly Uint8Array[];
}

export interface AddedMember {
  readonly principal: Uint8Array;
  readonly role: string;
  /** '' removes the name; absent keeps it. */
  readonly name?: string | undefined;
}

/** Changes the present fields of the bucket and keeps the others. For owners. */
export function updateBucket(stores: Stores, call: Call, change: BucketChange): BucketDetails {
  const { bucket, updated, mode, rules, former, members } = changedBucket(stores, call, change);
  // A new mode draws random bytes, which can refuse, so it must precede the first write.
  saveMode(stores, bucket.id, mode);
  saveRetentionRules(stores, bucket.id, rules);
  saveBucket(stores, updated, bucket);
  if (updated.isSite !== bucket.isSite) startRenewal(stores, bucket.id);
  if (updated.isPublic !== bucket.isPublic) {
    stores.publication.show(bucket.id, updated.isPublic);
    if (updated.isPublic) publishMissing(stores, updated);
  }
  const before = rolesIn(bucket, former);
  const after = rolesIn(updated, members);
  if (change.addMembers.length + change.removeMembers.length > 0 || change.owner !== undefined) {
    saveMembers(stores, bucket.id, members);
    noteRoles(stores, updated, { before, after });
    endRights(stores, call, { bucketId: bucket.id, before, after });
  }
  const others = { recipients: mode, retention: change.retention };
  noteSettings(stores, { bucket: updated, old: bucket, others });
  return { ...withDetails(stores, call, updated), members };
}

/** Refuses what updateBucket() would refuse; changes nothing. */
function changedBucket(stores: Stores, call: Call, change: BucketChange) {
  const bucket = ownedBucket(stores, call, change.bucket);
  const former = membersOf(stores, bucket.id);
  const owner = change.owner ?? bucket.owner;
  requireNameable(owner);
  const members = changedMembers({ bucket, former, owner }, change);
  const { isPublic = bucket.isPublic, isSite = bucket.isSite } = change;
  const isListed = change.isListed ?? (bucket.isListed && isPublic);
  const mode = changedMode(stores, bucket, change, call.nowNs);
  const rules = changedRules(stores, bucket, change, mode);
  const isEndToEnd = mode === undefined ? bucket.isEndToEnd : mode !== null;
  if (change.isSite === true || mode) checkSite({ id: bucket.id, isPublic, isSite, isEndToEnd });
  checkListed({ id: bucket.id, isPublic, isListed, isEndToEnd });
  const updated: Bucket = {
    ...bucket,
    owner,
    ...{ isPublic, isSite, isListed, isEndToEnd },
    hasRetention: rules.length > 0,
    isRenewing: bucket.isRenewing || isSite !== bucket.isSite,
    quotaBytes: changedQuota('bytes', bucket.quotaBytes, change.quotaBytes),
    quotaFiles: changedQuota('files', bucket.quotaFiles, change.quotaFiles),
    keepVersionsDays:
      change.keepVersionsDays === undefined
        ? bucket.keepVersionsDays
        : parseKeepDays(change.keepVersionsDays),
    updatedAtNs: call.nowNs,
  };
  return { bucket, updated, mode, rules, former, members };
}

function changedQuota(
  unit: 'bytes' | 'files',
  present: number | undefined,
  quota: bigint | undefined,
): number | undefined {
  return quota === undefined ? present : parseQuota(unit, quota);
}

interface Ownership {
  readonly bucket: Bucket;
  readonly former: readonly Member[];
  /** The owner after the change. */
  readonly owner: Uint8Array;
}

function changedMembers({ bucket, former, owner }: Ownership, change: BucketChange): Member[] {
  const added = new Map<string, Member>();
  if (!bytesEqual(owner, bucket.owner)) {
    added.set(bucket.owner.join(), { principal: bucket.owner, role: 'owner' });
  }
  // A longer list cannot be added, so it is refused before the work for each entry.
  requireFewMembers(change.addMembers);
  const names = new Map(former.map(({ principal, name }) => [principal.join(), name]));
  for (const { principal, role, name } of change.addMembers) {
    requireNameable(principal);
    const id = principal.join();
    const kept = name === undefined ? names.get(id) : parseMemberName(name) || undefined;
    added.set(id, { principal, role: parseRole(role), name: kept });
  }
  const removed = new Set(change.removeMembers.map((bytes) => bytes.join()));
  if (removed.has(owner.join())) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${bucket.id} needs an owner: first transfer it to another one with the field owner.`,
    );
  }
  // A principal that is both added and removed stays. A former owner who is only removed leaves.
  const named = new Set(change.addMembers.map(({ principal }) => principal.join()));
  const members = [...former.filter(({ principal }) => !added.has(principal.join()))]
    .concat(...added.values())
    .filter(({ principal }) => named.has(principal.join()) || !removed.has(principal.join()));
  requireFewMembers(members);
  return members;
}

function requireFewMembers({ length }: readonly unknown[]): void {
  if (length <= memberCountMax) return;
  throw new Refusal(
    'QuotaExceeded',
    `A bucket has at most ${memberCountMax} members: remove one first.`,
    { limit: memberCountMax },
  );
}

/** Returns the members by principal as text; the owner is always among them. */
function rolesIn(bucket: Bucket, members: readonly Member[]): Map<string, Member> {
  const roles = new Map(members.map((member) => [member.principal.join(), member]));
  return roles.set(bucket.owner.join(), { principal: bucket.owner, role: 'owner' });
}

/**
 * Ends the keys that former owners made, the links of those who may no longer read, and the uploads
 * of those who may no longer write.
 */
function endRights(
  stores: Stores,
  call: Call,
  { bucketId, before, after }: RoleChange & { readonly bucketId: string },
): void {
  for (const [name, { principal, role }] of before) {
    const left = after.get(name)?.role;
    if (role === 'owner' && left !== 'owner') {
      withdrawKeys(stores, call, { bucketId, creator: principal });
    }
    if (left === undefined) {
      endLinksOf(stores, linkMaker({ maker: principal, keyHash: emptyBytes }), bucketId);
    }
    if (left === undefined || left === 'reader') {
      endUploadsOf(stores, bucketId, principalHolder(principal));
      removeUploadLinks(stores, bucketId, { principal });
    }
  }
}

export interface BucketDeletion {
  readonly bucket: string;
  /** Cancels open uploads. Files are never deleted. */
  readonly isForced: boolean;
}

/** Refuses what deleteBucket() would refuse; changes nothing. */
function checkBucketDeletion(stores: Stores, call: Call, deletion: BucketDeletion): Bucket {
  const bucket = ownedBucket(stores, call, deletion.bucket);
  // Uploads that an earlier version began can be cancelled by force only once the upgrade has noted
  // them, which takes some minutes.
  const ended = deletion.isForced ? openUploadsOf(stores, bucket.id).length : 0;
  const { fileCount, openUploadCount, versionCount } = bucket;
  if (fileCount > 0 || versionCount > 0 || openUploadCount > ended) {
    throw new Refusal(
      'BucketNotEmpty',
      `Bucket ${bucket.id} has ${fileCount} files, ${versionCount} former versions and ` +
        `${openUploadCount} open uploads: delete files and versions first. With force, open uploads are ` +
        'cancelled.',
      { files: fileCount, versions: versionCount, openUploads: openUploadCount },
    );
  }
  return bucket;
}

/** Deletes an empty bucket, by force also its uploads, and removes it from its keys. For owners. */
export function deleteBucket(stores: Stores, call: Call, deletion: BucketDeletion): void {
  const { id } = checkBucketDeletion(stores, call, deletion);
  cancelUploadsOf(stores, call, id);
  const bucket = getBucket(stores, id);
  withdrawKeys(stores, call, { bucketId: id });
  removeUploadLinks(stores, id);
  stores.journal.note(bucket.id, { kind: 'bucket.deleted', subject: id });
  for (const { principal } of membersOf(stores, bucket.id)) {
    forgetBucket(stores.directory, bucket.id, principal);
  }
  saveMembers(stores, bucket.id, []);
  forgetBucket(stores.directory, bucket.id, bucket.owner);
  forgetBucket(stores.directory, bucket.id);
  stores.buckets.delete(encodeUtf8(bucket.id));
  noteChanged(stores, bucket.id, false);
  if (bucket.isEndToEnd) forgetEndToEnd(stores, bucket.id);
  saveRetentionRules(stores, bucket.id, []);
  eraseBucketKeys(stores, bucket);
  unindexBucket(stores, bucket.id);
  forgetRenewal(stores, bucket.id);
  forgetRules(stores, bucket.id);
  stores.publication.removeBucket(bucket.id);
  changeTotals(stores, { buckets: -1, files: 0, bytes: 0 });
  forgetKeptDays(stores, bucket.id);
  forgetSubscriptions(stores, bucket.id);
  endJournal(stores, bucket.id);
}
