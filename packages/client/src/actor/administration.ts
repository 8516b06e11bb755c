// Manages buckets, API keys, creators, rotations and well-known texts through actor calls.

import { Principal } from '@icp-sdk/core/principal';
import { pageSizeMax } from '../../../wire/src/limits.ts';
import type { AdministrationOperations } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type { BucketChange, BucketMember, BucketOptions, BucketRecord } from '../types/buckets.ts';
import type { EndToEndSettings } from '../types/end-to-end.ts';
import type { KeyRequest } from '../types/keys.ts';
import type { RetentionRule } from '../types/retention.ts';
import type { BucketRule } from '../types/rules.ts';
import type { AccessChange, Budget, RootKeySource } from '../types/service.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { bucketMode } from './bucket-mode.ts';
import {
  bucketRecordOf,
  keyRecordOf,
  listedKeyOf,
  optional,
  optionals,
  optionalTime,
  ruleRecordOf,
} from './candid-records.ts';
import type { CandidBucket } from './candid-types.ts';
import { call, type Service } from './connection.ts';
import { journalCalls } from './journal.ts';
import { signedCode } from './signed-interface.ts';
import { subscriptionCalls } from './subscriptions.ts';

export const administrationCalls: ActorCalls<AdministrationOperations> = {
  ...journalCalls,
  ...subscriptionCalls,
  createBucket: calling(
    ({ actor }, { id, ...options }) => actor.createBucket(id, [optionsOf(options)]),
    (bucket, options) => known(bucket, options),
  ),
  getBucket: calling(({ actor, key }, id) => actor.getBucket(id, key), bucketRecordOf),
  getSignedBucket: calling(
    ({ signedQueries }, id) => signedQueries().getBucket(id, []),
    bucketRecordOf,
  ),
  listBuckets: calling(
    ({ actor }, page) => actor.listBuckets([BigInt(page)], [BigInt(pageSizeMax)]),
    ({ items, hasMore }) => ({ items: items.map(bucketRecordOf), hasMore }),
  ),
  updateBucket: calling(
    ({ actor }, { id, ...change }) => actor.updateBucket(changeOf(id, change)),
    (bucket, change) => known(bucket, change),
  ),
  deleteBucket: calling(
    ({ actor }, { id, isForced }) => actor.deleteBucket(id, [{ force: [isForced] }]),
    nothing,
  ),
  getBucketMode: bucketMode,
  getBucketIdentity: calling(
    ({ actor }, { bucket, epoch, transportPublicKey }) =>
      actor.getBucketIdentity(bucket, [BigInt(epoch)], transportPublicKey),
    ({ epoch, recipient, encryptedKey, publicKey, keyName, proxy }) => ({
      epoch: Number(epoch),
      recipient: recipient[0],
      encryptedKey: Uint8Array.from(encryptedKey),
      publicKey: Uint8Array.from(publicKey),
      keyName,
      proxy: proxy[0]?.toUint8Array(),
    }),
  ),
  setBucketRecipient: calling(
    ({ actor }, { bucket, epoch, recipient }) =>
      actor.setBucketRecipient(bucket, BigInt(epoch), recipient),
    bucketRecordOf,
  ),
  rotateBucketIdentity: calling(
    ({ actor }, bucket) => actor.rotateBucketIdentity(bucket),
    bucketRecordOf,
  ),
  getRules: calling(
    ({ actor, key }, bucket) => actor.getRules(bucket, key),
    (rules) => rules.map(ruleRecordOf),
  ),
  getSignedRules: calling(
    ({ signedQueries }, bucket) => signedQueries().getRules(bucket, []),
    (rules) => rules.map(ruleRecordOf),
  ),
  setRules: calling(
    ({ actor }, { bucket, rules }) => actor.setRules(bucket, rules.map(sentRule)),
    (rules) => rules.map(ruleRecordOf),
  ),
  createKey,
  listKeys: calling(
    ({ actor }, bucket) => actor.listApiKeys(bucket),
    (keys) => keys.map(listedKeyOf),
  ),
  listSignedKeys: calling(
    ({ signedQueries }, bucket) => signedQueries().listApiKeys(bucket),
    (keys) => keys.map(listedKeyOf),
  ),
  revokeKey: calling(({ actor }, id) => actor.revokeApiKey(id), nothing),
  updateAccess: calling(
    ({ actor }, change) => actor.updateAccess(accessChangeOf(change)),
    (principals) => principals.map((principal) => principal.toText()),
  ),
  rotateBucketKey: calling(({ actor }, bucket) => actor.rotateBucketKey(bucket), nothing),
  rotateRootKey: calling(
    ({ actor }, source) => actor.rotateRootKey(optional(source && rootKeyVariant(source))),
    nothing,
  ),
  getCode: (service) => signedCode(service),
  setWellKnown: calling(({ actor }, { name, body, contentType }) => {
    const text = body === undefined ? undefined : { contentType: optional(contentType), body };
    return actor.setWellKnown({ name, content: optional(text) });
  }, nothing),
  listWellKnown: calling(
    ({ actor }) => actor.listWellKnown(),
    (texts) => texts,
  ),
};

function sentRule({ id, isEnabled = true, ...rule }: BucketRule) {
  const { prefix, tag, deleteAfterDays, keepVersions } = rule;
  const { eraseVersionsAfterDays, endUploadsAfterHours } = rule;
  const places = optionals({ prefix, tag });
  const files = optionals({ deleteAfterDays, endUploadsAfterHours });
  const versions = optionals({ keepVersions, eraseVersionsAfterDays });
  return { id, isEnabled, ...places, ...files, ...versions };
}

/** Returns the Candid variant of a source. */
export function rootKeyVariant(source: RootKeySource) {
  if (source === 'stored') return { stored: null };
  const { vetkd, proxy } = source;
  // Earlier services know only this form
  if (proxy === undefined) return { vetkd };
  const asker = proxy === null ? undefined : principalOf(proxy);
  return { vetkdBy: { keyName: vetkd, proxy: optional(asker) } };
}

/** Throws Unsupported if an earlier service has ignored an option that it does not know. */
function known(bucket: CandidBucket, options: BucketOptions): BucketRecord {
  const { isSite, isListed, endToEnd, retention = [] } = options;
  if (retention.length > 0 && bucket.retention.length === 0) {
    throw new StorageError('Unsupported', 'The service does not support retention; upgrade it.');
  }
  if (isSite && bucket.isSite.length === 0) {
    throw new StorageError('Unsupported', 'The service does not support sites; upgrade it.');
  }
  if (isListed && bucket.isListed.length === 0) {
    throw new StorageError('Unsupported', 'The service does not support public lists; upgrade it.');
  }
  if (endToEnd !== undefined && bucket.endToEnd.length === 0) {
    throw new StorageError(
      'Unsupported',
      'The service does not support end-to-end buckets; upgrade it.',
    );
  }
  return bucketRecordOf(bucket);
}

async function createKey(service: Service, request: KeyRequest) {
  const { prefix, expiresAt, ...rest } = request;
  const { updatesPerHour, bytesPerHour, maxFileBytes, maxFiles, ...named } = rest;
  const key = await call(undefined, () =>
    service.actor.createApiKey({
      ...{ ...named, expiresAt: optionalTime(expiresAt) },
      ...optionals({ prefix, updatesPerHour, bytesPerHour, maxFileBytes, maxFiles }),
    }),
  );
  const isLimited = (updatesPerHour ?? 0) > 0 || (bytesPerHour ?? 0) > 0;
  const isIgnored = isLimited && !(key.updatesPerHour[0] || key.bytesPerHour[0]);
  if (prefix && key.prefix.length === 0) await revokeUnlimited(service, key.id, 'prefix');
  if (isIgnored) await revokeUnlimited(service, key.id, 'budget');
  return { ...keyRecordOf(key), secret: key.secret, linkPage: key.linkPage?.[0] };
}

/** Revokes a key that version 0.1.0 created without the requested limit, and throws Unsupported. */
async function revokeUnlimited({ actor }: Service, id: string, option: string): Promise<never> {
  await call(undefined, () => actor.revokeApiKey(id));
  throw new StorageError(
    'Unsupported',
    `The service's version does not support API keys with a ${option}, so the new key was revoked. ` +
      `Upgrade the service, or omit the ${option}.`,
  );
}

function optionsOf(options: BucketOptions) {
  const { isPublic, isSite, isListed, endToEnd } = options;
  const { quotaBytes, quotaFiles, keepVersionsDays } = options;
  return {
    ...optionals({ isPublic, isSite, isListed, quotaBytes, quotaFiles, keepVersionsDays }),
    endToEnd: optional(endToEnd && settingsOf(endToEnd)),
    retention: optional(options.retention?.map(ruleOf)),
  };
}

function ruleOf({ prefix, mode, days }: RetentionRule) {
  return { prefix: optional(prefix), mode, days: BigInt(days) };
}

function settingsOf({ usesVetKeys, sealsNames, recipients }: EndToEndSettings) {
  return optionals({ usesVetKeys, sealsNames, recipients });
}

function changeOf(bucketId: string, change: BucketChange) {
  const { isEndToEnd } = change;
  const owner = change.owner === undefined ? undefined : principalOf(change.owner);
  const addMembers = change.addMembers?.map(memberOf);
  const removeMembers = change.removeMembers?.map(principalOf);
  const members = optionals({ owner, addMembers, removeMembers, isEndToEnd });
  return { bucketId, ...optionsOf(change), ...members };
}

function memberOf({ principal, role, name }: BucketMember) {
  return { principal: principalOf(principal), role, name: optional(name) };
}

function principalOf(text: string): Principal {
  try {
    return Principal.fromText(text);
  } catch (cause) {
    throw new StorageError('InvalidArgument', `"${text}" is not a principal.`, { cause });
  }
}

export function accessChangeOf(change: AccessChange) {
  return optionals({
    allow: change.allow?.map(principalOf),
    disallow: change.disallow?.map(principalOf),
    anonymousUpdates: sizesOf(change.anonymousUpdates),
    linkUpdates: sizesOf(change.linkUpdates),
    refusals: sizesOf(change.refusals),
    derivations: sizesOf(change.derivations),
  });
}

function sizesOf(budget: Budget | undefined) {
  return budget && { burst: BigInt(budget.burst), perMinute: BigInt(budget.perMinute) };
}
