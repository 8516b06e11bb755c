// Object Lock: retention and legal holds of objects, as header fields of S3. The service protects
// versions in every bucket; S3 does so in buckets that were made for it, which keep versions. Here
// those are all buckets that keep former versions or retain new files.
//
// The service stores no lock together with an upload, so a write sets it as soon as the object is
// stored. Whatever can be refused is refused before the write.

import { isStorageError } from '../../client/src/storage-error.ts';
import type { BucketRecord } from '../../client/src/types/buckets.ts';
import type { FileName, FileRecord } from '../../client/src/types/files.ts';
import type { Retention, RetentionMode, RetentionRule } from '../../client/src/types/retention.ts';
import type { Account } from './account.ts';
import type { S3Request } from './request.ts';
import { S3Error } from './s3-error.ts';
import { s3ErrorOf } from './storage-errors.ts';

/** Header fields of a write, without `x-amz-`. */
export const lockFields = [
  'object-lock-mode',
  'object-lock-retain-until-date',
  'object-lock-legal-hold',
] as const;

/** The longest retention, as in S3. */
export const retentionDaysMax = 36_500;
const msPerDay = 86_400_000;

const modes: Readonly<Record<string, RetentionMode>> = {
  GOVERNANCE: 'governance',
  COMPLIANCE: 'compliance',
};

/** Returns undefined for a text that is not a mode of S3. */
export function parseMode(text: string | undefined): RetentionMode | undefined {
  return text !== undefined && Object.hasOwn(modes, text) ? modes[text] : undefined;
}

/** Returns the time of ISO 8601; undefined for another text. */
export function parseTime(text: string | undefined): Date | undefined {
  if (
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/.test(text ?? '')
  ) {
    return undefined;
  }
  const time = new Date(text ?? '');
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Throws InvalidArgument for a time that no retention can have. */
export function requireFuture(until: Date): void {
  const ms = until.getTime() - Date.now();
  if (ms > 0 && ms <= retentionDaysMax * msPerDay) return;
  throw new S3Error(
    'InvalidArgument',
    `The retain until date must be in the future, at most ${retentionDaysMax} days from now; got ` +
      `${until.toISOString()}.`,
  );
}

export function bypassesGovernance(request: S3Request): boolean {
  return request.header('x-amz-bypass-governance-retention')?.trim().toLowerCase() === 'true';
}

/** Returns the header fields of an object's lock in answers to Get and Head. */
export function lockHeadersOf({
  retention,
}: Pick<FileRecord, 'retention'>): Record<string, string | undefined> {
  return {
    'x-amz-object-lock-mode': retention?.mode?.toUpperCase(),
    'x-amz-object-lock-retain-until-date': retention?.retainUntil,
    'x-amz-object-lock-legal-hold': retention?.hold === true ? 'ON' : undefined,
  };
}

/** Returns whether objects of the bucket can be locked through S3. */
export function hasLocks({ keepVersionsDays, retention = [] }: BucketRecord): boolean {
  return keepVersionsDays > 0 || retention.length > 0;
}

function noLocks(): S3Error {
  return new S3Error(
    'InvalidRequest',
    'Bucket is missing Object Lock Configuration: turn versioning on (PutBucketVersioning), and ' +
      'objects can be locked.',
  );
}

/** Throws InvalidRequest unless objects of the bucket can be locked. */
export async function requireLocks({ storage }: Account, bucket: string): Promise<void> {
  const record = await knownBucket(storage, bucket);
  if (record !== undefined && !hasLocks(record)) throw noLocks();
}

/** Returns undefined for an API key that may not read the record: the service decides alone. */
async function knownBucket(
  { buckets }: Account['storage'],
  bucket: string,
): Promise<BucketRecord | undefined> {
  try {
    return await buckets.get(bucket);
  } catch (error) {
    if (isStorageError(error, 'Unsupported', 'AccessDenied', 'Unauthorized')) return undefined;
    throw error;
  }
}

/** Parses the lock that a write asks for; undefined without one. Throws InvalidArgument. */
function lockOf(request: S3Request): Retention | undefined {
  const [mode, until, status = 'OFF'] = lockFields.map((name) => {
    return request.header(`x-amz-${name}`)?.trim();
  });
  if (status !== 'ON' && status !== 'OFF') {
    throw new S3Error('InvalidArgument', 'x-amz-object-lock-legal-hold must be ON or OFF.');
  }
  const hold = status === 'ON';
  if (mode === undefined && until === undefined) return hold ? { hold } : undefined;
  const retention = { mode: parseMode(mode), until: parseTime(until) };
  if (retention.mode === undefined || retention.until === undefined) {
    throw new S3Error(
      'InvalidArgument',
      'x-amz-object-lock-mode, GOVERNANCE or COMPLIANCE, and ' +
        'x-amz-object-lock-retain-until-date, a time such as 2030-01-01T00:00:00Z, must be sent ' +
        'together.',
    );
  }
  requireFuture(retention.until);
  return { mode: retention.mode, retainUntil: retention.until.toISOString(), hold };
}

/** Parses the lock of a write, and throws if it is known that the object cannot be locked so. */
export async function lockAsked(
  { account, request }: { readonly account: Account; readonly request: S3Request },
  target: FileName,
): Promise<Retention | undefined> {
  const lock = lockOf(request);
  if (lock === undefined) return undefined;
  const record = await knownBucket(account.storage, target.bucket);
  if (record === undefined) return lock;
  if (!hasLocks(record)) throw noLocks();
  if (record.callerRole !== undefined && record.callerRole !== 'owner') {
    throw new S3Error('AccessDenied', 'Only owners of the bucket may lock objects.');
  }
  requireLonger(lock, ruleOf(record, target.path));
  return lock;
}

/** Returns the bucket's default retention for the path. */
function ruleOf({ retention = [] }: BucketRecord, path: string): RetentionRule | undefined {
  const lengthOf = ({ prefix = '' }: RetentionRule) => prefix.length;
  const matching = retention.filter(({ prefix = '' }) => path.startsWith(prefix));
  return matching.sort((one, other) => lengthOf(other) - lengthOf(one))[0];
}

/** In S3 the request's retention replaces any default; here compliance mode allows none shorter. */
function requireLonger({ mode, retainUntil }: Retention, rule: RetentionRule | undefined): void {
  if (mode === undefined || retainUntil === undefined || rule?.mode !== 'compliance') return;
  const isLonger = Date.parse(retainUntil) >= Date.now() + rule.days * msPerDay;
  if (mode === 'compliance' && isLonger) return;
  throw new S3Error(
    'InvalidRequest',
    `The bucket retains this object in COMPLIANCE mode for ${rule.days} days: send a later time in ` +
      'that mode, or omit the retention.',
  );
}

interface LockedWrite {
  readonly target: FileName;
  readonly record: Pick<FileRecord, 'version'>;
  readonly lock: Retention | undefined;
}

/**
 * Locks an object that has just been stored. Throws an error that says so if the lock fails. The
 * client's disconnection does not abort it.
 */
export async function storeLock(
  { storage }: Account,
  { target, record: { version }, lock }: LockedWrite,
): Promise<void> {
  const { mode, retainUntil, hold } = lock ?? {};
  const { retention } = storage;
  try {
    if (mode !== undefined && retainUntil !== undefined) {
      const until = new Date(retainUntil);
      // The request's retention replaces the bucket's default, as in S3.
      await retention.set(target, { version, mode, until, bypassGovernance: true });
    }
    if (hold === true) await retention.hold(target, { version });
  } catch (cause) {
    const { code, message } = s3ErrorOf(cause);
    throw new S3Error(
      code,
      `The object is stored as version ${version}, but not locked as the request asks: repeat the ` +
        `request, or lock the object by PutObjectRetention and PutObjectLegalHold. ${message}`,
      { cause },
    );
  }
}
