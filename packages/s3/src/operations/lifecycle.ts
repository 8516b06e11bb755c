// The lifecycle configuration of a bucket: the service's rules in S3's XML. A part of S3's
// configuration that no rule can express is refused, because to ignore it could delete objects that
// it protects, or store ones that it deletes.

import type { BucketRule, StoredRule } from '../../../client/src/types/rules.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { tagOf, wordsOf } from '../tags.ts';
import { elementsOf, type ReadElement, readXml, requireKnown, textOf } from '../xml/read.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, readSmallBody } from './common.ts';

export const lifecycleRoutes: Readonly<Record<string, Route>> = {
  'GET bucket?lifecycle': { run: getLifecycle },
  'PUT bucket?lifecycle': { run: putLifecycle, isChange: true },
  'DELETE bucket?lifecycle': { run: deleteLifecycle, isChange: true },
};

const root = 'LifecycleConfiguration';
const hoursPerDay = 24;

async function getLifecycle({ account, request }: Operation): Promise<Answer> {
  const rules = await account.storage.rules.list(bucketOf(request));
  if (rules.length > 0) return xmlAnswer(writeXml(root, { Rule: rules.map(elementsOfRule) }));
  const message = 'The bucket has no setting "lifecycle".';
  throw new S3Error('NoSuchLifecycleConfiguration', message);
}

async function putLifecycle(operation: Operation): Promise<Answer> {
  const { account, request } = operation;
  const sent = elementsOf(readXml(await readSmallBody(operation), root), 'Rule');
  if (sent.length === 0) throw malformed('needs at least one <Rule>');
  await account.storage.rules.set(bucketOf(request), sent.map(ruleOf));
  return { status: 200 };
}

async function deleteLifecycle({ account, request }: Operation): Promise<Answer> {
  await account.storage.rules.set(bucketOf(request), []);
  return { status: 204 };
}

function elementsOfRule(rule: StoredRule): Elements {
  const { deleteAfterDays, keepVersions, eraseVersionsAfterDays, endUploadsAfterHours } = rule;
  const { prefix, tag: word } = rule;
  const tag = word === undefined ? undefined : tagOf(word);
  const pair = tag && { Key: tag.key, Value: tag.value };
  const isOfBoth = pair !== undefined && prefix !== '';
  const hasVersions = (keepVersions ?? eraseVersionsAfterDays) !== undefined;
  return {
    ID: rule.id,
    Status: rule.isEnabled ? 'Enabled' : 'Disabled',
    Filter: isOfBoth
      ? { And: { Prefix: prefix, Tag: pair } }
      : pair
        ? { Tag: pair }
        : { Prefix: prefix },
    Expiration: deleteAfterDays === undefined ? undefined : { Days: deleteAfterDays },
    NoncurrentVersionExpiration: hasVersions
      ? { NoncurrentDays: eraseVersionsAfterDays, NewerNoncurrentVersions: keepVersions }
      : undefined,
    AbortIncompleteMultipartUpload:
      endUploadsAfterHours === undefined
        ? undefined
        : { DaysAfterInitiation: Math.ceil(endUploadsAfterHours / hoursPerDay) },
  };
}

/** Elements of each part of a rule that the service can express. */
const known = {
  Rule: [
    ...['ID', 'Status', 'Prefix', 'Filter', 'Expiration'],
    ...['NoncurrentVersionExpiration', 'AbortIncompleteMultipartUpload'],
  ],
  Filter: ['Prefix', 'Tag', 'And'],
  And: ['Prefix', 'Tag'],
  Expiration: ['Days'],
  NoncurrentVersionExpiration: ['NoncurrentDays'],
  AbortIncompleteMultipartUpload: ['DaysAfterInitiation'],
} as const;

/** Returns the first child with that name; refuses one with an unsupported element. */
function part(parent: ReadElement | undefined, name: keyof typeof known): ReadElement | undefined {
  const [element] = elementsOf(parent, name);
  requireKnown(element, name, known[name]);
  return element;
}

function ruleOf(rule: ReadElement, index: number): BucketRule {
  requireKnown(rule, 'Rule', known.Rule);
  const status = textOf(rule, 'Status');
  if (status !== 'Enabled' && status !== 'Disabled') {
    throw malformed('needs a <Status>, Enabled or Disabled, in each rule');
  }
  const filter = part(rule, 'Filter');
  const both = part(filter, 'And');
  const place = both ?? filter;
  const days = daysOf(part(rule, 'AbortIncompleteMultipartUpload'), 'DaysAfterInitiation');
  return {
    id: textOf(rule, 'ID') || `rule-${index + 1}`,
    isEnabled: status === 'Enabled',
    prefix: textOf(place, 'Prefix') ?? textOf(rule, 'Prefix'),
    tag: tagIn(place),
    deleteAfterDays: daysOf(part(rule, 'Expiration'), 'Days'),
    eraseVersionsAfterDays: daysOf(part(rule, 'NoncurrentVersionExpiration'), 'NoncurrentDays'),
    endUploadsAfterHours: days === undefined ? undefined : days * hoursPerDay,
  };
}

function tagIn(place: ReadElement | undefined): string | undefined {
  const tags = elementsOf(place, 'Tag').map((tag) => {
    return { key: textOf(tag, 'Key') ?? '', value: textOf(tag, 'Value') ?? '' };
  });
  if (tags.length > 1)
    throw new S3Error('NotImplemented', 'A rule with several tags is not supported.');
  return wordsOf(tags)[0];
}

function daysOf(element: ReadElement | undefined, name: string): number | undefined {
  if (element === undefined) return undefined;
  const text = textOf(element, name) ?? '';
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new S3Error('InvalidArgument', `<${name}> must be a whole number of days from 1 on.`);
}

function malformed(words: string): S3Error {
  return new S3Error('MalformedXML', `<${root}> ${words}.`);
}
