// Copies and moves in a service of several volumes. Within a volume, the service copies; between
// two of them the bytes pass through this program, because no canister reads another one's files.

import { isMeant } from './files/copies.ts';
import type { Places } from './service-places.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { CopyFileOptions, CopyTarget, FileName, FileRecord } from './types/files.ts';

export interface CopyOrder {
  readonly from: FileName;
  readonly to: CopyTarget;
  readonly options: CopyFileOptions;
}

/** Copies the file. Between volumes, stored headers are only those of the options. */
export function copyBetween(places: Places, order: CopyOrder): Promise<FileRecord> {
  const { from, to, options } = order;
  return between(places, order, {
    within: (volume) => places.at(volume).copy(from, to, options),
    across: async (volumes) => (await carry(places, order, volumes)).copy,
  });
}

/** Moves the file. Between volumes, the source stays if it was replaced meanwhile. */
export function moveBetween(places: Places, order: CopyOrder): Promise<FileRecord> {
  const { from, to, options } = order;
  return between(places, order, {
    within: (volume) => places.at(volume).move(from, to, options),
    async across(volumes) {
      const { copy, source } = await carry(places, order, volumes);
      const ifMatch = `"${source.etag}"`;
      const removing = places.at(volumes.source).remove(from, { ifMatch, signal: options.signal });
      await removing.catch((error) => {
        throw isStorageError(error, 'PreconditionFailed') ? replaced(from, error) : error;
      });
      return copy;
    },
  });
}

interface Volumes {
  readonly source: string;
  readonly target: string;
}

interface Ways {
  readonly within: (volume: string) => Promise<FileRecord>;
  readonly across: (volumes: Volumes) => Promise<FileRecord>;
}

function between(
  places: Places,
  { from, to: { bucket = from.bucket } }: CopyOrder,
  { within, across }: Ways,
): Promise<FileRecord> {
  return places.repeated([from.bucket, bucket], async () => {
    const [source, target] = await Promise.all([
      places.volumeOf(from.bucket),
      places.volumeOf(bucket),
    ]);
    return source === target ? within(source) : across({ source, target });
  });
}

async function carry(
  places: Places,
  { from, to, options }: CopyOrder,
  volumes: Volumes,
): Promise<{ readonly source: FileRecord; readonly copy: FileRecord }> {
  const { version, contentType, tags, metadata, headers, ifMatch, ifNoneMatch, signal } = options;
  const storage = places.at(volumes.source);
  const source = await storage.stat(from, { version, signal });
  if (!isMeant(options, source)) {
    throw new StorageError('PreconditionFailed', "The source's ETag does not match ifSourceMatch.");
  }
  const { body, size, etag } = await storage.download(from, { version, signal });
  if (etag !== source.etag) {
    await body.cancel();
    throw replaced(from);
  }
  // An age file that was opened gets the type that belongs to its name.
  const kept = size === source.size ? source : { contentType: undefined, chunkSize: undefined };
  const copy = await places.at(volumes.target).upload(body, {
    ...{ bucket: to.bucket ?? from.bucket, path: to.path, size },
    ...{ headers, ifMatch, ifNoneMatch, signal },
    contentType: contentType ?? kept.contentType,
    tags: tags ?? source.tags,
    metadata: metadata ?? source.metadata,
    // Chunks of the same length give the copy the same entity tag.
    chunkBytes: kept.chunkSize || undefined,
  });
  return { source, copy };
}

function replaced({ bucket, path }: FileName, cause?: unknown): StorageError {
  const words = `${bucket}/${path} was replaced during the copy and remains: try again.`;
  return new StorageError('PreconditionFailed', words, { cause });
}
