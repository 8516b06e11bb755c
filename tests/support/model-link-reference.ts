// The reference model of keys and links: the scope of a key, and the links of a file. Written from
// the interface's description; shares no code with src.

import type { RefusalCode } from '../../src/domain/shared/refusal.ts';

const liveLinksMax = 16;
/** Maximum number of live links of a file by keys; the rest is reserved for the owner. */
const liveKeyLinksMax = 12;

export interface ReferenceKey {
  readonly id: string;
  readonly secret: string;
  readonly prefix: string;
  readonly permissions: readonly string[];
  readonly buckets: readonly string[];
  /** 0n: never. */
  readonly expiresAt: bigint;
  isRevoked: boolean;
  /** Whether it is revoked or expired now. */
  isOver(): boolean;
}

export interface ReferenceLink {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  /** 0n: never. */
  readonly expiresAt: bigint;
  /** The key that created it; `undefined` for a link of the owner. */
  readonly key: ReferenceKey | undefined;
  readonly downloadName: string;
  /** The present path of its file. */
  path: string;
  /** Number of the file's parts when the link was last certified. */
  partCount: number;
}

interface Linked {
  links: ReferenceLink[];
}

/** A right that an operation asks for, at a path or prefix. */
export type Need = readonly [permission: string, bucket: string, place: string];

/** Returns the code with which the key is refused; the owner sends no key and is never refused. */
export function keyCode(
  key: ReferenceKey | undefined,
  needs: readonly Need[],
): RefusalCode | undefined {
  if (key === undefined) return undefined;
  if (key.isOver()) return 'InvalidApiKey';
  const isGranted = ([permission, bucket, place]: Need) =>
    key.buckets.includes(bucket) &&
    key.permissions.includes(permission) &&
    place.startsWith(key.prefix);
  return needs.every(isGranted) ? undefined : 'AccessDenied';
}

/** Restricts a list to the key's prefix, unless the requested prefix is narrower. */
export function listedPrefix(key: ReferenceKey | undefined, asked: string): string {
  return key?.prefix.startsWith(asked) ? key.prefix : asked;
}

/** Returns the expiry of a link, which is not later than the expiry of its key. */
export function linkEnd(expiresAt: bigint, key: ReferenceKey | undefined): bigint {
  const keyEnd = key?.expiresAt ?? 0n;
  if (keyEnd === 0n) return expiresAt;
  return expiresAt === 0n || expiresAt > keyEnd ? keyEnd : expiresAt;
}

function isLive({ expiresAt }: ReferenceLink, nowNs: bigint): boolean {
  return expiresAt === 0n || expiresAt > nowNs;
}

export function isOpen(link: ReferenceLink, nowNs: bigint): boolean {
  return isLive(link, nowNs) && link.key?.isRevoked !== true;
}

function linksOf({ links }: Linked, path: string): ReferenceLink[] {
  return links.filter((link) => link.path === path);
}

/** Allows `limit` live links, and twice as many together with expired ones. */
function isRoom(links: readonly ReferenceLink[], nowNs: bigint, limit = liveLinksMax): boolean {
  const live = links.filter((link) => isLive(link, nowNs)).length;
  return live <= limit && links.length <= 2 * limit;
}

export function canAddLink(bucket: Linked, link: ReferenceLink, nowNs: bigint): boolean {
  const links = [...linksOf(bucket, link.path), link];
  const ofKeys = links.filter(({ key }) => key !== undefined);
  const hasShare = link.key === undefined || isRoom(ofKeys, nowNs, liveKeyLinksMax);
  return hasShare && isRoom(links, nowNs);
}

interface Move {
  readonly from: string;
  readonly to: string;
}

/** Returns the links that move with the file; those of a key only within its prefix. */
function goingLinks(bucket: Linked, { from, to }: Move): ReferenceLink[] {
  return linksOf(bucket, from).filter(({ key }) => to.startsWith(key?.prefix ?? ''));
}

export function canMoveLinks(bucket: Linked, move: Move, nowNs: bigint): boolean {
  const going = goingLinks(bucket, move);
  return going.length === 0 || isRoom([...going, ...linksOf(bucket, move.to)], nowNs);
}

export function moveReferenceLinks(bucket: Linked, move: Move): void {
  for (const link of goingLinks(bucket, move)) link.path = move.to;
  dropReferenceLinks(bucket, move.from);
}

/** Updates the part counts of live links after the file was replaced. */
export function resizeReferenceLinks(
  bucket: Linked,
  { path, etag }: { readonly path: string; readonly etag: string },
  nowNs: bigint,
): void {
  for (const link of linksOf(bucket, path)) if (isLive(link, nowNs)) link.partCount = partsOf(etag);
}

/** Reads the number of parts from a file's entity tag. */
export function partsOf(etag: string): number {
  return Number(/-(\d+)"$/.exec(etag)?.[1] ?? 1);
}

export function dropReferenceLinks(bucket: Linked, path: string): void {
  bucket.links = bucket.links.filter((link) => link.path !== path);
}

/** Removes expired and revoked links, as upkeep does; returns their number. */
export function endReferenceLinks(bucket: Linked, nowNs: bigint): number {
  const before = bucket.links.length;
  bucket.links = bucket.links.filter((link) => isOpen(link, nowNs));
  return before - bucket.links.length;
}

/** Returns links in the order of lists (path, then id), with those that lists no longer show. */
export function linksBelow({ links }: Linked, isMeant: (path: string) => boolean): ReferenceLink[] {
  const nameOf = ({ path, id }: ReferenceLink) => Buffer.from(`${path}\0${id}`);
  return links
    .filter(({ path }) => isMeant(path))
    .sort((left, right) => Buffer.compare(nameOf(left), nameOf(right)));
}
