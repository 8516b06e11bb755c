// The configuration of Object Lock, and the retention and legal hold of single objects. A bucket's
// default retention is its rule without a prefix; rules with prefixes, which S3 lacks, stay.

import type { RetentionMode, RetentionRule } from '../../../client/src/types/retention.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import {
  bypassesGovernance,
  hasLocks,
  parseMode,
  parseTime,
  requireFuture,
  requireLocks,
  retentionDaysMax,
} from '../object-lock.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { parseVersionId } from '../version-id.ts';
import { elementsOf, type ReadElement, readXml, requireKnown, textOf } from '../xml/read.ts';
import { writeXml } from '../xml/write.ts';
import { bucketOf, findRecord, placeOf, readSmallBody } from './common.ts';

const parameters = ['versionId'];

export const objectLockRoutes: Readonly<Record<string, Route>> = {
  'GET bucket?object-lock': { run: getConfiguration },
  'PUT bucket?object-lock': { run: putConfiguration, isChange: true },
  'GET object?retention': { run: getRetention, parameters },
  'PUT object?retention': { run: putRetention, parameters, isChange: true },
  'GET object?legal-hold': { run: getLegalHold, parameters },
  'PUT object?legal-hold': { run: putLegalHold, parameters, isChange: true },
};

const root = 'ObjectLockConfiguration';

function isDefault({ prefix = '' }: RetentionRule): boolean {
  return prefix === '';
}

async function getConfiguration({ account, request }: Operation): Promise<Answer> {
  const record = await account.storage.buckets.get(bucketOf(request));
  if (!hasLocks(record)) {
    const message = 'Object Lock configuration does not exist for this bucket';
    throw new S3Error('ObjectLockConfigurationNotFoundError', message);
  }
  const rule = record.retention?.find(isDefault);
  const Rule = rule && {
    DefaultRetention: { Mode: rule.mode.toUpperCase(), Days: rule.days },
  };
  return xmlAnswer(writeXml(root, { ObjectLockEnabled: 'Enabled', Rule }));
}

async function putConfiguration(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const bucket = bucketOf(request);
  const rule = defaultRuleIn(readXml(await readSmallBody(operation), root));
  const { buckets } = account.storage;
  if (!hasLocks(await buckets.get(bucket))) {
    throw new S3Error(
      'InvalidBucketState',
      "Versioning must be 'Enabled' on the bucket to apply an Object Lock configuration.",
    );
  }
  // A signed reply: a node that conceals rules with prefixes in its answer would remove them.
  const { retention = [] } = await buckets.update(bucket, {});
  const others = retention.filter((one) => !isDefault(one));
  await buckets.update(bucket, { retention: [...(rule ? [rule] : []), ...others] });
  return { status: 200 };
}

/** Returns undefined if new objects get no retention. */
function defaultRuleIn(sent: ReadElement): RetentionRule | undefined {
  requireKnown(sent, root, ['ObjectLockEnabled', 'Rule']);
  if (textOf(sent, 'ObjectLockEnabled') !== 'Enabled') {
    throw malformed(root, 'must have <ObjectLockEnabled>Enabled</ObjectLockEnabled>');
  }
  const [rule, second] = elementsOf(sent, 'Rule');
  if (rule === undefined) return undefined;
  requireKnown(rule, 'Rule', ['DefaultRetention']);
  const [retention] = elementsOf(rule, 'DefaultRetention');
  requireKnown(retention, 'DefaultRetention', ['Mode', 'Days', 'Years']);
  const mode = parseMode(textOf(retention, 'Mode'));
  if (mode === undefined || second !== undefined) {
    throw malformed(root, 'must have one <Rule> with a <Mode>, GOVERNANCE or COMPLIANCE');
  }
  return { mode, days: daysOf(retention) };
}

const daysPerYear = 365;

function daysOf(retention: ReadElement | undefined): number {
  const [days, years] = [textOf(retention, 'Days'), textOf(retention, 'Years')];
  const text = days ?? years ?? '';
  if ((days === undefined) === (years === undefined) || !/^-?\d{1,9}$/.test(text)) {
    throw malformed('DefaultRetention', 'must have either <Days> or <Years>, a whole number');
  }
  const count = Number(text) * (days === undefined ? daysPerYear : 1);
  if (count >= 1 && count <= retentionDaysMax) return count;
  throw new S3Error(
    'InvalidRetentionPeriod',
    `The default retention must be 1 to ${retentionDaysMax} days; got ${count}.`,
  );
}

/**
 * Returns the object's record, and the number of the version that the request names. A change
 * without a number is of the present version: a node could answer with the number of another one.
 */
async function findLocked(operation: Operation) {
  const { request } = operation;
  const versionId = request.query.get('versionId');
  const { record } = await findRecord(operation, placeOf(request), versionId);
  return { record, version: parseVersionId(versionId)?.number };
}

async function getRetention(operation: Operation): Promise<Answer> {
  const { record } = await findLocked(operation);
  const { mode, retainUntil } = record.retention ?? {};
  if (mode !== undefined) {
    const content = { Mode: mode.toUpperCase(), RetainUntilDate: retainUntil };
    return xmlAnswer(writeXml('Retention', content));
  }
  await requireLocks(operation.account, bucketOf(operation.request));
  throw new S3Error('NoSuchObjectLockConfiguration', 'The object has no retention.');
}

async function putRetention(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const sent = retentionIn(readXml(await readSmallBody(operation), 'Retention'));
  await requireLocks(account, bucketOf(request));
  const { record, version } = await findLocked(operation);
  const bypassGovernance = bypassesGovernance(request);
  const { mode, retainUntil = '' } = record.retention ?? {};
  const isGoverned = mode === 'governance' && Date.parse(retainUntil) > Date.now();
  if (sent?.mode === 'compliance' && isGoverned && !bypassGovernance) {
    throw new S3Error(
      'AccessDenied',
      'The object is retained in GOVERNANCE mode: changing the mode needs ' +
        'x-amz-bypass-governance-retention: true.',
    );
  }
  const options = { version, bypassGovernance };
  const { retention } = account.storage;
  const name = placeOf(request);
  await (sent === undefined
    ? retention.end(name, options)
    : retention.set(name, { ...options, ...sent }));
  return { status: 200 };
}

/** Returns undefined for an empty element, which ends the retention. */
function retentionIn(
  sent: ReadElement,
): { readonly mode: RetentionMode; readonly until: Date } | undefined {
  requireKnown(sent, 'Retention', ['Mode', 'RetainUntilDate']);
  const [sentMode, sentTime] = [textOf(sent, 'Mode'), textOf(sent, 'RetainUntilDate')];
  if (sentMode === undefined && sentTime === undefined) return undefined;
  const [mode, until] = [parseMode(sentMode), parseTime(sentTime)];
  if (mode === undefined || until === undefined) {
    throw malformed(
      'Retention',
      'must have a <Mode>, GOVERNANCE or COMPLIANCE, and a <RetainUntilDate> such as ' +
        '2030-01-01T00:00:00Z',
    );
  }
  requireFuture(until);
  return { mode, until };
}

/** Nothing records that a hold was removed, so an object without one has the status OFF. */
async function getLegalHold(operation: Operation): Promise<Answer> {
  const { record } = await findLocked(operation);
  const isHeld = record.retention?.hold === true;
  if (!isHeld) await requireLocks(operation.account, bucketOf(operation.request));
  return xmlAnswer(writeXml('LegalHold', { Status: isHeld ? 'ON' : 'OFF' }));
}

async function putLegalHold(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const sent = readXml(await readSmallBody(operation), 'LegalHold');
  requireKnown(sent, 'LegalHold', ['Status']);
  const status = textOf(sent, 'Status');
  if (status !== 'ON' && status !== 'OFF') {
    throw malformed('LegalHold', 'must have a <Status>, ON or OFF');
  }
  await requireLocks(account, bucketOf(request));
  const { version } = await findLocked(operation);
  const { retention } = account.storage;
  const name = placeOf(request);
  await (status === 'ON'
    ? retention.hold(name, { version })
    : retention.release(name, { version }));
  return { status: 200 };
}

function malformed(element: string, words: string): S3Error {
  return new S3Error('MalformedXML', `<${element}> ${words}.`);
}
