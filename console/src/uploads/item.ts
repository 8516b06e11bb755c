// One file of the upload queue.

import type { Storage } from '../../../packages/client/src/storage.ts';
import { type KeptUpload, ownPage } from './memory.ts';

/** `exists`: another file has the path, and the user has not decided yet. */
export type ItemState = 'waiting' | 'sending' | 'stored' | 'failed' | 'exists';

export type Choice = 'replace' | 'both' | 'skip';

export interface UploadItem {
  readonly id: string;
  readonly storage: Storage;
  readonly bucket: string;
  path: string;
  readonly file: File;
  state: ItemState;
  doneBytes: number;
  failure?: string | undefined;
  /** Id of the upload session, once it has begun. */
  uploadId?: string | undefined;
  /** The session's age header, if the file is encrypted. */
  ageHeader?: string | undefined;
  /** Whether the upload may replace the file at the path. */
  mayReplace: boolean;
  /** Number of further names to try while the own is taken, after the user chose to keep both. */
  namesLeft: number;
  /** The user's choice in case another file has the path; used once. */
  choice?: Choice | undefined;
  /** Whether an earlier attempt was sent, the outcome of which is unknown. */
  wasSent: boolean;
}

export interface UploadTarget {
  readonly storage: Storage;
  readonly bucket: string;
  readonly path: string;
}

export function itemOf(target: UploadTarget, file: File, kept?: KeptUpload): UploadItem {
  return {
    id: kept?.id ?? crypto.randomUUID(),
    ...target,
    file,
    state: 'waiting',
    doneBytes: 0,
    uploadId: kept?.uploadId,
    ageHeader: kept?.ageHeader,
    mayReplace: false,
    namesLeft: 0,
    // An interrupted upload of an earlier page may have been sent.
    wasSent: kept !== undefined,
  };
}

export function keptOf(item: UploadItem): KeptUpload {
  const { id, bucket, path, file, uploadId, ageHeader } = item;
  const { size, lastModified: modified } = file;
  return { id, bucket, path, size, modified, uploadId, ageHeader, page: ownPage };
}
