// Buckets: listed, made, looked at and removed.

import { isStorageError } from '../../../client/src/storage-error.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { readXml, textOf } from '../xml/read.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, findObject, owner, placeOf, readSmallBody } from './common.ts';

export const bucketRoutes: Readonly<Record<string, Route>> = {
  'GET service': { run: listBuckets },
  'HEAD bucket': { run: headBucket },
  'PUT bucket': { run: createBucket, isChange: true },
  'DELETE bucket': { run: deleteBucket, isChange: true },
  'GET bucket?location': { run: getLocation },
  'GET bucket?versioning': { run: getVersioning },
  'PUT bucket?versioning': { run: putVersioning, isChange: true },
  'GET bucket?acl': { run: getBucketAcl },
  'GET object?acl': { run: getObjectAcl, parameters: ['versionId'] },
};

/** Clients want one. */
const region = 'us-east-1';

async function listBuckets({ account }: Operation): Promise<Answer> {
  const buckets: Elements[] = (account.buckets ?? []).map((name) => ({
    Name: name,
    // Whoever holds a key alone is not told.
    CreationDate: new Date(0).toISOString(),
  }));
  if (account.buckets === undefined) {
    for await (const { id, createdAt } of account.storage.buckets.list()) {
      buckets.push({ Name: id, CreationDate: createdAt });
    }
  }
  return xmlAnswer(
    writeXml('ListAllMyBucketsResult', { Owner: owner, Buckets: { Bucket: buckets } }),
  );
}

async function headBucket(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return { status: 200, headers: { 'x-amz-bucket-region': region } };
}

/** It is there, and whoever asks may list it. */
async function requireBucket({ account, request, signal }: Operation): Promise<void> {
  await account.storage.listFolder({ bucket: bucketOf(request), limit: 1, signal });
}

/** Where a bucket is to be is not asked: it is where the service is. */
async function createBucket(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const body = await readSmallBody(operation);
  if (body.length > 0) readXml(body, 'CreateBucketConfiguration');
  const bucket = bucketOf(request);
  try {
    await account.storage.buckets.create(bucket);
  } catch (error) {
    const mayBeThere = ['BucketExists', 'Unsupported', 'AccessDenied', 'Unauthorized'];
    const isOwn =
      mayBeThere.some((code) => isStorageError(error, code)) &&
      (await requireBucket(operation).then(
        () => true,
        () => false,
      ));
    if (!isOwn) throw error;
    throw new S3Error('BucketAlreadyOwnedByYou', `Bucket ${bucket} is there already.`);
  }
  return { status: 200, headers: { Location: `/${bucket}` } };
}

async function deleteBucket({ account, request }: Operation): Promise<Answer> {
  await account.storage.buckets.remove(bucketOf(request));
  return { status: 204 };
}

/** That of us-east-1 is empty. */
async function getLocation(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return xmlAnswer(writeXml('LocationConstraint', {}));
}

async function getVersioning({ account, request }: Operation): Promise<Answer> {
  const { keepVersionsDays } = await account.storage.buckets.get(bucketOf(request));
  const status = keepVersionsDays > 0 ? 'Enabled' : undefined;
  return xmlAnswer(writeXml('VersioningConfiguration', { Status: status }));
}

/** Of a bucket that did not keep versions before. */
const keptDays = 30;

async function putVersioning(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const bucket = bucketOf(request);
  const root = readXml(await readSmallBody(operation), 'VersioningConfiguration');
  const status = textOf(root, 'Status');
  if (textOf(root, 'MfaDelete') === 'Enabled') {
    throw new S3Error('NotImplemented', 'There is no MFA delete.');
  }
  const { keepVersionsDays } = await account.storage.buckets.get(bucket);
  const isKept = keepVersionsDays > 0;
  if (status === 'Enabled' && !isKept) {
    await account.storage.buckets.update(bucket, { keepVersionsDays: keptDays });
    account.secrets.forget(bucket);
  } else if (status === 'Suspended' && isKept) {
    throw new S3Error(
      'NotImplemented',
      'Versions are kept for some days, and are not suspended: efs bucket set --keep-versions none.',
    );
  } else if (status !== 'Enabled' && status !== 'Suspended') {
    throw new S3Error('MalformedXML', '<Status> is Enabled or Suspended.');
  }
  return { status: 200 };
}

async function getBucketAcl(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return aclAnswer();
}

async function getObjectAcl(operation: Operation): Promise<Answer> {
  const { request } = operation;
  await findObject(operation, placeOf(request), request.query.get('versionId'));
  return aclAnswer();
}

/** Rights are the service's: S3's lists have their owner alone. */
function aclAnswer(): Answer {
  const grantee = {
    '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
    '@xsi:type': 'CanonicalUser',
    ...owner,
  };
  const grant = { Grantee: grantee, Permission: 'FULL_CONTROL' };
  return xmlAnswer(
    writeXml('AccessControlPolicy', { Owner: owner, AccessControlList: { Grant: grant } }),
  );
}
