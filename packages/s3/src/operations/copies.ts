// CopyObject. The service copies without moving bytes. The bytes pass through the S3 server if one
// of the buckets is end-to-end encrypted, because the service cannot decrypt them, and between
// buckets of different volumes.

import { piecesOf } from '../../../client/src/bytes/byte-stream.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import { areApart, versionIdOf } from '../account.ts';
import { addressOf } from '../address.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { checkConditions, conditionsOf, failed } from '../conditions.ts';
import { type Description, descriptionOf } from '../object-headers.ts';
import { lockAsked, lockFields, storeLock } from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import { metadataOf, objectOf, type StoredObject } from '../stored-object.ts';
import { writeXml } from '../xml/write.ts';
import { findObject, isEndToEnd, isOpenedIn, placeOf, targetOf } from './common.ts';
import { bodyOf, storeStream } from './store-stream.ts';
import { writeConditions } from './write-conditions.ts';

export const copyRoute: Route = {
  run: copyObject,
  obeys: lockFields,
  isChange: true,
  movesBytes: true,
};

interface Copy {
  readonly from: FileName;
  readonly to: FileName;
  readonly source: StoredObject;
  /** Undefined: the copy has the source's. */
  readonly description: Description | undefined;
  readonly tags: readonly string[] | undefined;
}

async function copyObject(operation: Operation): Promise<Answer> {
  const { request, account } = operation;
  const to = targetOf(request);
  const { from, versionId } = copySourceOf(request);
  const source = await findObject(operation, from, versionId);
  const conditions = conditionsOf(request.header, 'x-amz-copy-source-');
  if (checkConditions(source, conditions) === 'not modified') {
    throw failed('x-amz-copy-source-if-none-match or -if-modified-since');
  }
  const given = descriptionOf(request);
  const description = isReplaced(request, 'x-amz-metadata-directive') ? given : undefined;
  const tags = isReplaced(request, 'x-amz-tagging-directive') ? given.tags : undefined;
  const copy: Copy = { from, to, source, description, tags };
  const lock = await lockAsked(operation, to);
  const isFormer = source.version !== undefined;
  const isItself = !isFormer && from.bucket === to.bucket && from.path === to.path;
  const isCarried =
    from.bucket !== to.bucket &&
    ((await isOpenedIn(account, from.bucket)) ||
      (await isEndToEnd(account, to.bucket)) ||
      (await areApart(account, from.bucket, to.bucket)));
  const record = await (isItself
    ? changeItself(operation, copy)
    : isCarried
      ? carry(operation, copy)
      : copyWithin(operation, copy));
  await storeLock(account, { target: to, record, lock });
  const { etag, modified } = objectOf(record);
  return xmlAnswer(
    writeXml('CopyObjectResult', { LastModified: modified.toISOString(), ETag: `"${etag}"` }),
    {
      'x-amz-version-id': await versionIdOf(account, record),
      'x-amz-copy-source-version-id': await versionIdOf(account, source.record),
    },
  );
}

/** Parses `bucket/key`, percent-encoded, with or without a leading slash. */
export function copySourceOf(request: S3Request): {
  from: FileName;
  versionId: string | undefined;
} {
  const text = request.header('x-amz-copy-source') ?? '';
  const [rawPath = '', rawQuery = ''] = text.split('?', 2);
  const whole = rawPath.startsWith('/') ? rawPath : `/${rawPath}`;
  const address = addressOf({ rawPath: whole, host: undefined, domain: undefined });
  if (address.key === undefined) {
    throw new S3Error('InvalidArgument', 'x-amz-copy-source must name a bucket and a key.');
  }
  const versionId = new URLSearchParams(rawQuery).get('versionId') ?? undefined;
  return { from: placeOf(address), versionId };
}

function isReplaced(request: S3Request, directive: string): boolean {
  const value = request.header(directive) ?? 'COPY';
  if (value === 'COPY' || value === 'REPLACE') return value === 'REPLACE';
  throw new S3Error('InvalidArgument', `${directive} is COPY or REPLACE.`);
}

/** Returns the fields in which the copy's record differs from the source's. */
function changeOf({ source, description, tags }: Copy) {
  if (description === undefined) return tags && { tags };
  const { contentType, headers, expires, metadata } = description;
  const own = { ...source.own, headers, expires };
  return {
    // The record of an encrypted file has the type of age files.
    ...(source.contentType === source.record.contentType && { contentType }),
    headers,
    metadata: metadataOf(own, metadata),
    ...(tags && { tags }),
  };
}

async function changeItself({ account, signal }: Operation, copy: Copy): Promise<FileRecord> {
  const change = changeOf(copy);
  if (change === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'A copy of an object to itself must replace its metadata or its tags.',
    );
  }
  const ifMatch = `"${copy.source.record.etag}"`;
  return account.storage.change(copy.to, { ...change, ifMatch, signal });
}

/** Uses one request of the service, so that nobody sees the copy with the source's metadata. */
async function copyWithin(operation: Operation, copy: Copy): Promise<FileRecord> {
  const { account, signal } = operation;
  const { from, to, source } = copy;
  const { record, version } = source;
  const conditions = await writeConditions(operation, to);
  const wanted = { ...conditions, ...changeOf(copy), version, signal };
  try {
    return await account.storage.copy(from, to, { ...wanted, ifSourceMatch: `"${record.etag}"` });
  } catch (error) {
    const isOnlySource = Object.values(conditions).every((condition) => condition === undefined);
    const isReplaced = isOnlySource && isStorageError(error, 'PreconditionFailed');
    throw isReplaced ? sourceReplaced() : error;
  }
}

function sourceReplaced(): S3Error {
  return new S3Error('SlowDown', 'The source was replaced during the copy: try again.');
}

/** Returns the source's MD5, or that of its parts, and its checksums, which are the copy's too. */
function byteFactsOf({ etag, checksum, partBytes, partSums }: StoredObject['own']) {
  return etag === undefined ? undefined : { etag, checksum, partBytes, partSums };
}

async function carry(operation: Operation, copy: Copy): Promise<FileRecord> {
  const { account, signal, concurrency } = operation;
  const { from, to, source, description, tags } = copy;
  const conditions = await writeConditions(operation, to);
  const { version } = source;
  const { body, etag } = await account.storage.download(from, { version, concurrency, signal });
  if (etag !== source.record.etag) {
    await body.cancel();
    throw sourceReplaced();
  }
  const { contentType, metadata, own, record } = source;
  const kept = { contentType, metadata, headers: own.headers ?? {}, expires: own.expires };
  return storeStream(operation, {
    target: to,
    conditions,
    body: bodyOf(piecesOf(body), source.size),
    facts: byteFactsOf(own),
    description: { ...(description ?? kept), tags: tags ?? record.tags },
  });
}
