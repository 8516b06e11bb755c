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
export type LeavesVersion = 1 | 2 | 3;
export const presentLeavesVersion = 2;
/** The version in a site bucket: scripts run, and folders have addresses, see files/sites.ts. */
export const siteLeavesVersion = 3;

export function parseLeavesVersion(number: number): LeavesVersion {
  const isKnown = number === 1 || number === presentLeavesVersion || number === siteLeavesVersion;
  assert(isKnown, 'the leaves of a file have a known version');
  return number;
}

/** Returns the version that files of the bucket should have. */
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
}

export interface PublishedFile extends ShownFile {
  readonly leavesVersion: LeavesVersion;
  readonly headers: StoredHeaders;
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

/** A folder of a site; '' is the whole bucket. */
export interface FolderName {
  readonly bucketId: string;
  /** Without a final slash. */
  readonly folder: string;
}

export interface Publication {
  /** Publishes the file at its path. `chunkDigests`: SHA-256 of each chunk, 32 bytes each. */
  put(file: PublishedFile, chunkDigests: Uint8Array): void;
  remove(file: Pick<PublishedFile, 'bucketId' | 'path'>): void;
  /** Publishes the file at the link's address. */
  putLink(link: PublishedLink, file: PublishedFile, chunkDigests: Uint8Array): void;
  removeLink(id: string): void;
  /** Makes the bucket, new or existing, public or private. */
  show(bucketId: string, isPublic: boolean): void;
  /** Publishes the file at the folder's address, which ends in a slash. */
  putFolder(folder: FolderName, file: PublishedFile, chunkDigests: Uint8Array): void;
  removeFolder(folder: FolderName): void;
  /** Publishes a redirect to the folder from its address without the slash, where no file is. */
  putRedirect(folder: FolderName): void;
  removeRedirect(folder: FolderName): void;
  /** Publishes the file as the answer for missing paths of the bucket while it is public. */
  setMissing(bucketId: string, file: PublishedFile | undefined): void;
  /** Removes a bucket without files. */
  removeBucket(bucketId: string): void;
  putText(text: PublishedText): void;
  removeText(name: string): void;
  /** Publishes the front's redirect to the bucket, or replaces it. */
  putAddress(address: PublicAddress): void;
  removeAddress(bucketId: string): void;
}
