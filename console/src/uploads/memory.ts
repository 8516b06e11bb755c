// Uploads that outlive a reload: the page may not store the files themselves, so the upload
// continues when the user chooses the same files again.

import { forgetValues, keepValues, keptValues } from '../database.ts';
import { nameOf } from '../words.ts';

export interface KeptUpload {
  readonly id: string;
  readonly bucket: string;
  readonly path: string;
  readonly size: number;
  /** The file's time of modification in milliseconds. */
  readonly modified: number;
  /** Id of the upload session, if one has begun. */
  readonly uploadId?: string | undefined;
  readonly ageHeader?: string | undefined;
  /** Id of the page that uploads the file. */
  readonly page: string;
}

/** Part of the name of a lock that this page holds while open, so that others skip its uploads. */
export const ownPage = crypto.randomUUID();
const lockPrefix = 'efs-uploads-';
navigator.locks?.request(lockPrefix + ownPage, () => new Promise(() => {})).catch(() => {});

async function livingPages(): Promise<ReadonlySet<string>> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return new Set(held.map(({ name = '' }) => name.slice(lockPrefix.length)));
}

/** Returns the interrupted uploads of closed pages. */
export async function cutShort(): Promise<KeptUpload[]> {
  const kept = await keptValues<KeptUpload>('uploads');
  if (kept.length === 0) return [];
  const living = await livingPages();
  return kept.filter(({ page }) => !living.has(page));
}

/** Stores the uploads; does nothing in browsers without IndexedDB. */
export async function keepUploads(uploads: readonly KeptUpload[]): Promise<void> {
  await keepValues(
    'uploads',
    uploads.map((upload) => [upload.id, upload] as const),
  ).catch(() => {});
}

export async function forgetUploads(ids: readonly string[]): Promise<void> {
  await forgetValues('uploads', ids).catch(() => {});
}

/** Finds the interrupted upload of this file by its name, size and modification time. */
export function matching(kept: readonly KeptUpload[], file: File): KeptUpload | undefined {
  return kept.find(
    ({ path, size, modified }) =>
      nameOf(path) === file.name && size === file.size && modified === file.lastModified,
  );
}
