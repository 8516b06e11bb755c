// Updates of certified answers that must happen in the same message as a change of public data. The
// domain reports the change; other modules prove it to gateways.

import { assert } from '../../lib/assert.ts';
import type { Metadata } from './file-metadata.ts';
import type { StoredHeaders } from './stored-headers.ts';

/**
 * Which header fields a file is served with (http/file-headers.ts): its certified leaves were made
 * of them. Files of an earlier version keep theirs until record-upgrade.ts has come to them.
 */
export type LeavesVersion = 1 | 2 | 3;
export const presentLeavesVersion = 2;
/** In a bucket that is a site: scripts run, and folders have addresses, see files/sites.ts. */
export const siteLeavesVersion = 3;

export function parseLeavesVersion(number: number): LeavesVersion {
  const isKnown = number === 1 || number === presentLeavesVersion || number === siteLeavesVersion;
  assert(isKnown, 'the leaves of a file have a known version');
  return number;
}

/** Which a file of the bucket is to have. */
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
  /** Length of every chunk but the last. */
  readonly chunkSize: number;
  readonly digest: Uint8Array;
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
}

export interface PublishedFile extends ShownFile {
  readonly leavesVersion: LeavesVersion;
  readonly headers: StoredHeaders;
}

/** The fields of a link that its address and its response depend on. */
export interface PublishedLink {
  readonly id: string;
  readonly name: string;
  readonly downloadName: string;
}

/** The text at `/.well-known/{name}`. */
export interface PublishedText {
  readonly name: string;
  readonly contentType: string;
  /** UTF-8. */
  readonly body: Uint8Array;
  /** SHA-256 of it. */
  readonly digest: Uint8Array;
  readonly updatedAtNs: bigint;
}

/** A folder of a site; '' is the whole bucket. */
export interface FolderName {
  readonly bucketId: string;
  /** Without a slash at its end. */
  readonly folder: string;
}

export interface Publication {
  /** The file is now what its path names. `chunkDigests`: SHA-256 of each chunk, 32 bytes each. */
  put(file: PublishedFile, chunkDigests: Uint8Array): void;
  /** Nothing is at the file's path any more. */
  remove(file: Pick<PublishedFile, 'bucketId' | 'path'>): void;
  /** The file is what the link is to. */
  putLink(link: PublishedLink, file: PublishedFile, chunkDigests: Uint8Array): void;
  removeLink(id: string): void;
  /** The bucket, new or not, is for everybody or only for those with a right to it. */
  show(bucketId: string, isPublic: boolean): void;
  /** The file is what the folder's address answers, which ends in a slash. */
  putFolder(folder: FolderName, file: PublishedFile, chunkDigests: Uint8Array): void;
  removeFolder(folder: FolderName): void;
  /** The folder's address without its slash, at which is no file, leads to the folder. */
  putRedirect(folder: FolderName): void;
  removeRedirect(folder: FolderName): void;
  /** The file is the answer to all that is not in the bucket, while that is public. */
  setMissing(bucketId: string, file: PublishedFile | undefined): void;
  /** The bucket is gone; it held no file. */
  removeBucket(bucketId: string): void;
  putText(text: PublishedText): void;
  removeText(name: string): void;
}
