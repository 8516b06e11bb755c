// Conditions of a write in the form of the service, whose entity tags differ from S3's.

import type { FileName } from '../../../client/src/types/files.ts';
import { failed, namesEtag } from '../conditions.ts';
import type { Operation } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { findObject } from './common.ts';

export interface WriteConditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** Throws PreconditionFailed, NoSuchKey for If-Match on a missing object, and NotImplemented. */
export async function writeConditions(
  operation: Pick<Operation, 'account' | 'records' | 'request' | 'signal'>,
  target: FileName,
): Promise<WriteConditions> {
  const { request } = operation;
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match supports only * on writes.');
  }
  const ifMatch = request.header('if-match');
  if (ifMatch === undefined) return { ifNoneMatch };
  const { etag, record } = await findObject(operation, target);
  if (!namesEtag(ifMatch, etag)) throw failed('If-Match');
  // If the object is replaced meanwhile, the service refuses the write.
  return { ifMatch: `"${record.etag}"`, ifNoneMatch };
}
