// Upload links: addresses by which a browser without an API key adds files to a bucket. Each is an
// API key with `upload` only, bound to one path or prefix, until a time, for a number of files and
// of bytes, and its secret is part of URLs. Unlike an API key, its record is deleted when it ends.
//
// In the directory, so that expired links are found first and no hash is searched:
//
//   44 | bucket id | 0 | 0 of owners, 1 of others | expiry u64, big-endian | hash, hexadecimal -> 0
//   45 | bucket id | 0 | hash, hexadecimal                                     -> 0 or 1 as above

import { bytesEqual, concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { decodeHex, encodeHex } from '../../lib/hex.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import {
  othersUploadLinkCountMax,
  uploadLinkCountMax,
  uploadLinkLifeDefaultNs,
  uploadLinkLifeNs,
} from '../../limits.ts';
import { u64Key } from '../../storage/codec.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { firstPage, parseCursor, parseLimit } from '../listing/cursors.ts';
import { makeSecret, secretHash } from '../rights/api-key-secrets.ts';
import {
  type ApiKey,
  defaultKeyBudget,
  findKeyByHash,
  type KeyBudget,
  keyId,
  saveKey,
} from '../rights/api-keys.ts';
import { isBucketOwner } from '../rights/members.ts';
import { authorize, requireWithin, type SentKey } from '../rights/rights.ts';
import { parseUploadLimit } from '../rights/upload-bounds.ts';
import type { Call } from '../shared/caller.ts';
import { parseKeyPrefix, parseNewPath, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { endUploadsOf, keyHolder } from '../uploads/open-uploads.ts';

const kinds = { byExpiry: 44, byHash: 45 } as const;
const secretBytes = 32;
/** Expired links that one creation removes. */
const endedPerMessage = 20;

export interface UploadLinkRequest {
  readonly bucket: string;
  /** Either one path or a prefix, which may be empty. */
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** Nanoseconds since 1970; absent: a day from now. */
  readonly expiresAtNs?: bigint | undefined;
  /** Absent: no limit besides that of every file. */
  readonly maxFileBytes?: bigint | undefined;
  /** Absent: 1; 0: no limit. A link for a path always is for one file. */
  readonly maxFiles?: bigint | undefined;
  readonly apiKey: SentKey;
}

interface Prepared {
  readonly bucket: Bucket;
  readonly isOwners: boolean;
  readonly key: Omit<ApiKey, 'id' | 'hash' | 'hint'>;
}

/** Refuses what createUploadLink() would refuse; changes nothing. */
export function checkUploadLinkRequest(
  stores: Stores,
  call: Call,
  request: UploadLinkRequest,
): Prepared {
  const { apiKey } = request;
  const claim = { bucket: request.bucket, permission: 'upload', apiKey, place: 'later' } as const;
  const { bucket, key: parent } = authorize(stores, call, claim);
  if (parent?.bounds !== undefined) {
    throw new Refusal(
      'AccessDenied',
      'Upload links, and keys with limits for files, cannot create upload links: send another API key.',
    );
  }
  if (bucket.isEndToEnd) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${bucket.id} is end-to-end encrypted, and browsers without its keys cannot encrypt files: ` +
        'create an API key with upload, and send files by efs put or the library.',
    );
  }
  const { prefix, isPath } = placeOf(request);
  requireWithin({ key: parent }, isPath ? { path: prefix } : { prefix });
  const isOwners = parent === undefined && isBucketOwner(stores, call.caller, bucket);
  requireRoom(stores, bucket, isOwners, call.nowNs);
  return {
    bucket,
    isOwners,
    key: {
      name: '',
      buckets: [bucket.id],
      permissions: ['upload'],
      prefix,
      creator: call.caller.principal,
      createdAtNs: call.nowNs,
      expiresAtNs: expiryOf(request, call, parent),
      revokedAtNs: 0n,
      budget: linkBudget(parent),
      bounds: {
        fileBytesMax: parseUploadLimit('maxFileBytes', request.maxFileBytes ?? 0n),
        filesMax: isPath ? 1 : parseUploadLimit('maxFiles', request.maxFiles ?? 1n),
        fileCount: 0,
        isPath,
        isLink: true,
        parent: parent?.hash ?? emptyBytes,
      },
    },
  };
}

/** A link always has limits, also if its key has none: strangers may have its address. */
function linkBudget(parent: ApiKey | undefined): KeyBudget {
  const usual = defaultKeyBudget(['upload']);
  return {
    updatesPerHour: parent?.budget.updatesPerHour || usual.updatesPerHour,
    bytesPerHour: parent?.budget.bytesPerHour || usual.bytesPerHour,
  };
}

function placeOf({ path, prefix }: UploadLinkRequest): { prefix: string; isPath: boolean } {
  if ((path === undefined) === (prefix === undefined)) {
    throw new Refusal(
      'InvalidArgument',
      'An upload link needs either path, for one file, or prefix, for files below it.',
    );
  }
  return path === undefined
    ? { prefix: parseKeyPrefix(prefix ?? ''), isPath: false }
    : { prefix: parseNewPath(path), isPath: true };
}

/** Returns the expiry, which is not later than that of the key that creates the link. */
function expiryOf(
  { expiresAtNs: sent }: UploadLinkRequest,
  { nowNs }: Call,
  parent: ApiKey | undefined,
): bigint {
  if (sent !== undefined && (sent <= nowNs || sent > nowNs + uploadLinkLifeNs)) {
    throw new Refusal(
      'InvalidArgument',
      'The expiry of an upload link must be in the future, within 366 days.',
    );
  }
  const expiresAtNs = sent ?? nowNs + uploadLinkLifeDefaultNs;
  const endNs = parent?.expiresAtNs ?? 0n;
  return endNs > 0n && endNs < expiresAtNs ? endNs : expiresAtNs;
}

function groupScope(bucketId: string, isOwners: boolean): Uint8Array {
  const start = concatBytes(Uint8Array.of(kinds.byExpiry), encodeUtf8(`${bucketId}\0`));
  return concatBytes(start, Uint8Array.of(isOwners ? 0 : 1));
}

function expiryKey(bucketId: string, isOwners: boolean, key: Named): Uint8Array {
  const rest = [u64Key(key.expiresAtNs), encodeUtf8(encodeHex(key.hash))];
  return concatBytes(groupScope(bucketId, isOwners), ...rest);
}

function hashScope(bucketId: string, hash: string): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.byHash), encodeUtf8(`${bucketId}\0${hash}`));
}

type Named = Pick<ApiKey, 'hash' | 'expiresAtNs'>;

function requireRoom(stores: Stores, bucket: Bucket, isOwners: boolean, nowNs: bigint): void {
  const { directory } = stores;
  const limit = isOwners ? uploadLinkCountMax : othersUploadLinkCountMax;
  const scope = groupScope(bucket.id, isOwners);
  const live = concatBytes(scope, u64Key(nowNs));
  const end = directory.rank(concatBytes(scope, Uint8Array.of(0xff)));
  const isFull = end - directory.rank(live) >= limit;
  // Expired links stay until later creations remove them, 20 each
  if (!isFull && end - directory.rank(scope) < 2 * limit) return;
  const whose = isOwners ? '' : ' of callers other than its owners';
  throw new Refusal(
    'QuotaExceeded',
    `Bucket ${bucket.id} has ${limit} upload links${whose}: remove some first.`,
    { limit },
  );
}

/** Creates an upload link. Only this answer contains its secret. */
export function createUploadLink(
  stores: Stores,
  call: Call,
  request: UploadLinkRequest,
): { readonly key: ApiKey; readonly secret: string } {
  const { bucket, isOwners, key: made } = checkUploadLinkRequest(stores, call, request);
  removeEnded(stores, bucket.id, { isOwners, nowNs: call.nowNs });
  const secret = makeSecret(stores.secrets.random(secretBytes), 'efu_');
  const hash = secretHash(secret);
  const key = { ...made, id: keyId(hash), hash, hint: secret.slice(0, 8) };
  saveKey(stores, key);
  stores.directory.insert(expiryKey(bucket.id, isOwners, key), 0n);
  stores.directory.insert(hashScope(bucket.id, encodeHex(hash)), isOwners ? 0n : 1n);
  const subject = `${key.prefix}\0${key.id}`;
  stores.journal.note(bucket.id, { kind: 'link.created', subject });
  return { key, secret };
}

function removeEnded(
  stores: Stores,
  bucketId: string,
  { isOwners, nowNs }: { readonly isOwners: boolean; readonly nowNs: bigint },
): void {
  const scope = groupScope(bucketId, isOwners);
  const entries = entriesUnder(stores.directory, { scope, limit: endedPerMessage });
  for (const { key } of entries) {
    const hash = decodeHex(decodeUtf8(key.subarray(scope.length + 8)) ?? '') ?? emptyBytes;
    const link = findKeyByHash(stores, hash);
    if (link !== undefined && link.expiresAtNs > nowNs) continue;
    if (link === undefined) stores.directory.remove(key);
    else forgetLink(stores, bucketId, link);
  }
}

/** Deletes the link and ends its uploads. */
function forgetLink(stores: Stores, bucketId: string, link: ApiKey): void {
  for (const isOwners of [true, false]) {
    stores.directory.remove(expiryKey(bucketId, isOwners, link));
  }
  stores.directory.remove(hashScope(bucketId, encodeHex(link.hash)));
  stores.apiKeys.delete(link.hash);
  endUploadsOf(stores, bucketId, keyHolder(link.hash));
}

/**
 * Deletes the bucket's upload links, or those that the principal or the key with this hash created.
 */
export function removeUploadLinks(
  stores: Stores,
  bucketId: string,
  maker?: { readonly principal: Uint8Array } | { readonly keyHash: Uint8Array },
): void {
  for (const link of linksAfter(stores, bucketId, { limit: 4 * uploadLinkCountMax })) {
    const parent = link.bounds?.parent ?? emptyBytes;
    const isOf =
      maker === undefined ||
      ('keyHash' in maker
        ? bytesEqual(parent, maker.keyHash)
        : parent.length === 0 && bytesEqual(link.creator, maker.principal));
    if (isOf) forgetLink(stores, bucketId, link);
  }
}

function linksAfter(
  stores: Stores,
  bucketId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): ApiKey[] {
  const scope = hashScope(bucketId, '');
  const first = after === undefined ? scope : hashScope(bucketId, `${after}\0`);
  return entriesUnder(stores.directory, { scope, first, limit }).flatMap(({ key }) => {
    const hash = decodeHex(decodeUtf8(key.subarray(scope.length)) ?? '') ?? emptyBytes;
    return findKeyByHash(stores, hash) ?? [];
  });
}

export interface UploadLinkList {
  readonly bucket: string;
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default: 100. */
  readonly limit?: number | undefined;
  readonly apiKey: SentKey;
}

/**
 * Lists upload links that have not expired: all of them to owners and keys with `write` and
 * `delete`, their own to others. Pages of others may be shorter.
 */
export function listUploadLinks(
  stores: Stores,
  call: Call,
  request: UploadLinkList,
): { readonly items: readonly ApiKey[]; readonly nextCursor: string | null } {
  const { bucket: name, apiKey } = request;
  const claim = { bucket: name, permission: 'upload', apiKey, place: 'later' } as const;
  const { bucket, key } = authorize(stores, call, claim);
  const limit = parseLimit(request.limit);
  const after = request.cursor === undefined ? undefined : decodeUtf8(parseCursor(request.cursor));
  const found = linksAfter(stores, bucket.id, { after, limit: limit + 1 });
  const { shown, nextCursor } = firstPage(found, limit, ({ hash }) => encodeHex(hash));
  const items = shown.filter(
    (link) => link.expiresAtNs > call.nowNs && mayManage(stores, call, { bucket, key, link }),
  );
  return { items, nextCursor };
}

function mayManage(
  stores: Stores,
  { caller }: Call,
  { bucket, key, link }: { bucket: Bucket; key: ApiKey | undefined; link: ApiKey },
): boolean {
  const parent = link.bounds?.parent ?? emptyBytes;
  if (key === undefined) {
    const isOwn = parent.length === 0 && bytesEqual(link.creator, caller.principal);
    return isOwn || isBucketOwner(stores, caller, bucket);
  }
  const mayAll = key.permissions.includes('write') && key.permissions.includes('delete');
  return bytesEqual(parent, key.hash) || (mayAll && link.prefix.startsWith(key.prefix));
}

export interface UploadLinkName {
  readonly bucket: string;
  readonly id: string;
  readonly apiKey: SentKey;
}

/** Refuses what deleteUploadLink() would refuse; changes nothing. */
export function checkUploadLinkDeletion(
  stores: Stores,
  call: Call,
  { bucket: name, id, apiKey }: UploadLinkName,
): ApiKey {
  const claim = { bucket: name, permission: 'upload', apiKey, place: 'later' } as const;
  const { bucket, key } = authorize(stores, call, claim);
  const isId = /^[0-9a-f]{16}$/.test(id);
  const scope = hashScope(bucket.id, id);
  const [entry] = isId ? entriesUnder(stores.directory, { scope, limit: 1 }) : [];
  const hash = entry && decodeHex(decodeUtf8(entry.key.subarray(scope.length - id.length)) ?? '');
  const link = hash && findKeyByHash(stores, hash);
  if (link !== undefined && mayManage(stores, call, { bucket, key, link })) return link;
  throw new Refusal(
    'NoSuchFile',
    `Upload link ${quote(id)} does not exist in bucket ${bucket.id}, or another caller created it.`,
  );
}

/** Ends the link and its open uploads at once. */
export function deleteUploadLink(stores: Stores, call: Call, request: UploadLinkName): void {
  const link = checkUploadLinkDeletion(stores, call, request);
  forgetLink(stores, request.bucket, link);
  const subject = `${link.prefix}\0${link.id}`;
  stores.journal.note(request.bucket, { kind: 'link.removed', subject });
}

/** Returns the addresses of a link, as paths at the canister's origin. */
export function uploadUrls({ buckets, prefix, bounds }: ApiKey, secret: string) {
  const [bucket = ''] = buckets;
  const query = `?upload=${secret}`;
  const files = `/api/v1/bucket/${bucket}/files`;
  const path = prefix.split('/').map(encodeURIComponent).join('/');
  const name = bounds?.isPath === true ? '' : '{name}';
  return {
    /** For PUT; the sender of a link with a prefix replaces `{name}` by the name of the file. */
    putUrl: `${files}/${path}${name}${query}`,
    /** For POST of a form. */
    formUrl: `${files}${query}`,
    tusUrl: `/api/v1/tus/${bucket}${query}`,
  };
}
