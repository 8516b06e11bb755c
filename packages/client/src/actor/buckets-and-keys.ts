// Manages buckets and API keys by calls of the actor.

import { Principal } from '@icp-sdk/core/principal';
import { pageSizeMax } from '../../../wire/src/limits.ts';
import type { Administration } from '../connection/transport.ts';
import { StorageError } from '../storage-error.ts';
import type { BucketChange, BucketMember, BucketOptions, BucketRecord } from '../types/buckets.ts';
import { bucketRecordOf, keyRecordOf, listedKeyOf, optional } from './candid-records.ts';
import type { CandidBucket, ServiceActor } from './candid-types.ts';
import { call } from './connection.ts';
import { actorIdentities, endToEndOptionsOf } from './end-to-end.ts';

export function actorBucketsAndKeys(
  actor: ServiceActor,
  apiKey: string | undefined,
): Omit<Administration, 'updateAccess' | 'rotateBucketKey' | 'rotateRootKey'> {
  return {
    ...actorIdentities(actor),
    createBucket: async (id, options) => {
      const created = await call(undefined, () => actor.createBucket(id, [optionsOf(options)]));
      return known(created, options);
    },
    getBucket: async (id) =>
      bucketRecordOf(await call(undefined, () => actor.getBucket(id, optional(apiKey)))),
    async listBuckets(page) {
      const pages = [optional(BigInt(page)), optional(BigInt(pageSizeMax))] as const;
      const { items, hasMore } = await call(undefined, () => actor.listBuckets(...pages));
      return { items: items.map(bucketRecordOf), hasMore };
    },
    updateBucket: async (id, change) => {
      const changed = await call(undefined, () => actor.updateBucket(changeOf(id, change)));
      return known(changed, change);
    },
    async deleteBucket(id, { isForced }) {
      await call(undefined, () => actor.deleteBucket(id, [{ force: [isForced] }]));
    },
    async createKey({ prefix, expiresAt, updatesPerHour, bytesPerHour, ...named }) {
      const expiresAtNs = expiresAt && BigInt(expiresAt.getTime()) * 1_000_000n;
      const limits = { prefix: optional(prefix), expiresAt: optional(expiresAtNs) };
      const budget = {
        updatesPerHour: optional(updatesPerHour === undefined ? undefined : BigInt(updatesPerHour)),
        bytesPerHour: optional(bytesPerHour === undefined ? undefined : BigInt(bytesPerHour)),
      };
      const request = { ...named, ...limits, ...budget };
      const key = await call(undefined, () => actor.createApiKey(request));
      const isLimited = (updatesPerHour ?? 0) > 0 || (bytesPerHour ?? 0) > 0;
      const isIgnored = isLimited && !(key.updatesPerHour[0] || key.bytesPerHour[0]);
      if (prefix && key.prefix.length === 0) await giveUp(actor, key.id, 'prefix');
      if (isIgnored) await giveUp(actor, key.id, 'budget');
      return { ...keyRecordOf(key), secret: key.secret };
    },
    listKeys: async (bucket) =>
      (await call(undefined, () => actor.listApiKeys(bucket))).map(listedKeyOf),
    async revokeKey(id) {
      await call(undefined, () => actor.revokeApiKey(id));
    },
    async setWellKnown({ name, body, contentType }) {
      const text = body === undefined ? undefined : { contentType: optional(contentType), body };
      await call(undefined, () => actor.setWellKnown({ name, content: optional(text) }));
    },
    listWellKnown: () => call(undefined, () => actor.listWellKnown()),
  };
}

/** A service of an earlier version ignores fields that it does not know. */
function known(bucket: CandidBucket, { isSite, endToEnd }: BucketOptions): BucketRecord {
  if (isSite && bucket.isSite.length === 0) {
    throw new StorageError('Unsupported', 'The service does not support sites; upgrade it.');
  }
  if (endToEnd !== undefined && bucket.endToEnd.length === 0) {
    throw new StorageError(
      'Unsupported',
      'The service does not support end-to-end buckets; upgrade it.',
    );
  }
  return bucketRecordOf(bucket);
}

/** Revokes a key that version 0.1.0 made without the requested limit. */
async function giveUp(actor: ServiceActor, id: string, option: string): Promise<never> {
  await call(undefined, () => actor.revokeApiKey(id));
  throw new StorageError(
    'Unsupported',
    `The service's version does not support API keys with a ${option}, so the new key was revoked. ` +
      `Upgrade the service, or omit the ${option}.`,
  );
}

function optionsOf(options: BucketOptions) {
  const { isPublic, isSite, quotaBytes, quotaFiles, keepVersionsDays: days } = options;
  return {
    isPublic: optional(isPublic),
    isSite: optional(isSite),
    quotaBytes: optional(quotaBytes === undefined ? undefined : BigInt(quotaBytes)),
    quotaFiles: optional(quotaFiles === undefined ? undefined : BigInt(quotaFiles)),
    keepVersionsDays: optional(days === undefined ? undefined : BigInt(days)),
    endToEnd: endToEndOptionsOf(options.endToEnd),
  };
}

function changeOf(bucketId: string, change: BucketChange) {
  const { owner, addMembers, removeMembers, isEndToEnd } = change;
  return {
    bucketId,
    ...optionsOf(change),
    isEndToEnd: optional(isEndToEnd),
    owner: optional(owner === undefined ? undefined : principalOf(owner)),
    addMembers: optional(addMembers?.map(memberOf)),
    removeMembers: optional(removeMembers?.map(principalOf)),
  };
}

function memberOf({ principal, role }: BucketMember) {
  return { principal: principalOf(principal), role };
}

export function principalOf(text: string): Principal {
  try {
    return Principal.fromText(text);
  } catch (cause) {
    throw new StorageError('InvalidArgument', `"${text}" is not a principal.`, { cause });
  }
}
