// Operations on links: create, list and remove them, and read a file by its link.

import { areEqualSecrets } from '../../crypto/equal.ts';
import { sha256 } from '../../crypto/hash.ts';
import { encodeBase64Url } from '../../lib/base64.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { bucketLinkCountMax, othersBucketLinkCountMax } from '../../limits.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import { firstPage, parseCursor, parseLimit } from '../listing/cursors.ts';
import { type ApiKey, filePermissions, findKeyByHash } from '../rights/api-keys.ts';
import { isBucketOwner, roleOf } from '../rights/members.ts';
import { isStillGranted } from '../rights/ownership.ts';
import { authorize, authorizeList, isWithin, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, parseNewPath, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type FileRecord, findFile, type OpenFile, withOpenFile } from './file-records.ts';
import { refuseMissing } from './files.ts';
import { isUsedUp, parseDownloadsMax } from './link-downloads.ts';
import { findLink, type Link } from './link-layout.ts';
import {
  addLink,
  checkLinkRoom,
  endLinksOf,
  hasMakerEnded,
  isOver,
  linkBytesOf,
  linkIds,
  linkMaker,
  linkOfNextMaker,
  partCountOf,
  removeLink,
} from './link-records.ts';
import { parseProof, sealLinkSecret } from './link-secrets.ts';

const idBytes = 12;
const secretBytes = 16;
/** Times are stored as u64. */
const timeNsMax = 2n ** 64n - 1n;

export interface LinkRequest {
  readonly bucket: string;
  readonly path: string;
  /** Nanoseconds since 1970; absent: the link does not expire. */
  readonly expiresAtNs?: bigint | undefined;
  /** A name without slashes; absent: browsers display the file as usual. */
  readonly downloadName?: string | undefined;
  /** The proof of a password, 32 bytes, see link-secrets.ts; absent: none is needed. */
  readonly passwordProof?: Uint8Array | undefined;
  /** Absent: no limit, and nothing is counted. */
  readonly maxDownloads?: bigint | undefined;
  /** Title of a page for messengers, at most 200 characters; absent: the link has no page. */
  readonly title?: string | undefined;
  readonly apiKey: SentKey;
}

interface Prepared {
  readonly bucket: Bucket;
  readonly file: FileRecord;
  readonly link: Omit<Link, 'id' | 'hash' | 'sealedSecret'>;
  readonly proof: Uint8Array | undefined;
}

/** Refuses what createLink() would refuse; changes nothing. */
export function checkLinkRequest(stores: Stores, call: Call, request: LinkRequest): Prepared {
  const { apiKey, expiresAtNs = 0n, downloadName = '' } = request;
  const claim = { bucket: request.bucket, path: request.path, permission: 'read', apiKey } as const;
  const { bucket, key } = authorize(stores, call, claim);
  const path = parseFilePath(request.path);
  const file = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  if (request.expiresAtNs !== undefined && (expiresAtNs <= call.nowNs || expiresAtNs > timeNsMax)) {
    throw new Refusal(
      'InvalidArgument',
      'The expiry of a link must be in the future, before the year 2554: give another one, or omit it.',
    );
  }
  const limit = parseDownloadsMax(request.maxDownloads);
  const { passwordProof } = request;
  const proof = passwordProof && parseProof('passwordProof', passwordProof);
  const name =
    downloadName === '' ? path.slice(path.lastIndexOf('/') + 1) : parseName(downloadName);
  const made = { maker: call.caller.principal, keyHash: key?.hash ?? emptyBytes };
  requireLastingRight(stores, { ...made, bucketId: bucket.id });
  const isOwner = key === undefined && isBucketOwner(stores, call.caller, bucket);
  requireRoom(stores, call, { bucket, path, isOwners: isOwner });
  const partCount = partCountOf(file);
  const title = parseTitle(request);
  const bytes = linkBytesOf({ bucketId: bucket.id, path, name, downloadName, title, partCount });
  checkQuota(bucket, { files: 0, bytes });
  return {
    bucket,
    file,
    proof,
    link: {
      partCount,
      bucketId: bucket.id,
      path,
      name,
      downloadName,
      createdAtNs: call.nowNs,
      expiresAtNs: endOf(expiresAtNs, key),
      ...made,
      isMembers: key === undefined && !isOwner,
      limit,
      title,
    },
  };
}

/** Returns the expiry of a link, which is not later than that of the key that creates it. */
function endOf(expiresAtNs: bigint, key: ApiKey | undefined): bigint {
  const keyEndNs = key?.expiresAtNs ?? 0n;
  const isLater = expiresAtNs === 0n || expiresAtNs > keyEndNs;
  return keyEndNs > 0n && isLater ? keyEndNs : expiresAtNs;
}

const titleLengthMax = 200;

function parseTitle({ title, passwordProof }: LinkRequest): string | undefined {
  if (title === undefined) return undefined;
  const isText = title.length > 0 && title.length <= titleLengthMax && !/\p{Cc}/u.test(title);
  if (isText && passwordProof === undefined) return title;
  throw new Refusal(
    'InvalidArgument',
    isText
      ? 'A link with a password has no page for messengers: omit the title or the password.'
      : `The title of a link has 1 to ${titleLengthMax} characters without control characters.`,
  );
}

function parseName(name: string): string {
  if (name.includes('/')) {
    throw new Refusal(
      'InvalidArgument',
      `The download name ${quote(name)} has a slash: send a name without slashes.`,
    );
  }
  return parseNewPath(name);
}

/**
 * Refuses a maker who regained the right while upkeep is deleting its links, because a new link
 * would be deleted with them.
 */
function requireLastingRight(stores: Stores, made: Parameters<typeof hasMakerEnded>[1]): void {
  if (!hasMakerEnded(stores, made)) return;
  throw new Refusal(
    'SlowDown',
    `Links that the caller made in bucket ${made.bucketId} before losing access are still being ` +
      'deleted: try again in a few minutes.',
  );
}

function requireRoom(
  stores: Stores,
  { nowNs }: Call,
  place: { readonly bucket: Bucket; readonly path: string; readonly isOwners: boolean },
): void {
  const { bucket, isOwners } = place;
  const limit = isOwners ? bucketLinkCountMax : othersBucketLinkCountMax;
  if (bucket.linkCount >= limit) {
    const whose = isOwners ? '' : ' for callers other than its owners';
    throw new Refusal(
      'QuotaExceeded',
      `Bucket ${bucket.id} has ${bucket.linkCount} links; the limit is ${limit}${whose}: remove some first.`,
      { limit },
    );
  }
  checkLinkRoom(stores, place, nowNs);
}

/** Creates a link. Only this answer contains its secret. */
export function createLink(
  stores: Stores,
  call: Call,
  request: LinkRequest,
): { readonly link: Link; readonly url: string } {
  const { bucket, file, proof, link: made } = checkLinkRequest(stores, call, request);
  const id = encodeBase64Url(stores.secrets.random(idBytes));
  const secret = encodeBase64Url(stores.secrets.random(secretBytes));
  const sealedSecret = proof && sealLinkSecret(id, proof, secret);
  const link: Link = { ...made, id, hash: sha256(encodeUtf8(secret)), sealedSecret };
  addLink(stores, link, file);
  const overheadBytes = bucket.overheadBytes + linkBytesOf(link);
  saveBucket(stores, { ...bucket, linkCount: bucket.linkCount + 1, overheadBytes }, bucket);
  stores.journal.note(bucket.id, { kind: 'link.created', subject: `${link.path}\0${id}` });
  return { link, url: addressOf(link, secret) };
}

export function addressOf({ id, name }: Link, secret: string): string {
  return `/s/${id}/${encodeURIComponent(name)}?k=${secret}`;
}

export interface LinkList {
  readonly bucket: string;
  /** Lists only the links to this file. */
  readonly path?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 1,000; default: 100. */
  readonly limit?: number | undefined;
  readonly apiKey: SentKey;
}

export interface LinkPage {
  readonly items: readonly Link[];
  /** Whether the caller may see who created the links: an owner, or a key with every permission. */
  readonly areMakersShown: boolean;
  /** `null` on the last page. */
  readonly nextCursor: string | null;
}

/** Lists links by path, without expired ones, for callers who may read the bucket. */
export function listLinks(stores: Stores, call: Call, request: LinkList): LinkPage {
  const { bucket: name, apiKey } = request;
  const path = request.path === undefined ? undefined : parseFilePath(request.path);
  const right = { bucket: name, apiKey, permission: 'read' } as const;
  // A list of all links is narrowed to the key's prefix; a path outside of the prefix is refused
  const { bucket, key, prefix } =
    path === undefined
      ? authorizeList(stores, call, { ...right, prefix: '' })
      : { ...authorize(stores, call, { ...right, path }), prefix: undefined };
  const limit = parseLimit(request.limit);
  const after = request.cursor && decodeUtf8(parseCursor(request.cursor));
  const ids = linkIds(stores, { bucketId: bucket.id, path, prefix, after }, limit + 1);
  const { shown, nextCursor } = firstPage(ids, limit, ({ path, id }) => `${path}\0${id}`);
  const links = shown.flatMap(({ id }) => findLink(stores, id) ?? []);
  const items = links.filter((link) => isGood(stores, bucket, link, call.nowNs));
  const areMakersShown =
    key === undefined
      ? isBucketOwner(stores, call.caller, bucket)
      : filePermissions.every((permission) => key.permissions.includes(permission));
  return { items, areMakersShown, nextCursor };
}

export interface LinkName {
  readonly bucket: string;
  readonly id: string;
  readonly apiKey: SentKey;
}

/** Refuses what deleteLink() would refuse; changes nothing. */
export function checkLinkDeletion(stores: Stores, call: Call, request: LinkName): Link {
  const { apiKey } = request;
  const claim = { bucket: request.bucket, permission: 'read', apiKey, place: 'later' } as const;
  const { bucket, key } = authorize(stores, call, claim);
  const link = findLink(stores, request.id);
  // A key cannot see links outside its prefix
  if (link?.bucketId !== bucket.id || !isWithin({ key }, link)) {
    throw new Refusal(
      'NoSuchFile',
      `Link ${quote(request.id)} does not exist in bucket ${bucket.id}.`,
    );
  }
  const isOwn =
    key === undefined
      ? isBucketOwner(stores, call.caller, bucket) ||
        (link.keyHash.length === 0 && bytesEqual(link.maker, call.caller.principal))
      : bytesEqual(link.keyHash, key.hash) || key.permissions.includes('delete');
  if (!isOwn) {
    throw new Refusal(
      'AccessDenied',
      'Only its creator, owners of the bucket and keys with the permission delete can remove the link.',
    );
  }
  return link;
}

export function deleteLink(stores: Stores, call: Call, request: LinkName): void {
  removeLink(stores, checkLinkDeletion(stores, call, request));
}

/** Returns false once the link has expired or its maker has lost the right to read. */
function isGood(stores: Stores, bucket: Bucket, link: Link, nowNs: bigint): boolean {
  return !isOver(link, nowNs) && !hasMakerEnded(stores, link) && mayMakerRead(stores, bucket, link);
}

/** Upkeep runs each ten minutes, also of an idle canister. */
const checkedMakersPerTurn = 5;

function mayMakerRead(stores: Stores, bucket: Bucket, link: Link): boolean {
  const { maker: principal, keyHash } = link;
  if (keyHash.length > 0) {
    const key = findKeyByHash(stores, keyHash);
    return key !== undefined && isStillGranted(stores, key, bucket);
  }
  const isController = stores.isController(principal);
  return roleOf(stores, { principal, isController }, bucket) !== undefined;
}

/**
 * Ends the links of makers that have lost their right without a message: the network reports no
 * change of controllers. Each call checks the next makers, each in one of its buckets.
 */
export function endLinksOfFormerControllers(stores: Stores): void {
  for (let count = 0; count < checkedMakersPerTurn; count++) {
    try {
      const link = linkOfNextMaker(stores);
      const bucket = link && findBucket(stores, link.bucketId);
      if (link !== undefined && bucket !== undefined && !mayMakerRead(stores, bucket, link)) {
        endLinksOf(stores, linkMaker(link), bucket.id);
      }
    } catch {
      // A damaged record must not stop upkeep; the next turn continues behind it.
    }
    if (stores.heap.nextMaker === undefined) return;
  }
}

export interface LinkAddress {
  readonly id: string;
  readonly name: string;
  /** '' if the address has none. */
  readonly secret: string;
}

/** Whether the address, including its secret, belongs to a link that has not ended. */
export function opensLink(stores: Stores, { nowNs }: Call, address: LinkAddress): boolean {
  return findGoodLink(stores, nowNs, address) !== undefined;
}

function findGoodLink(
  stores: Stores,
  nowNs: bigint,
  { id, name, secret }: LinkAddress,
): OpenLink | undefined {
  const link = findLink(stores, id);
  const isRight =
    link !== undefined &&
    link.name === name &&
    areEqualSecrets(sha256(encodeUtf8(secret)), link.hash);
  return isRight ? openLinkOf(stores, nowNs, link) : undefined;
}

interface OpenLink {
  readonly link: Link;
  readonly bucket: Bucket;
}

/** Returns `undefined` if the link has ended or all of its downloads were made. */
function openLinkOf(stores: Stores, nowNs: bigint, link: Link): OpenLink | undefined {
  const bucket = findBucket(stores, link.bucketId);
  if (bucket === undefined || isUsedUp(link)) return undefined;
  return isGood(stores, bucket, link, nowNs) ? { link, bucket } : undefined;
}

/** Returns the link of an address without looking at a secret; `undefined` if it has ended. */
export function findOpenLink(
  stores: Stores,
  { nowNs }: Call,
  { id, name }: Pick<LinkAddress, 'id' | 'name'>,
): Link | undefined {
  const link = findLink(stores, id);
  return link?.name === name ? openLinkOf(stores, nowNs, link)?.link : undefined;
}

/** Calls `use` with the linked file. A wrong address gives the error of a missing link. */
export function withLinkedFile<T extends object>(
  stores: Stores,
  { nowNs }: Call,
  address: LinkAddress,
  use: (opened: OpenFile, link: Link) => T,
): T {
  const { link, bucket } = findGoodLink(stores, nowNs, address) ?? {};
  if (link === undefined || bucket === undefined) throw noSuchLink();
  const named = { bucket, path: link.path };
  const used = withOpenFile(stores, named, (opened) => use(opened, link));
  if (used === undefined) throw noSuchLink();
  return used;
}

export function noSuchLink(): Refusal {
  return new Refusal('NoSuchFile', 'This link does not exist, has expired, or was removed.');
}
