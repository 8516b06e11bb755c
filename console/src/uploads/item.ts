// One file on its way up.

import type { Storage } from '../../../packages/client/src/storage.ts';
import { type KeptUpload, ownPage } from './memory.ts';

/** `exists`: another file has the path, and nobody has said what to do. */
export type ItemState = 'waiting' | 'sending' | 'stored' | 'failed' | 'exists';

export interface UploadItem {
  readonly id: string;
  readonly storage: Storage;
  readonly bucket: string;
  path: string;
  readonly file: File;
  state: ItemState;
  doneBytes: number;
  failure?: string | undefined;
  /** Id of its upload session, if one has begun. */
  uploadId?: string | undefined;
  /** age header of that session, if the file is encrypted. */
  ageHeader?: string | undefined;
  /** The upload may replace the file at the path. */
  mayReplace: boolean;
  /** It has been sent before, and nobody knows what became of that. */
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
    // As far as this page knows.
    wasSent: kept !== undefined,
  };
}

export function keptOf(item: UploadItem): KeptUpload {
  const { id, bucket, path, file, uploadId, ageHeader } = item;
  const { size, lastModified: modified } = file;
  return { id, bucket, path, size, modified, uploadId, ageHeader, page: ownPage };
}

/** `a (2).txt`, then `a (3).txt`. */
export function nextName(path: string): string {
  const [, stem = path, count, end = ''] = /^(.*?)(?: \((\d+)\))?(\.[^./]*)?$/s.exec(path) ?? [];
  return `${stem} (${Number(count ?? 1) + 1})${end}`;
}
