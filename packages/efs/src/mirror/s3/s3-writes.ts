// Stores files as objects in S3: with one request, or in parts while the file is read.

import { createHash } from 'node:crypto';
import { piecesOf } from '../../../../client/src/bytes/byte-stream.ts';
import type { FileRecord } from '../../../../client/src/types/files.ts';
import { notesOf } from '../apply-plans.ts';
import type { MirrorJob, OpenedVersion, SmallFile, StoredSmall } from '../mirror-job.ts';
import { fieldsOf } from './s3-marks.ts';
import { copySource, objectAt, type S3Store, send } from './s3-store.ts';

/** Up to 10,000 parts: 80 GB, more than a file of the service can have. */
const partBytes = 8 * 2 ** 20;
/** Parts in memory at a time. */
const partsAtOnce = 4;

export interface Writer {
  readonly store: S3Store;
  /** Names the mirror's source in marks. */
  readonly source: string;
}

const writing = 'store objects (s3:PutObject, s3:PutObjectTagging)';

/** Reports a failure as a result. */
export async function storeSmall(
  { store, source }: Writer,
  { path, source: bytes, ...notes }: SmallFile,
): Promise<StoredSmall> {
  try {
    const etag = createHash('sha256').update(bytes).digest('hex');
    const mark = { etag, chunkBytes: undefined, sha256: etag, source };
    await putObject(store, path, bytes, fieldsOf(notes, mark));
    return { path, file: { etag } };
  } catch (error) {
    return { path, error };
  }
}

type Fields = ReturnType<typeof fieldsOf>;

/** The store compares the bytes with both digests; stores that ignore SHA-256 know MD5. */
async function putObject(
  store: S3Store,
  path: string,
  bytes: Uint8Array,
  fields: Fields,
): Promise<void> {
  const input = {
    ...{ ...objectAt(store, path), Body: bytes, ContentLength: bytes.length },
    ContentMD5: createHash('md5').update(bytes).digest('base64'),
    ChecksumSHA256: createHash('sha256').update(bytes).digest('base64'),
  };
  await withTags(fields, (fitting) => {
    const command = new store.sdk.PutObjectCommand({ ...input, ...fitting });
    return send(store, writing, (client, options) => client.send(command, options));
  });
}

/** Repeats a request without tags if the store takes no tags or not these. */
async function withTags<T>(fields: Fields, work: (fields: Fields) => Promise<T>): Promise<T> {
  try {
    return await work(fields);
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    if (fields.Tagging === undefined || !/^(?:NotImplemented|InvalidTag)/.test(code)) throw error;
    return await work({ ...fields, Tagging: undefined });
  }
}

export async function storeLarge(
  writer: Writer,
  job: MirrorJob,
  { record, download }: OpenedVersion,
): Promise<void> {
  const { store, source } = writer;
  const { path, etag, chunkSize, sha256 } = record;
  const chunkBytes = etag.includes('-') ? chunkSize : undefined;
  const mark = { etag, chunkBytes, sha256: etag.includes('-') ? sha256 : etag, source };
  const fields = fieldsOf(notesOf(record), mark);
  if (record.size <= partBytes) {
    return putObject(store, path, await download.bytes(), fields);
  }
  await abortUploadsAt(store, path);
  const { UploadId = '' } = await withTags(fields, (fitting) => {
    const command = new store.sdk.CreateMultipartUploadCommand({
      ...objectAt(store, path),
      ...fitting,
    });
    return send(store, writing, (client, options) => client.send(command, options));
  });
  await job.saveUpload({ path, etag, uploadId: UploadId });
  try {
    const Parts = await sendParts(store, path, {
      uploadId: UploadId,
      body: piecesOf(download.body),
    });
    await complete(store, path, { UploadId, Parts });
  } catch (error) {
    await abortUpload(store, path, UploadId);
    throw error;
  } finally {
    if (!store.signal.aborted) await job.saveUpload(undefined);
  }
}

interface Part {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

interface Sending {
  readonly uploadId: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Fails at the end of the body, before the upload is completed, if its digest is wrong. */
async function sendParts(
  store: S3Store,
  path: string,
  { uploadId, body }: Sending,
): Promise<Part[]> {
  const parts: Part[] = [];
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let count = 0;
  for await (const bytes of inParts(body)) {
    count += 1;
    const name = { UploadId: uploadId, PartNumber: count };
    const one: Promise<void> = sendPart(store, path, { ...name, Body: bytes })
      .then((part) => void parts.push(part))
      .catch((error) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= partsAtOnce) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  return parts.sort((one, other) => one.PartNumber - other.PartNumber);
}

interface PartInput {
  readonly UploadId: string;
  readonly PartNumber: number;
  readonly Body: Uint8Array;
}

async function sendPart(store: S3Store, path: string, input: PartInput): Promise<Part> {
  const { PartNumber, Body } = input;
  const ContentMD5 = createHash('md5').update(Body).digest('base64');
  const sizes = { ContentLength: Body.length, ContentMD5 };
  const command = new store.sdk.UploadPartCommand({ ...objectAt(store, path), ...input, ...sizes });
  const { ETag } = await send(store, writing, (client, options) => client.send(command, options));
  return { PartNumber, ETag };
}

async function* inParts(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafe(partBytes);
  let filled = 0;
  for await (const bytes of body) {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + partBytes - filled);
      part.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled < partBytes) continue;
      yield part;
      part = Buffer.allocUnsafe(partBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

async function complete(
  store: S3Store,
  path: string,
  { UploadId, Parts }: { readonly UploadId: string; readonly Parts: Part[] },
): Promise<void> {
  const input = { ...objectAt(store, path), UploadId, MultipartUpload: { Parts } };
  const command = new store.sdk.CompleteMultipartUploadCommand(input);
  await send(store, writing, (client, options) => client.send(command, options));
}

/** Aborts what a killed mirror has left at a path that this one stores. */
async function abortUploadsAt(store: S3Store, path: string): Promise<void> {
  const { Bucket, Key } = objectAt(store, path);
  const command = new store.sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key });
  // The permission to list uploads is not required.
  const { Uploads = [] } = await send(store, 'list uploads', (client, options) =>
    client.send(command, options),
  ).catch(() => ({ Uploads: [] }));
  for (const upload of Uploads) {
    if (upload.Key === Key) await abortUpload(store, path, upload.UploadId);
  }
}

/** An upload that stays costs storage only: the next attempt at the path aborts it. */
export async function abortUpload(
  { sdk, client, place }: S3Store,
  path: string,
  UploadId: string | undefined,
): Promise<void> {
  const name = { Bucket: place.bucket, Key: `${place.prefix}${path}`, UploadId };
  // Ctrl-C has aborted the store's signal, so the request goes without it.
  await client.send(new sdk.AbortMultipartUploadCommand(name)).catch(() => {});
}

interface Copy {
  readonly path: string;
  /** The path whose object is copied. */
  readonly from: string;
  readonly record: FileRecord;
}

/** Copies an object within the store, with the type, metadata and tags of the record. */
export async function copyObject(
  { store, source }: Writer,
  { path, from, record }: Copy,
): Promise<void> {
  const { etag, chunkSize, sha256 } = record;
  const isChunked = etag.includes('-');
  const chunkBytes = isChunked ? chunkSize : undefined;
  const mark = { etag, chunkBytes, sha256: isChunked ? sha256 : etag, source };
  const CopySource = copySource(store, from);
  await withTags(fieldsOf(notesOf(record), mark), (fields) => {
    const command = new store.sdk.CopyObjectCommand({
      ...{ ...objectAt(store, path), CopySource, ...fields },
      MetadataDirective: 'REPLACE',
      TaggingDirective: 'REPLACE',
    });
    return send(store, writing, (client, options) => client.send(command, options));
  });
}
