// Batches and thumbnails of the end-to-end layer, loaded with the first of them.

import type { EndToEndFiles } from './age/end-to-end-files.ts';
import type { FileHeader } from './age/header.ts';
import type { BucketModes } from './bucket-modes.ts';
import type { UploadInput } from './bytes/upload-source.ts';
import type { FileStorage } from './files/file-storage.ts';
import type { Thumbnails } from './files/thumbnails.ts';
import { isStorageError, type StorageError } from './storage-error.ts';
import { ageType } from './types/end-to-end.ts';
import type { Thumbnail, ThumbnailsOptions } from './types/thumbnails.ts';
import type { FileToUpload, UploadAllOptions, UploadedFile } from './types/transfers.ts';

export type Modes = Pick<BucketModes, 'of' | 'ofAgeFile' | 'forNames'> & {
  forget(bucket: string): void;
};

export interface Layer {
  readonly files: FileStorage;
  readonly modes: Modes;
  load(): Promise<EndToEndFiles>;
}

export async function putThumbnail(
  { files, modes, load }: Layer,
  ...[file, picture, options]: Parameters<Thumbnails['put']>
): Promise<void> {
  const { bucket } = file;
  const signal = options?.signal;
  const mode = await modes.of(bucket, signal);
  if (mode !== undefined) return (await load()).putThumbnail(file, { picture, signal }, mode);
  return files.thumbnails.put(file, picture, { signal }).catch((error) => {
    // The bucket has become end-to-end since.
    if (isStorageError(error, 'NotEncrypted')) modes.forget(bucket);
    throw error;
  });
}

export async function readThumbnails(
  { files, modes, load }: Layer,
  options: ThumbnailsOptions,
): Promise<ReadonlyMap<string, Thumbnail>> {
  const { bucket: id } = options;
  const found = await files.thumbnails.read(options);
  const isSealed = [...found.values()].some(({ contentType }) => contentType === ageType);
  // In other buckets, encrypted thumbnails of copied files are returned unchanged.
  const mode = isSealed ? await modes.ofAgeFile(id) : undefined;
  return mode === undefined ? found : (await load()).openThumbnails(found, { id, mode });
}

type FilesToUpload = Iterable<FileToUpload> | AsyncIterable<FileToUpload>;

export async function* uploadAll(
  layer: Layer,
  all: FilesToUpload,
  options: UploadAllOptions,
): AsyncGenerator<UploadedFile> {
  const { files, modes } = layer;
  const { bucket, signal } = options;
  const refusal = await modes.of(bucket, signal).catch(refusalOf);
  if (isStorageError(refusal)) {
    // Reports the refusal for each file, as the service would, but sends none of them.
    for await (const { path } of all) yield { path, error: refusal };
    return;
  }
  const headers: Headers = new Map();
  for await (const ended of files.uploadAll(
    eachSealed(layer, { all, headers }, options),
    options,
  )) {
    const { path, file, error } = ended;
    if (isStorageError(error, 'NotEncrypted')) modes.forget(bucket);
    const header = headers.get(path);
    if (header) headers.delete(path);
    if (file && header) (await layer.load()).noteStored(file, header);
    yield ended;
  }
}

/** The headers of files that are being uploaded, by path; undefined if several have the path. */
type Headers = Map<string, FileHeader | undefined>;

interface ToSeal {
  readonly all: FilesToUpload;
  readonly headers: Headers;
}

async function* eachSealed(layer: Layer, { all, headers }: ToSeal, options: UploadAllOptions) {
  for await (const one of all) {
    const { file, header } = await sealed(layer, one, options);
    const { path } = file;
    if (header !== undefined) headers.set(path, headers.has(path) ? undefined : header);
    yield file;
  }
}

/** Asks for the mode of each file, because the recipients can change during a long upload. */
async function sealed(
  { modes, load }: Layer,
  file: FileToUpload,
  { bucket, signal }: UploadAllOptions,
): Promise<{ readonly file: FileToUpload; readonly header?: FileHeader }> {
  try {
    const mode = await modes.of(bucket, signal);
    return mode === undefined ? { file } : await (await load()).sealed(file, { id: bucket, mode });
  } catch (error) {
    // Fails like a source that cannot be read, so that the other files are uploaded.
    const source: unknown = { size: 1, slice: () => Promise.reject(error) };
    const failing = { source: source as UploadInput, size: undefined, sha256: undefined };
    return { file: { ...file, ...failing } };
  }
}

function refusalOf(error: unknown): StorageError {
  if (isStorageError(error) && error.code !== 'Aborted') return error;
  throw error;
}
