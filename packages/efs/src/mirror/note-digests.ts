// Short digests of a version's type, metadata and tags, for targets that cannot return these
// exactly: S3 changes the case of names, and takes neither every value nor every tag.

import { createHash } from 'node:crypto';
import type { UserMetadata } from '../../../client/src/types/files.ts';

/** `notes` covers type and metadata, because lists of former versions have no tags. */
export interface NoteDigests {
  readonly notes: string;
  readonly tags: string;
}

export function notesDigest(version: {
  readonly contentType?: string | undefined;
  readonly metadata?: UserMetadata | undefined;
}): string {
  const { contentType = '', metadata = {} } = version;
  return shortDigest([contentType, Object.entries(metadata).sort()]);
}

export function tagsDigest(tags: readonly string[] = []): string {
  return shortDigest([...tags].sort());
}

/** 80 bits: equal ones by chance need more files than a bucket can have. */
function shortDigest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20);
}
