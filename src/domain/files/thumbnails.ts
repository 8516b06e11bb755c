// Thumbnails: small pictures of files, which clients make. The record of a file names its
// thumbnail, so copies, moves and former versions have it too, and it is freed with the last of
// them. Nobody can set the thumbnail of another record that shares the content. In an end-to-end
// bucket it is an age file, as the file is.

import { sealedThumbnailBytesMax, thumbnailBytesMax } from '../../../packages/wire/src/limits.ts';
import { pictureStartBytes, pictureTypeOf } from '../../../packages/wire/src/picture-types.ts';
import { byteString } from '../../lib/bytes.ts';
import { type Bucket, saveBucket } from '../buckets/buckets.ts';
import { checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { releaseThumbnail } from '../contents/shared-contents.ts';
import { readThumbnail, type Thumbnail, writeThumbnail } from '../contents/thumbnails.ts';
import { authorize } from '../rights/rights.ts';
import { ageContentType, requireAgeStart } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, quote } from '../shared/names.ts';
import { checkWritePreconditions } from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { encodeFile, fileMapKey, sealFile } from './file-layout.ts';
import {
  entityTag,
  type FileRecord,
  findFile,
  noteFile,
  type OpenFile,
  withFileCounted,
  withOpenFile,
} from './file-records.ts';
import { type FileName, refuseMissing, withReadableFile } from './files.ts';
import { requireNotHeld } from './retention.ts';
import { requireConverted } from './retention-changes.ts';

export interface ThumbnailUpload extends FileName {
  /** The entity tag of the file that the picture shows, with or without quotes. */
  readonly etag: string | undefined;
  readonly bytes: Uint8Array;
}

interface Prepared {
  readonly bucket: Bucket;
  readonly file: FileRecord;
  /** The type of the picture. */
  readonly contentType: string;
}

/** A thumbnail as it is served. */
export interface Picture {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Refuses what putThumbnail() would refuse, except for a damaged file; changes nothing. */
export function checkThumbnail(stores: Stores, call: Call, upload: ThumbnailUpload): Prepared {
  const { bucket: name, path: sent, apiKey, etag, bytes } = upload;
  const claim = { bucket: name, path: sent, permission: 'write', apiKey } as const;
  const { bucket } = authorize(stores, call, claim);
  const path = parseFilePath(sent);
  const contentType = requirePicture(bucket, bytes);
  const file = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  requireTag(file, etag);
  // A first thumbnail changes nothing that is held
  if (file.thumbnail !== undefined) requireNotHeld(file, { nowNs: call.nowNs });
  requireConverted(file);
  const thumbnail = { size: bytes.length };
  const added = overheadBytesOf({ ...file, thumbnail }) - overheadBytesOf(file);
  checkQuota(bucket, { files: 0, bytes: added });
  return { bucket, file, contentType };
}

/** Returns the type of the picture; in an end-to-end bucket, it must be an age file. */
function requirePicture({ id, isEndToEnd }: Bucket, bytes: Uint8Array): string {
  const limit = isEndToEnd ? sealedThumbnailBytesMax : thumbnailBytesMax;
  if (bytes.length > limit) {
    throw new Refusal(
      'EntityTooLarge',
      `A thumbnail has at most ${limit} bytes, this one has ${bytes.length}: make it smaller.`,
      { limit, size: bytes.length },
    );
  }
  if (isEndToEnd) {
    requireAgeStart(id, bytes);
    return ageContentType;
  }
  const type = pictureTypeOf(byteString(bytes.subarray(0, pictureStartBytes)));
  if (type !== undefined) return type;
  throw new Refusal(
    'InvalidContentType',
    'These bytes are not a picture in WebP, JPEG, PNG or AVIF: send a thumbnail in one of them.',
  );
}

function requireTag(file: FileRecord, etag: string | undefined): void {
  if (etag === undefined || etag.trim() === '*') {
    throw new Refusal(
      'InvalidArgument',
      'A thumbnail needs the ETag of the file that it shows, so that it never shows another version: ' +
        'send the ETag from the record of the file.',
    );
  }
  checkWritePreconditions(entityTag(file), { ifMatch: etag });
}

/**
 * Stores the picture as the file's thumbnail and replaces a former one. Number, dates, bytes and
 * ETag of the file stay.
 */
export function putThumbnail(stores: Stores, call: Call, upload: ThumbnailUpload): void {
  const { bucket, file: named, contentType } = checkThumbnail(stores, call, upload);
  const { nowNs } = call;
  const { bytes } = upload;
  const put = ({ file: old, key }: OpenFile) => {
    const number = nextContentId(stores);
    const picture = { bytes, contentType, number, nowNs, key };
    const thumbnail = writeThumbnail(stores, old.contentId, picture);
    const file: FileRecord = { ...old, thumbnail };
    const mapKey = fileMapKey(bucket.id, file.path);
    const record = encodeFile(file, { number: nextContentId(stores), timeNs: nowNs });
    sealFile(record, mapKey, key);
    stores.records.set(mapKey, record, file.size);
    stores.publication.put(file, chunkDigests(stores, file));
    saveBucket(stores, withFileCounted(bucket, file, { old }), bucket);
    releaseThumbnail(stores, old);
    noteFile(stores, 'thumbnail.changed', file);
    return file;
  };
  withOpenFile(stores, { bucket, path: named.path }, put) ?? refuseMissing(bucket, named.path);
}

/** Returns the thumbnail of a file, for callers who may read the file. */
export function getThumbnail(stores: Stores, call: Call, name: FileName): Picture {
  return withReadableFile(stores, { call, ...name }, (opened) => pictureOf(stores, opened));
}

/** Refuses with NoSuchFile if the file has no thumbnail. */
export function pictureOf(stores: Stores, { file, key }: OpenFile): Picture {
  const thumbnail = requireThumbnail(file);
  const bytes = readThumbnail(stores, file.contentId, { ...thumbnail, key });
  return { contentType: thumbnail.contentType, bytes };
}

export function requireThumbnail({ path, thumbnail }: FileRecord): Thumbnail {
  if (thumbnail !== undefined) return thumbnail;
  throw new Refusal('NoSuchFile', `File ${quote(path)} has no thumbnail.`);
}
