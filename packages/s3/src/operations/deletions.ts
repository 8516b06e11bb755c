// DeleteObject and DeleteObjects. Deleting a missing object is not an error.

import { inParallel } from '../../../client/src/connection/parallel.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { failed, namesEtag } from '../conditions.ts';
import { findPath } from '../keys.ts';
import { bypassesGovernance } from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { s3ErrorOf } from '../storage-errors.ts';
import type { StoredObject } from '../stored-object.ts';
import { elementsOf, readXml, textOf } from '../xml/read.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, findObject, findRecord, readSmallBody, unlessMissing } from './common.ts';

const keysMax = 1_000;
/** An <Object> has five elements with two tags each. */
const tagsMax = keysMax * 12 + 20;

export const deletionRoutes: Readonly<Record<string, Route>> = {
  'DELETE object': { run: deleteObject, parameters: ['versionId'], isChange: true },
  'POST bucket?delete': { run: deleteObjects, isChange: true },
};

async function deleteObject(operation: Operation): Promise<Answer> {
  const { request } = operation;
  const condition = parseCondition({
    etag: request.header('if-match'),
    size: request.header('x-amz-if-match-size'),
    modified: request.header('x-amz-if-match-last-modified-time'),
  });
  const bucket = bucketOf(request);
  const path = findPath(request.key ?? '');
  const versionId = request.query.get('versionId');
  if (path === undefined) return { status: 204 };
  await deleteOne(operation, { bucket, path }, { versionId, condition });
  return { status: 204, headers: { 'x-amz-version-id': versionId } };
}

/** The condition of a deletion, as in S3's deletions in a `DirectoryBucket`. */
interface Condition {
  readonly etag: string | undefined;
  readonly size: number | undefined;
  /** Whole seconds. */
  readonly modified: number | undefined;
}

type SentCondition = { readonly [Name in keyof Condition]: string | undefined };

/** Returns undefined if no condition is sent; throws InvalidArgument. */
function parseCondition({ etag, size, modified }: SentCondition): Condition | undefined {
  if (etag === undefined && size === undefined && modified === undefined) return undefined;
  if (size !== undefined && !/^\d{1,15}$/.test(size)) {
    throw new S3Error('InvalidArgument', `The size ${size.slice(0, 80)} is not a number of bytes.`);
  }
  const time = modified === undefined ? undefined : Date.parse(modified);
  if (Number.isNaN(time)) {
    const words = `The modification time ${modified?.slice(0, 80)} is not a date: send one as in`;
    throw new S3Error('InvalidArgument', `${words} Last-Modified.`);
  }
  return {
    etag,
    size: size === undefined ? undefined : Number(size),
    modified: time === undefined ? undefined : Math.floor(time / 1_000),
  };
}

function checkCondition(object: StoredObject, { etag, size, modified }: Condition): void {
  if (etag !== undefined && !namesEtag(etag, object.etag)) throw failed('If-Match');
  if (size !== undefined && size !== object.size) throw failed('x-amz-if-match-size');
  const isMeant =
    modified === undefined || modified === Math.floor(Number(object.modified) / 1_000);
  if (!isMeant) throw failed('x-amz-if-match-last-modified-time');
}

type Which = Pick<Doomed, 'versionId' | 'condition'>;

/** Returns without an error if the object does not exist, whatever the condition is. */
async function deleteOne(operation: Operation, file: FileName, which: Which): Promise<void> {
  const { account, signal } = operation;
  const { versionId, condition } = which;
  const bypassGovernance = bypassesGovernance(operation.request) || undefined;
  if (versionId === undefined && condition === undefined) {
    await unlessMissing(account.storage.remove(file, { bypassGovernance, signal }));
    return;
  }
  const found = condition && (await unlessMissing(findObject(operation, file, versionId)));
  if (condition !== undefined && found === undefined) return;
  if (condition !== undefined && found !== undefined) checkCondition(found, condition);
  if (versionId === undefined) {
    // If the object is replaced meanwhile, the service refuses the deletion.
    const ifMatch = found && `"${found.record.etag}"`;
    await unlessMissing(account.storage.remove(file, { ifMatch, bypassGovernance, signal }));
    return;
  }
  // A newer version may have reused the number, so `findRecord` compares the whole id.
  const { record } = found ?? (await unlessMissing(findRecord(operation, file, versionId))) ?? {};
  if (record === undefined) return;
  const erasure = { ...file, version: record.version, bypassGovernance, signal };
  await unlessMissing(account.storage.versions.erase(erasure));
}

interface Doomed {
  readonly key: string;
  readonly versionId: string | undefined;
  readonly condition: Condition | undefined;
}

/** Maximum number of concurrent single deletions of one request. */
const deletionsAtOnce = 8;

async function deleteObjects(operation: Operation): Promise<Answer> {
  const bucket = bucketOf(operation.request);
  const { doomed, isQuiet } = readDeletion(await readSmallBody(operation));
  const plain = doomed.filter(isPlain);
  const keys = new Map(plain.map(({ key }) => [findPath(key), key]));
  const paths = [...keys.keys()].filter((path) => path !== undefined);
  const faults = new Map<Doomed | string, S3Error>();
  const { storage } = operation.account;
  if (paths.length > 0) {
    const bypassGovernance = bypassesGovernance(operation.request) || undefined;
    const wanted = { bucket, paths, bypassGovernance, signal: operation.signal };
    for await (const { path, error } of storage.removeAll(wanted)) {
      const isGone = error === undefined || isStorageError(error, 'NoSuchFile');
      if (!isGone) faults.set(keys.get(path) ?? '', s3ErrorOf(error));
    }
  }
  const single = doomed.filter((one) => !isPlain(one));
  const left = single.values();
  await inParallel({ concurrency: deletionsAtOnce, signal: operation.signal }, async (signal) => {
    for (const one of left) {
      const path = findPath(one.key);
      if (path === undefined) continue;
      await deleteOne({ ...operation, signal }, { bucket, path }, one).catch((error) => {
        faults.set(one, s3ErrorOf(error));
      });
    }
  });
  const faultOf = (one: Doomed) => faults.get(isPlain(one) ? one.key : one);
  return xmlAnswer(writeXml('DeleteResult', resultOf(doomed, faultOf, isQuiet)));
}

function isPlain({ versionId, condition }: Doomed): boolean {
  return versionId === undefined && condition === undefined;
}

function resultOf(
  doomed: readonly Doomed[],
  faultOf: (one: Doomed) => S3Error | undefined,
  isQuiet: boolean,
): Elements {
  const named = ({ key, versionId }: Doomed) => ({ Key: key, VersionId: versionId });
  return {
    Deleted: isQuiet ? [] : doomed.filter((one) => faultOf(one) === undefined).map(named),
    Error: doomed.flatMap((one) => {
      const fault = faultOf(one);
      return fault ? [{ ...named(one), Code: fault.code, Message: fault.message }] : [];
    }),
  };
}

function readDeletion(bytes: Uint8Array): { doomed: readonly Doomed[]; isQuiet: boolean } {
  const root = readXml(bytes, 'Delete', tagsMax);
  const objects = elementsOf(root, 'Object');
  const doomed = objects.map((object) => {
    const key = textOf(object, 'Key');
    if (key === undefined || key === '') {
      throw new S3Error('MalformedXML', 'Each <Object> of <Delete> must have a <Key>.');
    }
    const condition = parseCondition({
      etag: textOf(object, 'ETag') || undefined,
      size: textOf(object, 'Size') || undefined,
      modified: textOf(object, 'LastModifiedTime') || undefined,
    });
    return { key, versionId: textOf(object, 'VersionId') || undefined, condition };
  });
  if (doomed.length === 0 || doomed.length > keysMax) {
    throw new S3Error('MalformedXML', `<Delete> must have 1 to ${keysMax} <Object>.`);
  }
  return { doomed, isQuiet: textOf(root, 'Quiet') === 'true' };
}
