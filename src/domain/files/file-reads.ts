// Reads many small files, or thumbnails of files, in one query, so that a client needs one request
// for two hundred of them.

import {
  readFileCountMax,
  readFileRestBytes,
  readFilesBytesMax,
} from '../../../packages/wire/src/limits.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { findBucket } from '../buckets/buckets.ts';
import { authorize, type Grant, requireWithin, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId, parseFilePath, quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { entityTag, type OpenFile, readFile, withOpenFile } from './file-records.ts';
import { refuseMissing } from './files.ts';
import { pictureOf, requireThumbnail } from './thumbnails.ts';

export interface FilesRequest {
  readonly bucket: string;
  readonly paths: readonly string[];
  /** Whether the thumbnails of the files are read in place of their bytes. */
  readonly asThumbnails?: boolean | undefined;
  readonly apiKey: SentKey;
}

export interface WholeFile {
  readonly path: string;
  /** The file's, without quotation marks. */
  readonly etag: string;
  readonly contentType: string;
  readonly chunkBytes: number;
  readonly bytes: Uint8Array;
}

export interface FilesRead {
  /** The results for the first paths, in their order. */
  readonly results: readonly (WholeFile | Refusal)[];
  /** The other paths, whose files did not fit. */
  readonly left: readonly string[];
}

/**
 * Returns whole files, as many as fit into one answer; the caller asks again for the paths that are
 * left. A file that fits into no answer gets EntityTooLarge. Throws what refuses all: a missing
 * right, or more than 200 paths.
 */
export function readFiles(stores: Stores, call: Call, request: FilesRequest): FilesRead {
  const { paths, asThumbnails = false } = request;
  if (paths.length > readFileCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `One call reads at most ${readFileCountMax} files; got ${paths.length} paths.`,
    );
  }
  const grant = readingGrant(stores, call, request);
  const results: (WholeFile | Refusal)[] = [];
  let room = readFilesBytesMax;
  for (const path of paths) {
    room -= readFileRestBytes + encodeUtf8(path).length;
    const result = room < 0 ? undefined : readWhole(stores, grant, { path, room, asThumbnails });
    if (result === undefined) break;
    if (!(result instanceof Refusal)) room -= result.bytes.length;
    results.push(result);
  }
  return { results, left: paths.slice(results.length) };
}

/** Anybody may read the files of a public bucket. */
function readingGrant(stores: Stores, call: Call, request: FilesRequest): Grant {
  const { bucket, apiKey } = request;
  const found = apiKey === undefined ? findBucket(stores, parseBucketId(bucket)) : undefined;
  if (found?.isPublic) return { bucket: found, key: undefined };
  return authorize(stores, call, { bucket, apiKey, permission: 'read', place: 'later' });
}

interface Asked {
  readonly path: string;
  readonly room: number;
  readonly asThumbnails: boolean;
}

/** Returns undefined if the file does not fit into the room. */
function readWhole(
  stores: Stores,
  grant: Grant,
  { path: sent, room, asThumbnails }: Asked,
): WholeFile | Refusal | undefined {
  const { bucket } = grant;
  const read = valueOrRefusal(() => {
    requireWithin(grant, { path: sent });
    const path = parseFilePath(sent);
    const found = withOpenFile(stores, { bucket, path }, (opened) => {
      const { file } = opened;
      const { size } = asThumbnails ? requireThumbnail(file) : file;
      requireReadable(size, sent);
      if (size > room) return { whole: undefined };
      const read = asThumbnails ? pictureOf(stores, opened) : wholeOf(stores, opened);
      const etag = entityTag(file).slice(1, -1);
      return { whole: { path: sent, etag, chunkBytes: size, ...read } };
    });
    return found ?? refuseMissing(bucket, path);
  });
  return read instanceof Refusal ? read : read.whole;
}

function wholeOf(stores: Stores, opened: OpenFile) {
  const { size, contentType, chunkSize: chunkBytes } = opened.file;
  return { bytes: readFile(stores, opened, { start: 0, end: size }), contentType, chunkBytes };
}

/** Refuses a file that fits into no answer. */
function requireReadable(size: number, path: string): void {
  const limit = readFilesBytesMax - readFileRestBytes - encodeUtf8(path).length;
  if (size <= limit) return;
  throw new Refusal(
    'EntityTooLarge',
    `File ${quote(path)} has ${size} bytes, and with others at most ${limit} are read: read it alone.`,
    { limit, size },
  );
}
