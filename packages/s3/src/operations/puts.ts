// PutObject.

import type { FileRecord } from '../../../client/src/types/files.ts';
import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { versionIdOf } from '../account.ts';
import type { Answer } from '../answer.ts';
import type { Body } from '../body/open-body.ts';
import { checksumHeadersOf, descriptionOf } from '../object-headers.ts';
import { lockAsked, lockFields, storeLock } from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { objectOf } from '../stored-object.ts';
import { isEndToEnd, targetOf } from './common.ts';
import { digestFacts, factsOf, type StreamToStore, storeStream } from './store-stream.ts';
import { writeConditions } from './write-conditions.ts';

/** 5 GiB, as in S3; larger objects need a multipart upload. */
const objectBytesMax = 5 * 1_024 ** 3;

export const putRoute: Route = {
  run: putObject,
  obeys: lockFields,
  isChange: true,
  movesBytes: true,
};

async function putObject(operation: Operation): Promise<Answer> {
  const { request, openBody } = operation;
  const target = targetOf(request);
  const description = descriptionOf(request);
  const lock = await lockAsked(operation, target);
  const conditions = await writeConditions(operation, target);
  const body = openBody();
  requireFitting(body);
  const wanted = { target, conditions, description, body };
  const record = await (body.length <= chunkBytesMax
    ? storeSmall(operation, wanted)
    : storeStream(operation, wanted));
  await storeLock(operation.account, { target, record, lock });
  const { etag } = objectOf(record);
  return {
    status: 200,
    headers: {
      ETag: `"${etag}"`,
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-version-id': await versionIdOf(operation.account, record),
      ...checksumHeadersOf(digestFacts(body).checksum),
    },
  };
}

function requireFitting({ length }: Body): void {
  if (length <= objectBytesMax) return;
  throw new S3Error(
    'EntityTooLarge',
    `One request stores at most ${objectBytesMax} bytes: upload the object in parts.`,
  );
}

async function storeSmall(operation: Operation, wanted: StreamToStore): Promise<FileRecord> {
  const { account, smallPuts } = operation;
  const { target, conditions, description, body } = wanted;
  const bytes = await collect(body);
  const isSealed = await isEndToEnd(account, target.bucket);
  return smallPuts.put(account, target.bucket, {
    path: target.path,
    source: bytes,
    contentType: description.contentType,
    headers: description.headers,
    tags: description.tags,
    metadata: factsOf(description, isSealed ? { size: bytes.length } : digestFacts(body)),
    ...conditions,
  });
}

/** The body yields at most its declared length. */
async function collect({ length, stream }: Body): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let position = 0;
  for await (const piece of stream) {
    bytes.set(piece, position);
    position += piece.length;
  }
  return bytes;
}
