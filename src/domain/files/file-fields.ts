// The record of a file, which file-layout.ts writes as bytes.

import { chunkCountMax } from '../../../packages/wire/src/limits.ts';
import { assert } from '../../lib/assert.ts';
import { fileBytesMax } from '../../limits.ts';
import type { Content } from '../contents/contents.ts';
import { isPossibleThumbnail, type Thumbnail } from '../contents/thumbnails.ts';
import type { SealedContent } from '../keys/file-keys.ts';
import type { Metadata } from '../shared/file-metadata.ts';
import type { LeavesVersion } from '../shared/publication.ts';
import type { Retention } from '../shared/retention.ts';
import type { StoredHeaders } from '../shared/stored-headers.ts';

/** The properties of a file that an upload sends besides its bytes. */
export interface FileMetadata {
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly headers: StoredHeaders;
  /** The user's own metadata, see shared/file-metadata.ts. */
  readonly metadata: Metadata;
}

/** The values that make this seal unique under its key. */
export interface Seal {
  /** From nextContentId(), so no other seal has it. */
  readonly number: number;
  readonly timeNs: bigint;
}

export interface FileRecord extends Content, SealedContent, FileMetadata {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly chunkCount: number;
  /** SHA-256 of the bytes or, for several chunks, of the chunks' digests. */
  readonly digest: Uint8Array;
  /** 1 for the first version at this path. */
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  /** Version of its certified leaves, see publication.ts. */
  readonly leavesVersion: LeavesVersion;
  /** Fields of `_headers` in its leaves of a site, see site-header-records.ts. */
  readonly siteHeaders?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Absent: neither retention nor a hold, see retention.ts. */
  readonly retention?: Retention | undefined;
  /** A small picture of the file, see files/thumbnails.ts. */
  readonly thumbnail?: Thumbnail | undefined;
}

/** Throws for a size or a number of chunks that no file has, and for such a thumbnail. */
export function requirePossible({ size, chunkCount, thumbnail }: FileRecord): void {
  const isPossible = size >= 0 && size <= fileBytesMax && chunkCount <= chunkCountMax;
  assert(isPossible, 'a file has a possible size');
  const isThumbnail = thumbnail === undefined || isPossibleThumbnail(thumbnail);
  assert(isThumbnail, 'a thumbnail has a possible size');
}

export function fileId(number: number | bigint): string {
  return number.toString(16).padStart(16, '0');
}
