// Buckets: list, create, describe and delete.

import { isStorageError } from '../../../client/src/storage-error.ts';
import type { Account } from '../account.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { compareNames } from '../listing.ts';
import { requireLocks } from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import { readXml, textOf } from '../xml/read.ts';
import { writeXml } from '../xml/write.ts';
import { bucketOf, numberOf, owner, readSmallBody, requireBucket } from './common.ts';

/** Without `x-amz-`. */
const lockField = 'bucket-object-lock-enabled';

export const bucketRoutes: Readonly<Record<string, Route>> = {
  'GET service': {
    run: listBuckets,
    parameters: ['prefix', 'max-buckets', 'continuation-token', 'bucket-region'],
  },
  'HEAD bucket': { run: headBucket },
  'PUT bucket': { run: createBucket, obeys: [lockField], isChange: true },
  'DELETE bucket': { run: deleteBucket, isChange: true },
  'GET bucket?location': { run: getLocation },
  'GET bucket?versioning': { run: getVersioning },
  'PUT bucket?versioning': { run: putVersioning, isChange: true },
};

/** A value for clients that require one. */
const region = 'us-east-1';

const bucketsMax = 10_000;

async function listBuckets({ account, request }: Operation): Promise<Answer> {
  const { query } = request;
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token') || undefined;
  const after = token === undefined ? '' : Buffer.from(token, 'base64url').toString();
  const max = numberOf(query, 'max-buckets') ?? bucketsMax;
  if (max < 1 || max > bucketsMax) {
    throw new S3Error('InvalidArgument', `max-buckets must be 1 to ${bucketsMax}; got ${max}.`);
  }
  const all = await bucketElements(account);
  const found = all
    .filter(({ Name }) => Name.startsWith(prefix) && compareNames(Name, after) > 0)
    .sort((one, other) => compareNames(one.Name, other.Name));
  const shown = found.slice(0, max);
  const last = found.length > max ? shown.at(-1) : undefined;
  return xmlAnswer(
    writeXml('ListAllMyBucketsResult', {
      Owner: owner,
      Buckets: { Bucket: shown },
      ContinuationToken: last && Buffer.from(last.Name).toString('base64url'),
      Prefix: query.has('prefix') ? prefix : undefined,
    }),
  );
}

/** Fails if a volume does not answer: tools would take its buckets for deleted. */
async function bucketElements({ buckets, storage }: Account) {
  // The service does not report to API keys when a bucket was created.
  const CreationDate = new Date(0).toISOString();
  if (buckets !== undefined) return buckets.map((Name) => ({ Name, CreationDate }));
  const elements: { readonly Name: string; readonly CreationDate: string }[] = [];
  for await (const { id, createdAt } of storage.buckets.list()) {
    elements.push({ Name: id, CreationDate: createdAt });
  }
  return elements;
}

async function headBucket(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return { status: 200, headers: { 'x-amz-bucket-region': region } };
}

/** Ignores the region. Leaves an existing bucket of the caller unchanged, as in us-east-1. */
async function createBucket(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const body = await readSmallBody(operation);
  if (body.length > 0) readXml(body, 'CreateBucketConfiguration');
  const bucket = bucketOf(request);
  const isForLocks = lockFlagOf(request);
  try {
    await account.storage.buckets.create(bucket, isForLocks ? { keepVersionsDays: keptDays } : {});
    account.secrets.forget(bucket);
  } catch (error) {
    if (!(await isOwn(operation, error))) throw error;
    if (isForLocks) await requireLocks(account, bucket);
  }
  return { status: 200, headers: { Location: `/${bucket}` } };
}

/** Returns whether objects of the new bucket can be locked, which needs versions. */
function lockFlagOf(request: S3Request): boolean {
  const text = request.header(`x-amz-${lockField}`)?.trim().toLowerCase() ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new S3Error('InvalidArgument', `x-amz-${lockField} must be true or false.`);
}

/** Returns whether the creation failed because the caller, by identity or key, has the bucket. */
async function isOwn(operation: Operation, error: unknown): Promise<boolean> {
  const { account, request } = operation;
  const answers = (asked: Promise<unknown>) =>
    asked.then(
      () => true,
      (failure) => {
        // A bucket of a volume that does not answer may be the caller's.
        if (isStorageError(failure) && failure.isRetryable) throw failure;
        return false;
      },
    );
  if (isStorageError(error, 'BucketExists')) {
    return answers(account.storage.buckets.get(bucketOf(request)));
  }
  // A caller that may not create buckets may still use an existing one.
  const isRefused = isStorageError(error, 'Unsupported', 'AccessDenied', 'Unauthorized');
  return isRefused && answers(requireBucket(operation));
}

async function deleteBucket({ account, request }: Operation): Promise<Answer> {
  await account.storage.buckets.remove(bucketOf(request));
  return { status: 204 };
}

/** Returns the location, which is empty for us-east-1. */
async function getLocation(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return xmlAnswer(writeXml('LocationConstraint', {}));
}

async function getVersioning({ account, request }: Operation): Promise<Answer> {
  const { keepVersionsDays } = await account.storage.buckets.get(bucketOf(request));
  const status = keepVersionsDays > 0 ? 'Enabled' : undefined;
  return xmlAnswer(writeXml('VersioningConfiguration', { Status: status }));
}

/** Days for which a bucket stores versions after versioning is turned on. */
const keptDays = 30;

async function putVersioning(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const bucket = bucketOf(request);
  const root = readXml(await readSmallBody(operation), 'VersioningConfiguration');
  const status = textOf(root, 'Status');
  if (textOf(root, 'MfaDelete') === 'Enabled') {
    throw new S3Error('NotImplemented', 'MFA delete is not supported.');
  }
  const { keepVersionsDays } = await account.storage.buckets.get(bucket);
  const isKept = keepVersionsDays > 0;
  if (status === 'Enabled' && !isKept) {
    await account.storage.buckets.update(bucket, { keepVersionsDays: keptDays });
    account.secrets.forget(bucket);
  } else if (status === 'Suspended' && isKept) {
    throw new S3Error(
      'InvalidBucketState',
      'Versioning cannot be suspended: efs bucket set --keep-versions none turns it off.',
    );
  } else if (status !== 'Enabled' && status !== 'Suspended') {
    throw new S3Error('MalformedXML', '<Status> must be Enabled or Suspended.');
  }
  return { status: 200 };
}
