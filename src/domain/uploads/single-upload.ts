// Uploads of a whole file in one message. checkSingleUpload() makes all checks except that of
// digests, so that a gateway's query can refuse before an update costs anything.

import { chunkBytesMax, singleUploadBytesMax } from '../../../packages/wire/src/limits.ts';
import { sha256 } from '../../crypto/hash.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { type Bucket, storedContentType } from '../buckets/buckets.ts';
import { type Addition, checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { writeChunk } from '../contents/contents.ts';
import { leavesOfRenewal } from '../files/bulk-work.ts';
import {
  type Committed,
  commitFile,
  entityTag,
  type FileMetadata,
  type FileRecord,
  findFile,
} from '../files/file-records.ts';
import { checkSiteFile } from '../files/site-headers.ts';
import { freedBytes, requireRetirable } from '../files/version-records.ts';
import { shownToWriter, uploadedFields, type WrittenFile } from '../files/written-files.ts';
import { createContent } from '../keys/file-keys.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, requireWithin, type SentKey } from '../rights/rights.ts';
import {
  checkAddition,
  checkFileBytes,
  checkFileCount,
  countFiles,
} from '../rights/upload-bounds.ts';
import { requireAgeStart } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { type Metadata, parseMetadata } from '../shared/file-metadata.ts';
import { parseNewPath, parseTags } from '../shared/names.ts';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { noStoredHeaders } from '../shared/stored-headers.ts';
import type { Stores } from '../shared/stores.ts';
import { parseFileDigest } from './upload-options.ts';

/** A file as sent. */
export interface SentFile {
  readonly path: string;
  readonly metadata: FileMetadata;
  readonly bytes: Uint8Array;
  readonly conditions?: WritePreconditions;
  /** SHA-256 digests that the sender declares for the bytes. */
  readonly digests?: readonly Uint8Array[];
}

export interface SingleUpload extends SentFile {
  readonly bucket: string;
  readonly apiKey: SentKey;
}

/** A file that has passed every check except for quotas and digests. */
export interface PreparedFile {
  /** The file with its names in stored form. */
  readonly sent: SentFile;
  readonly old: FileRecord | undefined;
  readonly addition: Addition;
}

/**
 * Returns the upload with its names in stored form; refuses everything that uploadSingle() would
 * refuse, except for a wrong digest, see checkDigests(). Changes nothing.
 */
export function checkSingleUpload(stores: Stores, call: Call, upload: SingleUpload): SingleUpload {
  const { bucket, apiKey } = upload;
  return { ...prepareUpload(stores, call, upload).sent, bucket, apiKey };
}

function prepareUpload(
  stores: Stores,
  call: Call,
  upload: SingleUpload,
): PreparedFile & { readonly grant: Grant } {
  const { apiKey, ...file } = upload;
  const { bucket, path } = upload;
  const grant = authorize(stores, call, { bucket, path, permission: 'upload', apiKey });
  checkFileCount(grant.key, 1);
  const prepared = prepareFile(stores, grant, file, call.nowNs);
  checkQuota(grant.bucket, prepared.addition);
  return { ...prepared, grant };
}

/** Checks the file itself, first whether its path is within the key's prefix. */
export function prepareFile(
  stores: Stores,
  grant: Grant,
  file: SentFile,
  nowNs: bigint,
): PreparedFile {
  requireWithin(grant, { path: file.path });
  const { bucket } = grant;
  const { id: bucketId } = bucket;
  const path = parseNewPath(file.path);
  const metadata = {
    ...file.metadata,
    contentType: storedContentType(bucket, file.metadata.contentType),
    tags: parseTags(file.metadata.tags),
    metadata: parseMetadata(file.metadata.metadata),
  };
  const { bytes, conditions = {}, digests = [] } = file;
  if (bytes.length > singleUploadBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A single upload has at most ${singleUploadBytesMax} bytes, this one has ${bytes.length}: ` +
        'send larger files in chunks.',
      { limit: singleUploadBytesMax, size: bytes.length },
    );
  }
  checkFileBytes(grant.key, bytes.length);
  if (bucket.isEndToEnd) requireAgeStart(bucketId, bytes);
  checkSiteFile(bucket, { path, size: bytes.length }, () => bytes);
  const present = findFile(stores, bucketId, path);
  checkAddition(grant.key, path, present !== undefined);
  const old = present && requireRetirable(bucket, present, { nowNs });
  const named = { ...metadata, bucketId, path };
  const addition = {
    files: old === undefined ? 1 : 0,
    bytes: bytes.length + overheadBytesOf(named) - freedBytes(bucket, old),
  };
  checkWritePreconditions(old && entityTag(old), conditions);
  checkUnmodifiedSince(old?.updatedAtNs, conditions);
  return { sent: { path, metadata, bytes, conditions, digests }, old, addition };
}

/** Refuses a wrong digest with BadDigest. Hashing 2 MB costs 150 M instructions. */
export function checkDigests(upload: SentFile): void {
  if (upload.digests !== undefined && upload.digests.length > 0) {
    requireDigest(sha256(upload.bytes), upload.digests);
  }
}

/** `actual` and `expected` are SHA-256 digests of the same bytes. */
export function requireDigest(actual: Uint8Array, expected: readonly Uint8Array[]): void {
  if (!expected.every((digest) => bytesEqual(digest, actual))) {
    throw new Refusal(
      'BadDigest',
      `The received bytes have the SHA-256 ${encodeHex(actual)}, not the one sent with ` +
        'them: send them again.',
      { sha256: encodeHex(actual) },
    );
  }
}

/** The argument of an actor call that sends a whole file. */
export interface FileArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  /** Hexadecimal. */
  readonly sha256: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly apiKey: SentKey;
}

/** Stores at most 1,900,000 bytes, so that the call fits into one message of the network. */
export function uploadByCall(stores: Stores, call: Call, argument: FileArgument): FileRecord {
  const { bucketId, path, contentType, bytes, tags, metadata: noted } = argument;
  const claim = { bucket: bucketId, path, permission: 'upload', apiKey: argument.apiKey } as const;
  // First, because only refusals that show the missing right count towards the budget of refusals
  const { key: apiKey } = authorize(stores, call, claim);
  if (bytes.length > chunkBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `One call stores at most ${chunkBytesMax} bytes; got ${bytes.length}: send larger files in ` +
        'chunks.',
      { limit: chunkBytesMax, size: bytes.length },
    );
  }
  const metadata = { headers: noStoredHeaders, metadata: noted, contentType, tags };
  const digests =
    argument.sha256 === undefined ? [] : [parseFileDigest(argument.sha256, bytes.length)];
  const named = { bucket: bucketId, path, apiKey, metadata, bytes };
  return uploadSingle(stores, call, { ...named, conditions: argument, digests }).file;
}

export function uploadSingle(stores: Stores, call: Call, request: SingleUpload): WrittenFile {
  const { grant, ...prepared } = prepareUpload(stores, call, request);
  const digest = sha256(prepared.sent.bytes);
  requireDigest(digest, request.digests ?? []);
  const stored = storeFile(stores, grant.bucket, { ...prepared, digest, nowNs: call.nowNs });
  countFiles(stores, grant.key, 1);
  const leaves = leavesOfRenewal(stored.bucket, stored.file.path);
  chargeWork(stores, call, { key: grant.key, leaves });
  return shownToWriter(grant, stored, uploadedFields);
}

/** Stores the file; refuses before that if no key can be made. `digest`: SHA-256 of the bytes. */
export function storeFile(
  stores: Stores,
  bucket: Bucket,
  prepared: PreparedFile & { readonly digest: Uint8Array; readonly nowNs: bigint },
): Committed {
  const { sent, old, digest, nowNs } = prepared;
  const { path, metadata, bytes } = sent;
  const { content, key } = createContent(stores, bucket);
  const hasBytes = bytes.length > 0;
  if (hasBytes) {
    const address = { contentId: content.contentId, index: 0 };
    writeChunk(stores, address, { bytes, digest, nonce: { counter: 0, timeNs: nowNs }, key });
  }
  const chunkDigests = hasBytes ? digest : emptyBytes;
  const chunks = { chunkSize: Math.max(bytes.length, 1), chunkCount: hasBytes ? 1 : 0 };
  const file = { ...metadata, ...content, ...chunks, bucketId: bucket.id, path, digest };
  const sealNumber = content.contentId;
  const newFile = { ...file, size: bytes.length, chunkDigests, key, sealNumber };
  const committed = commitFile(stores, newFile, { nowNs, bucket, old });
  key.fill(0);
  return committed;
}
