// DeleteObject and DeleteObjects. What is not there is gone: that is no error.

import type { FileName } from '../../../client/src/interface.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { findPath } from '../keys.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { s3ErrorOf } from '../storage-errors.ts';
import { elementsOf, readXml, textOf } from '../xml/read.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, findRecord, readSmallBody, unlessMissing } from './common.ts';

const keysMax = 1_000;

export const deletionRoutes: Readonly<Record<string, Route>> = {
  'DELETE object': { run: deleteObject, parameters: ['versionId'], isChange: true },
  'POST bucket?delete': { run: deleteObjects, isChange: true },
};

async function deleteObject(operation: Operation): Promise<Answer> {
  const { request } = operation;
  const isConditional = ['if-match', 'x-amz-if-match-size', 'x-amz-if-match-last-modified-time'];
  if (isConditional.some((name) => request.header(name) !== undefined)) {
    throw new S3Error('NotImplemented', 'Objects are deleted without conditions.');
  }
  const bucket = bucketOf(request);
  const path = findPath(request.key ?? '');
  const versionId = request.query.get('versionId');
  if (path === undefined) return { status: 204 };
  if (versionId === undefined) {
    await unlessMissing(operation.account.storage.remove({ bucket, path }, operation));
  } else {
    await deleteVersion(operation, { bucket, path }, versionId);
  }
  return { status: 204, headers: { 'x-amz-version-id': versionId } };
}

/**
 * The one that is there is removed first: of a bucket that keeps versions it is a former one. What
 * has the number of one that has gone is another.
 */
async function deleteVersion(
  operation: Operation,
  file: FileName,
  versionId: string,
): Promise<void> {
  const { account, signal } = operation;
  const { storage } = account;
  const found = await unlessMissing(findRecord(operation, file, versionId));
  if (found === undefined) return;
  if (found.version === undefined) await unlessMissing(storage.remove(file, { signal }));
  const { version } = found.record;
  await unlessMissing(storage.eraseVersions({ ...file, version, signal }));
}

interface Doomed {
  readonly key: string;
  readonly versionId: string | undefined;
}

async function deleteObjects(operation: Operation): Promise<Answer> {
  const bucket = bucketOf(operation.request);
  const { doomed, isQuiet } = readDeletion(await readSmallBody(operation));
  const plain = doomed.filter(({ versionId }) => versionId === undefined);
  const keys = new Map(plain.map(({ key }) => [findPath(key), key]));
  const paths = [...keys.keys()].filter((path) => path !== undefined);
  const faults = new Map<Doomed | string, S3Error>();
  const { storage } = operation.account;
  if (paths.length > 0) {
    const wanted = { bucket, paths, signal: operation.signal };
    for await (const { path, error } of storage.removeAll(wanted)) {
      const isGone = error === undefined || isStorageError(error, 'NoSuchFile');
      if (!isGone) faults.set(keys.get(path) ?? '', s3ErrorOf(error));
    }
  }
  for (const one of doomed) {
    const path = findPath(one.key);
    if (one.versionId === undefined || path === undefined) continue;
    await deleteVersion(operation, { bucket, path }, one.versionId).catch((error) => {
      faults.set(one, s3ErrorOf(error));
    });
  }
  const faultOf = (one: Doomed) => faults.get(one.versionId === undefined ? one.key : one);
  return xmlAnswer(writeXml('DeleteResult', resultOf(doomed, faultOf, isQuiet)));
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
  const root = readXml(bytes, 'Delete');
  const objects = elementsOf(root, 'Object');
  const doomed = objects.map((object) => {
    const key = textOf(object, 'Key');
    if (key === undefined || key === '') {
      throw new S3Error('MalformedXML', 'Each <Object> of <Delete> has a <Key>.');
    }
    const isConditional = ['ETag', 'LastModifiedTime', 'Size'].some((name) => textOf(object, name));
    if (isConditional) {
      throw new S3Error('NotImplemented', 'Objects are deleted without conditions.');
    }
    return { key, versionId: textOf(object, 'VersionId') || undefined };
  });
  if (doomed.length === 0 || doomed.length > keysMax) {
    throw new S3Error('MalformedXML', `<Delete> has 1 to ${keysMax} times <Object>.`);
  }
  return { doomed, isQuiet: textOf(root, 'Quiet') === 'true' };
}
