// Settings of S3 that buckets and objects of the service never have. A request for one gets S3's
// own answer for an absent setting, so that tools that check settings first can continue. Deleting
// an absent setting succeeds, as in S3. Storing one has no route, because it would have no effect.

import { type Answer, xmlAnswer } from '../answer.ts';
import type { Handler, Operation, Route } from '../operation.ts';
import { type S3Code, S3Error } from '../s3-error.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { requireBucket } from './common.ts';

/** S3's error code for a bucket without the setting, by the name in the query. */
const missingCodes = {
  policy: 'NoSuchBucketPolicy',
  policyStatus: 'NoSuchBucketPolicy',
  encryption: 'ServerSideEncryptionConfigurationNotFoundError',
  tagging: 'NoSuchTagSet',
  publicAccessBlock: 'NoSuchPublicAccessBlockConfiguration',
  ownershipControls: 'OwnershipControlsNotFoundError',
  website: 'NoSuchWebsiteConfiguration',
  replication: 'ReplicationConfigurationNotFoundError',
} as const satisfies Readonly<Record<string, S3Code>>;

/** A setting without a deletion in S3. */
const undeletable = 'policyStatus';

/** Documents by which S3 reports that a setting is absent. */
const documents: Readonly<Record<string, readonly [root: string, content: Elements]>> = {
  logging: ['BucketLoggingStatus', {}],
  notification: ['NotificationConfiguration', {}],
  accelerate: ['AccelerateConfiguration', {}],
  requestPayment: ['RequestPaymentConfiguration', { Payer: 'BucketOwner' }],
};

/** Settings of which a bucket may have several, each with an id. */
const lists: Readonly<Record<string, string>> = {
  analytics: 'ListBucketAnalyticsConfigurationResult',
  inventory: 'ListInventoryConfigurationsResult',
  metrics: 'ListMetricsConfigurationsResult',
  'intelligent-tiering': 'ListBucketIntelligentTieringConfigurationsOutput',
};

export const absentSettingRoutes: Readonly<Record<string, Route>> = Object.fromEntries([
  ...Object.entries(missingCodes).map(([name, code]) => [
    `GET bucket?${name}`,
    { run: refusing(code, `The bucket has no setting "${name}".`) },
  ]),
  ...Object.keys(missingCodes)
    .filter((name) => name !== undeletable)
    .map((name) => [`DELETE bucket?${name}`, { run: deleteAbsent, isChange: true }]),
  ...Object.entries(documents).map(([name, [root, content]]) => [
    `GET bucket?${name}`,
    { run: answering(root, content) },
  ]),
  ...Object.entries(lists).map(([name, root]) => [
    `GET bucket?${name}`,
    { run: listing(root), parameters: ['id', 'continuation-token'] },
  ]),
]);

function refusing(code: S3Code, message: string): Handler {
  return async (operation) => {
    await requireBucket(operation);
    throw new S3Error(code, message);
  };
}

async function deleteAbsent(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  return { status: 204 };
}

function answering(root: string, content: Elements): Handler {
  return async (operation) => {
    await requireBucket(operation);
    return xmlAnswer(writeXml(root, content));
  };
}

function listing(root: string): Handler {
  return async (operation) => {
    await requireBucket(operation);
    if (operation.request.query.has('id')) {
      throw new S3Error('NoSuchConfiguration', 'The bucket has no configuration of this id.');
    }
    return xmlAnswer(writeXml(root, { IsTruncated: false }));
  };
}
