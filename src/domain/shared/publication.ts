// Updates of certified answers that must happen in the same message as a change of public data. The
// domain reports the change; other modules certify it for gateways.

import { assert } from '../../lib/assert.ts';
import type { Metadata } from './file-metadata.ts';
import type { Retention } from './retention.ts';
import type { StoredHeaders } from './stored-headers.ts';

/**
 * The version of the header fields (http/file-headers.ts) in a file's certified leaves. Files of an
 * earlier version keep theirs until record-upgrade.ts renews them.
 */
export type LeavesVersion = 1 | 2 | 3 | 4 | 5;
export const presentLeavesVersion = 2;
/** The version in a site bucket of release 0.2.0: without clean URLs. */
const formerSiteLeavesVersion = 3;
/** The version in a site bucket: scripts run, and files have more addresses, see files/sites.ts. */
const siteLeavesVersion = 4;
/** The same with header fields of `_headers`, see files/site-header-records.ts. */
export const ownLeavesVersion = 5;

/** Whether the file has header fields and addresses of a site. */
export function hasSiteLeaves(file: { readonly leavesVersion: LeavesVersion }): boolean {
  return file.leavesVersion >= formerSiteLeavesVersion;
}

/** Whether a file has the addresses of a site that this version serves. */
export function hasPresentSiteLeaves(file: { readonly leavesVersion: LeavesVersion }): boolean {
  return file.leavesVersion >= siteLeavesVersion;
}

export function parseLeavesVersion(number: number): LeavesVersion {
  const isKnown = number >= 1 && number <= ownLeavesVersion;
  assert(isKnown, 'the leaves of a file have a known version');
  return number as LeavesVersion;
}

/** Returns the version that files of the bucket without fields of `_headers` should have. */
export function leavesVersionOf({ isSite }: { readonly isSite: boolean }): LeavesVersion {
  return isSite ? siteLeavesVersion : presentLeavesVersion;
}

/** The fields of a file's JSON record. */
export interface ShownFile {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly chunkCount: number;
  /** Length of every chunk except the last. */
  readonly chunkSize: number;
  readonly digest: Uint8Array;
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly retention?: Retention | undefined;
  readonly thumbnail?: ShownThumbnail | undefined;
}

export interface ShownThumbnail {
  readonly size: number;
  readonly contentType: string;
  /** In hexadecimal, because decoding it would cost more than most readers of the record need. */
  readonly sha256: string;
}

export interface PublishedFile extends ShownFile {
  readonly leavesVersion: LeavesVersion;
  readonly headers: StoredHeaders;
  /** Fields of `_headers` in its leaves. */
  readonly siteHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
}

/** The fields of a link that its certified answers depend on. */
export interface PublishedLink {
  readonly id: string;
  readonly downloadName: string;
}

export interface PublishedText {
  readonly name: string;
  readonly contentType: string;
  /** UTF-8. */
  readonly body: Uint8Array;
  /** SHA-256 of the body. */
  readonly digest: Uint8Array;
  readonly updatedAtNs: bigint;
}

/** A public bucket of a volume, to which the front redirects from `/b/{bucket}`. */
export interface PublicAddress {
  readonly bucketId: string;
  /** The volume's origin at a gateway. */
  readonly origin: string;
}

/** An address of a site that names no file. */
export interface SiteAddress {
  readonly bucketId: string;
  /** The part of the URL after the bucket: '', or a path with its leading slash. */
  readonly address: string;
  /** Whether it covers the address, without a final slash, and all below it that has no answer. */
  readonly isWildcard: boolean;
}

/** The answer at an address of a site. `file`: as at the file's own address. */
export type SiteTarget<File = PublishedFile> =
  | { readonly kind: 'file'; readonly file: File }
  | SiteReply<File>
  | SiteUpdate;

/** Only an update answers, because the answer depends on the path. */
interface SiteUpdate {
  readonly kind: 'update';
}

/** An answer to every request. `page`: the file's content with another status. */
export type SiteReply<File = PublishedFile> =
  | { readonly kind: 'page'; readonly file: File; readonly status: number }
  | SiteRedirect;

export interface SiteRedirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly location: string;
  /** The result of `siteProof()`, if it is stored: computing it again costs 1.3 M. */
  readonly proof?: Uint8Array | undefined;
}

export interface Publication {
  /** Publishes the file at its path. `chunkDigests`: SHA-256 of each chunk, 32 bytes each. */
  put(file: PublishedFile, chunkDigests: Uint8Array): void;
  remove(file: Pick<PublishedFile, 'bucketId' | 'path'>): void;
  /** Publishes the file at the link's address. */
  putLink(link: PublishedLink, file: PublishedFile, chunkDigests: Uint8Array): void;
  /** Publishes that only updates answer at the link's address. */
  putLinkUpdate(id: string): void;
  removeLink(id: string): void;
  /** Makes the bucket, new or existing, public or private. */
  show(bucketId: string, isPublic: boolean): void;
  /** Publishes the file at an address of a site; at a wildcard only a file of one chunk. */
  putSiteFile(at: SiteAddress, file: PublishedFile, chunkDigests: Uint8Array): void;
  /** Publishes the answer at an address of a site. */
  putSiteReply(at: SiteAddress, reply: SiteReply | SiteUpdate): void;
  /** Returns the shown part of a proof of the redirect, to be stored with it. */
  siteProof(redirect: SiteRedirect): Uint8Array;
  /** Removes the answer; the wildcard of a public bucket gets the usual 404 again. */
  removeSite(at: SiteAddress): void;
  /** Removes a bucket without files. */
  removeBucket(bucketId: string): void;
  putText(text: PublishedText): void;
  removeText(name: string): void;
  /** Publishes the front's redirect to the bucket, or replaces it. */
  putAddress(address: PublicAddress): void;
  removeAddress(bucketId: string): void;
}
