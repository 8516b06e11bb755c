// Multipart uploads: create, upload part, copy part, complete and abort.

import { setTimeout as delay } from 'node:timers/promises';
import { piecesOf } from '../../../client/src/bytes/byte-stream.ts';
import { versionIdOf } from '../account.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { type ChecksumAlgorithm, checksumNamed, checksumNames } from '../body/checksum.ts';
import { checkConditions, conditionsOf, failed } from '../conditions.ts';
import type { ListedPart, WholeFacts } from '../multipart/completion.ts';
import type { MultipartUpload, NewPart } from '../multipart/multipart-upload.ts';
import type { PartWork } from '../multipart/part-work.ts';
import type { Completed, StoredPart, UploadStart } from '../multipart/upload-log.ts';
import { checksumHeadersOf, type Description, descriptionOf } from '../object-headers.ts';
import { lockAsked, lockFields } from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import { s3ErrorOf } from '../storage-errors.ts';
import { elementsOf, type ReadElement, readXml, textOf } from '../xml/read.ts';
import { writeXml } from '../xml/write.ts';
import { bucketOf, findObject, isEndToEnd, readSmallBody, targetOf } from './common.ts';
import { copySourceOf } from './copies.ts';
import { bodyOf, factsOf } from './store-stream.ts';
import { writeConditions } from './write-conditions.ts';

const partsMax = 10_000;
/** A <Part> has three elements and at most two checksums, with two tags each. */
const tagsMax = partsMax * 12 + 20;
/** 5 GiB, as in S3. */
const partBytesMax = 5 * 1_024 ** 3;
/** After this time without a byte, the server sends spaces from time to time. */
const silenceMs = 10_000;
const encryption = { 'x-amz-server-side-encryption': 'AES256' };

export const multipartRoutes: Readonly<Record<string, Route>> = {
  'POST object?uploads': { run: createUpload, obeys: lockFields, isChange: true },
  'PUT object?uploadId': {
    run: putPart,
    parameters: ['partNumber'],
    isChange: true,
    movesBytes: true,
  },
  'COPY object?uploadId': {
    run: copyPart,
    parameters: ['partNumber'],
    isChange: true,
    movesBytes: true,
  },
  'POST object?uploadId': { run: completeUpload, isChange: true, movesBytes: true },
  'DELETE object?uploadId': { run: abortUpload, isChange: true },
};

async function createUpload(operation: Operation): Promise<Answer> {
  const { request, account, accessKeyId, multipart } = operation;
  const target = targetOf(request);
  const description = descriptionOf(request);
  const checksum = checksumAsked(request);
  const lock = await lockAsked(operation, target);
  // Refuses too much metadata before anything is sent: the final values have these lengths.
  const value = `SHA512 ${'A'.repeat(94)} FULL_OBJECT`;
  const etag = `${'0'.repeat(32)}-10000`;
  factsOf(description, { etag, checksum: checksum && value, partBytes: partBytesMax });
  await isEndToEnd(account, target.bucket);
  const key = request.key ?? '';
  const uploadId = await multipart.create({
    ...{ ...target, key, holder: accessKeyId, description },
    ...(checksum && { checksum }),
    ...(lock && { lock }),
  });
  const content = { Bucket: target.bucket, Key: key, UploadId: uploadId };
  return xmlAnswer(writeXml('InitiateMultipartUploadResult', content), {
    ...encryption,
    'x-amz-checksum-algorithm': checksum?.algorithm,
    'x-amz-checksum-type': checksum && (checksum.isOfWhole ? 'FULL_OBJECT' : 'COMPOSITE'),
  });
}

/** Throws InvalidRequest for a kind that S3 does not support either. */
function checksumAsked(request: S3Request): UploadStart['checksum'] {
  const name = request.header('x-amz-checksum-algorithm');
  if (name === undefined) return undefined;
  const algorithm = checksumNamed(name);
  const isCyclic = algorithm?.startsWith('CRC') === true;
  const isOnlyOfWhole = algorithm === 'CRC64NVME';
  const type =
    request.header('x-amz-checksum-type') ?? (isOnlyOfWhole ? 'FULL_OBJECT' : 'COMPOSITE');
  const isOfWhole = type === 'FULL_OBJECT';
  const isKnown = isOfWhole ? isCyclic : type === 'COMPOSITE' && !isOnlyOfWhole;
  if (algorithm !== undefined && isKnown) return { algorithm, isOfWhole };
  throw new S3Error(
    'InvalidRequest',
    `The checksum ${name} of type ${type} is not supported: send CRC32, CRC32C or CRC64NVME with ` +
      `FULL_OBJECT, or one of ${checksumNames} except crc64nvme with COMPOSITE.`,
  );
}

async function findUpload({
  request,
  accessKeyId,
  multipart,
}: Operation): Promise<MultipartUpload> {
  const owner = { holder: accessKeyId, bucket: bucketOf(request), key: request.key ?? '' };
  return multipart.find(request.query.get('uploadId') ?? '', owner);
}

function partNumberOf({ query }: S3Request): number {
  const text = query.get('partNumber') ?? '';
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= partsMax) return number;
  throw new S3Error('InvalidArgument', `partNumber must be 1 to ${partsMax}.`);
}

async function putPart(operation: Operation): Promise<Answer> {
  const upload = await findUpload(operation);
  const body = operation.openBody();
  const number = partNumberOf(operation.request);
  const { md5, checksum } = await storePart(operation, upload, {
    ...{ number, size: body.length, isCopied: false },
    ...body,
  });
  const kept = checksum && `${checksum.algorithm} ${checksum.value}`;
  const { 'x-amz-checksum-type': _, ...headers } = checksumHeadersOf(kept);
  return { status: 200, headers: { ETag: `"${md5}"`, ...encryption, ...headers } };
}

async function workOf(operation: Operation, { state }: MultipartUpload): Promise<PartWork> {
  const { account, concurrency, memory, signal } = operation;
  const isSealed = await isEndToEnd(account, state.start.bucket);
  return { account, concurrency, memory, signal, isSealed };
}

async function storePart(
  operation: Operation,
  upload: MultipartUpload,
  part: NewPart,
): Promise<StoredPart> {
  if (part.size > partBytesMax) {
    throw new S3Error('EntityTooLarge', `A part has at most ${partBytesMax} bytes.`);
  }
  return upload.putPart(await workOf(operation, upload), part);
}

/** The bytes pass through the S3 server, because the service only copies whole files. */
async function copyPart(operation: Operation): Promise<Answer> {
  const { request, account, signal, concurrency } = operation;
  const upload = await findUpload(operation);
  const number = partNumberOf(request);
  const { from, versionId } = copySourceOf(request);
  const source = await findObject(operation, from, versionId);
  if (checkConditions(source, conditionsOf(request.header, 'x-amz-copy-source-')) !== 'met') {
    throw failed('x-amz-copy-source-if-none-match or -if-modified-since');
  }
  const range = copyRangeOf(request, source.size);
  const { version } = source;
  const wanted = { version, range, concurrency, signal };
  const { body, etag } = await account.storage.download(from, wanted);
  if (etag !== source.record.etag) {
    await body.cancel();
    throw new S3Error('SlowDown', 'The source was replaced during the copy: try again.');
  }
  const copied = bodyOf(piecesOf(body), range.end - range.start);
  const stored = await storePart(operation, upload, {
    ...{ number, size: copied.length, isCopied: true },
    ...copied,
  });
  return xmlAnswer(
    writeXml('CopyPartResult', { LastModified: stored.storedAt, ETag: `"${stored.md5}"` }),
    {
      ...encryption,
      'x-amz-copy-source-version-id': await versionIdOf(account, source.record),
    },
  );
}

/** Parses `bytes=first-last`; both are required and must lie within the source. */
function copyRangeOf(request: S3Request, size: number): { start: number; end: number } {
  const text = request.header('x-amz-copy-source-range');
  if (text === undefined) return { start: 0, end: size };
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  const [start, end] = [Number(first), Number(last) + 1];
  if (start < end && end <= size) return { start, end };
  throw new S3Error(
    'InvalidArgument',
    `x-amz-copy-source-range must be bytes=first-last within the ${size} bytes of the source.`,
  );
}

async function abortUpload(operation: Operation): Promise<Answer> {
  const upload = await findUpload(operation);
  await upload.abort(operation.account);
  await operation.multipart.forget(upload.state.start.uploadId);
  return { status: 204 };
}

async function completeUpload(operation: Operation): Promise<Answer> {
  const { request, multipart } = operation;
  const upload = await findUpload(operation);
  const list = readXml(await readSmallBody(operation), 'CompleteMultipartUpload', tagsMax);
  const { start } = upload.state;
  // A client that disconnects will ask again for the result, so the completion is not aborted.
  const own = { ...operation, signal: new AbortController().signal };
  const completion = upload.complete(await workOf(own, upload), {
    listed: listedOf(list),
    metadataOf: (facts) => metadataThatFits(start.description, facts),
    conditions: () => writeConditions(own, start),
    size: sizeAsked(request),
    checksum: checksumOfWhole(request),
    partBytesMin: multipart.partBytesMin,
  });
  const answer = completion.then((completed) => {
    multipart.release(start.uploadId);
    return { xml: completionXml(start, completed), versionId: completed.versionId };
  });
  const isSoon = await Promise.race([
    answer.then(() => true),
    delay(silenceMs, false, { ref: false }),
  ]);
  if (isSoon) {
    const { xml, versionId } = await answer;
    return xmlAnswer(xml, { ...encryption, 'x-amz-version-id': versionId });
  }
  const late = answer.then(({ xml }) => xml).catch(errorXml);
  return { ...xmlAnswer('', encryption), body: inTime(late) };
}

/** Adds the checksums of the parts, unless they exceed the limit of a file's metadata. */
function metadataThatFits(description: Description, facts: WholeFacts): Record<string, string> {
  try {
    return factsOf(description, facts);
  } catch (error) {
    if (facts.partSums === undefined) throw error;
    return factsOf(description, { ...facts, partSums: undefined });
  }
}

function listedOf(list: ReadElement): ListedPart[] {
  const listed = elementsOf(list, 'Part').map((part) => {
    const number = Number(textOf(part, 'PartNumber') ?? Number.NaN);
    const etag = textOf(part, 'ETag')?.trim().replaceAll('"', '');
    if (!Number.isInteger(number) || etag === undefined) {
      throw new S3Error('MalformedXML', 'Each Part must have a PartNumber and an ETag.');
    }
    return { number, etag, checksums: checksumsOf(part) };
  });
  if (listed.length > 0 && listed.length <= partsMax) return listed;
  throw new S3Error('MalformedXML', `CompleteMultipartUpload must list 1 to ${partsMax} parts.`);
}

function checksumsOf(part: ReadElement): ListedPart['checksums'] {
  return Object.keys(typeof part === 'string' ? {} : part).flatMap((name) => {
    const algorithm = checksumNamed(name.replace(/^Checksum/, ''));
    const value = textOf(part, name);
    return algorithm === undefined || value === undefined ? [] : [{ algorithm, value }];
  });
}

function sizeAsked(request: S3Request): number | undefined {
  const text = request.header('x-amz-mp-object-size');
  if (text === undefined || /^\d{1,15}$/.test(text))
    return text === undefined ? text : Number(text);
  throw new S3Error('InvalidRequest', 'x-amz-mp-object-size must be a number of bytes.');
}

function checksumOfWhole(
  request: S3Request,
): { algorithm: ChecksumAlgorithm; value: string } | undefined {
  const sent = request.headersBehind('x-amz-checksum-').flatMap(([name, value]) => {
    const algorithm = checksumNamed(name);
    return algorithm === undefined ? [] : [{ algorithm, value }];
  });
  if (sent.length <= 1) return sent[0];
  throw new S3Error('InvalidRequest', 'The request names several checksums: send only one.');
}

function completionXml({ bucket, key }: UploadStart, { etag, checksum }: Completed): string {
  const [algorithm, value, type] = checksum?.split(' ') ?? [];
  return writeXml('CompleteMultipartUploadResult', {
    Location: `/${bucket}/${encodeURI(key)}`,
    Bucket: bucket,
    Key: key,
    ETag: `"${etag}"`,
    ...(algorithm && { [`Checksum${algorithm}`]: value, ChecksumType: type }),
  });
}

function errorXml(error: unknown): string {
  const { code, message } = s3ErrorOf(error);
  return writeXml('Error', { Code: code, Message: message });
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/** Keeps the connection alive as S3 does: sends 200 and spaces, then the answer or the error. */
async function* inTime(ended: Promise<string>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(declaration);
  for (;;) {
    const text = await Promise.race([ended, delay(silenceMs, undefined, { ref: false })]);
    yield Buffer.from(text?.replace(declaration, '') ?? ' ');
    if (text !== undefined) return;
  }
}
