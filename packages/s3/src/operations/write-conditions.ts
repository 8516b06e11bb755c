// Conditions of what is to be stored, as the service takes them: S3's entity tags are not its own.

import type { FileName } from '../../../client/src/types/files.ts';
import { failed, namesEtag } from '../conditions.ts';
import type { Operation } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { findObject } from './common.ts';

export interface WriteConditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** Throws PreconditionFailed, NoSuchKey where If-Match is of nothing, NotImplemented. */
export async function writeConditions(
  { account, request, signal }: Pick<Operation, 'account' | 'request' | 'signal'>,
  target: FileName,
): Promise<WriteConditions> {
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match supports only * on writes.');
  }
  const ifMatch = request.header('if-match');
  if (ifMatch === undefined) return { ifNoneMatch };
  const { etag, record } = await findObject({ account, signal }, target);
  if (!namesEtag(ifMatch, etag)) throw failed('If-Match');
  // Whatever replaces it meanwhile has the service refuse.
  return { ifMatch: `"${record.etag}"`, ifNoneMatch };
}
