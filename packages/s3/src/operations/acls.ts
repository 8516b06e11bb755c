// Access control lists. The service grants rights to keys and members, so every list has one grant,
// the owner's. A list with the same grant is accepted; others are refused.

import { type Answer, xmlAnswer } from '../answer.ts';
import type { Handler, Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { elementsOf, readXml, textOf } from '../xml/read.ts';
import { writeXml } from '../xml/write.ts';
import { bucketOf, findObject, owner, placeOf, readSmallBody, requireBucket } from './common.ts';

const versioned = ['versionId'];

export const aclRoutes: Readonly<Record<string, Route>> = {
  'GET bucket?acl': { run: getting(requireBucket) },
  'PUT bucket?acl': { run: putting(requireBucket), isChange: true },
  'GET object?acl': { run: getting(requireObject), parameters: versioned },
  'PUT object?acl': { run: putting(requireObject), parameters: versioned, isChange: true },
};

type Requirement = (operation: Operation) => Promise<void>;

async function requireObject(operation: Operation): Promise<void> {
  const { request } = operation;
  await findObject(operation, placeOf(request), request.query.get('versionId'));
}

function getting(require: Requirement): Handler {
  return async (operation) => {
    await require(operation);
    const grantee = {
      '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      '@xsi:type': 'CanonicalUser',
      ...owner,
    };
    const grant = { Grantee: grantee, Permission: 'FULL_CONTROL' };
    return xmlAnswer(
      writeXml('AccessControlPolicy', { Owner: owner, AccessControlList: { Grant: grant } }),
    );
  };
}

/** unsafe-headers.ts checks canned lists and grants in header fields. */
function putting(require: Requirement): Handler {
  return async (operation): Promise<Answer> => {
    const body = await readSmallBody(operation);
    const list = body.length === 0 ? undefined : readXml(body, 'AccessControlPolicy');
    const grants = elementsOf(elementsOf(list, 'AccessControlList')[0], 'Grant');
    const isEmpty = body.length > 0 && grants.length === 0;
    const isOwners = grants.every((grant) => {
      const [grantee] = elementsOf(grant, 'Grantee');
      return textOf(grantee, 'ID') === owner.ID && textOf(grant, 'Permission') === 'FULL_CONTROL';
    });
    if (isEmpty || !isOwners) {
      throw new S3Error(
        'NotImplemented',
        'An access control list can only grant FULL_CONTROL to its owner, efs: share a file by a ' +
          'link, or a bucket by a key (efs link, efs key).',
      );
    }
    await require(operation);
    await refusePublic(operation);
    return { status: 200 };
  };
}

/** Otherwise the caller would believe that a private list hides a public bucket's objects. */
async function refusePublic({ account, request }: Operation): Promise<void> {
  const { isPublic } = await account.storage.buckets.get(bucketOf(request));
  if (!isPublic) return;
  throw new S3Error(
    'NotImplemented',
    `Bucket ${bucketOf(request)} is public, which an access control list cannot change: use efs bucket set --private.`,
  );
}
