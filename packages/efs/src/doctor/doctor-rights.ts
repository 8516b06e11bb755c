// Checks of `efs doctor` with the caller's rights: key, identity, buckets, quota and cycles.

import type { CanisterState } from '../../../client/src/actor/canister-code.ts';
import { createNodeServiceStorage, createNodeStorage } from '../../../client/src/node/storage.ts';
import { actorConnection, type Storage } from '../../../client/src/storage.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { BucketRecord } from '../../../client/src/types/buckets.ts';
import type { StorageIdentity } from '../../../client/src/types/storage-identity.ts';
import { type Configuration, hasIdentity } from '../config/config.ts';
import { sayFailure } from '../output/exit-code.ts';
import { formatBytes } from '../output/output.ts';
import { type DoctorCase, type Finding, failed, faultOf } from './finding.ts';

export const retry = { attemptsMax: 1 };

export interface Caller {
  readonly principal: string;
  readonly identity: StorageIdentity;
  readonly storage: Storage;
}

const callers = new WeakMap<Configuration, Promise<Caller | undefined>>();

/** Opens the actor with the identity, if there is one, and asks for its passphrase once. */
export function openCaller(configuration: Configuration): Promise<Caller | undefined> {
  const known = callers.get(configuration);
  if (known !== undefined) return known;
  const opened = loadCaller(configuration);
  opened.catch(() => {});
  callers.set(configuration, opened);
  return opened;
}

async function loadCaller(configuration: Configuration): Promise<Caller | undefined> {
  const { host, canisterId, front, timeoutMs } = configuration;
  if (!hasIdentity(configuration)) return undefined;
  const { loadIdentity } = await import('../config/load-identity.ts');
  const { identity } = await loadIdentity(configuration);
  const principal = identity.getPrincipal().toText();
  if (host === undefined || canisterId === undefined) {
    throw new Error('The canister to call is unknown: give --canister-id.');
  }
  const common = { host, identity, timeoutMs, retry };
  const storage =
    front === undefined
      ? createNodeStorage({ ...common, canisterId })
      : createNodeServiceStorage({ ...common, front });
  return { principal, identity, storage };
}

/** Returns the state of the only canister; undefined for callers who are not its controllers. */
export async function stateOf(configuration: Configuration): Promise<CanisterState | undefined> {
  const { host, canisterId, timeoutMs } = configuration;
  const caller = await openCaller(configuration);
  if (caller === undefined || host === undefined || canisterId === undefined) return undefined;
  const { openCanisterCode } = await import('../../../client/src/actor/canister-code.ts');
  const { identity } = caller;
  const code = await openCanisterCode(
    actorConnection({ host, canisterId, identity, timeoutMs, retry }),
  );
  return code.state(canisterId).catch(() => undefined);
}

export async function checkCertificates({ configuration }: DoctorCase): Promise<Finding> {
  const { host, canisterId, timeoutMs } = configuration;
  if (host === undefined || canisterId === undefined) {
    return {
      isGood: undefined,
      message: 'The canister id is not in the address: give --canister-id.',
    };
  }
  const storage = createNodeStorage({ host, canisterId, timeoutMs, retry });
  try {
    await storage.status();
    return { isGood: true, message: 'Answers are signed by the network for this canister.' };
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== undefined) {
      return { isGood: false, message: fault.problem, advice: fault.advice };
    }
    const isUntrusted = isStorageError(error, 'Untrusted');
    const advice = isUntrusted
      ? 'Do not trust this address: use https://icp-api.io as --host, and check the clock.'
      : 'Check the address, --host and --canister-id.';
    return { isGood: false, message: sayFailure(error), advice };
  }
}

/** A bucket that hardly exists. Requests for it fail differently with valid and invalid keys. */
const noBucket = 'efsDoctorAsks';

export async function checkKey({ configuration, buckets }: DoctorCase): Promise<Finding> {
  const { url, apiKey, timeoutMs } = configuration;
  if (apiKey === undefined) return { isGood: undefined, message: 'No key is set.' };
  if (url === undefined)
    return { isGood: undefined, message: 'API keys are sent over HTTP only: set --url.' };
  const storage = createNodeStorage({ url, apiKey, timeoutMs, retry });
  const shown = `${apiKey.slice(0, 8)}…`;
  const names = buckets.length === 0 ? [noBucket] : buckets;
  for (const bucket of names) {
    try {
      await storage.listFolder({ bucket, limit: 1 });
    } catch (error) {
      if (bucket === noBucket && isRefusedRight(error)) continue;
      return badKey(shown, bucket, error);
    }
  }
  const extent = buckets.length === 0 ? 'is valid' : `reads ${buckets.join(', ')}`;
  return { isGood: true, message: `${shown} ${extent}.` };
}

function isRefusedRight(error: unknown): boolean {
  return isStorageError(error, 'AccessDenied', 'NoSuchBucket');
}

function badKey(shown: string, bucket: string, error: unknown): Finding {
  if (isStorageError(error, 'InvalidApiKey', 'Unauthorized')) {
    return {
      isGood: false,
      message: `${shown} is not a valid key of this service: it belongs to another service, was revoked, or has expired.`,
      advice: 'Ask an owner of the bucket for a new key: efs key create BUCKET.',
    };
  }
  if (!isRefusedRight(error)) return failed(error);
  return {
    isGood: false,
    message: `${shown} cannot read bucket ${bucket}: ${sayFailure(error)}`,
    advice: `Ask an owner for a key for it: efs key create ${bucket}.`,
  };
}

export async function checkIdentity({ configuration }: DoctorCase): Promise<Finding> {
  const caller = await openCaller(configuration);
  if (caller === undefined) {
    return {
      isGood: undefined,
      message: 'No identity is set, so buckets and keys cannot be managed.',
    };
  }
  return { isGood: true, message: caller.principal };
}

/** Nearly full: the next upload may be refused. */
const fullShare = 0.95;

export async function checkBuckets({ configuration, buckets }: DoctorCase): Promise<Finding> {
  const caller = await openCaller(configuration).catch(() => undefined);
  if (caller === undefined)
    return { isGood: undefined, message: 'Listing buckets needs an identity.' };
  const known = new Map<string, BucketRecord>();
  for await (const bucket of caller.storage.buckets.list()) known.set(bucket.id, bucket);
  const missing = buckets.find((id) => !known.has(id));
  if (missing !== undefined) {
    return {
      isGood: false,
      message: `Bucket ${missing} does not exist, or the identity has no right in it.`,
      advice: `Ask an owner to run: efs member add ${missing} ${caller.principal} --role writer.`,
    };
  }
  const shown =
    buckets.length === 0 ? [...known.values()] : buckets.flatMap((id) => known.get(id) ?? []);
  if (shown.length === 0) return noBuckets(caller);
  const full = shown.find((bucket) => usedShare(bucket) >= fullShare);
  if (full !== undefined) {
    return {
      isGood: false,
      message: `Bucket ${full.id} is nearly full: ${sayUse(full)}.`,
      advice: `Remove files, or ask an owner to raise the quota: efs bucket set ${full.id} --quota BYTES.`,
    };
  }
  const rows = shown.slice(0, shownMax).map((bucket) => sayBucket(bucket, caller.principal));
  const more = shown.length > shownMax ? `, and ${shown.length - shownMax} more` : '';
  return { isGood: true, message: `${rows.join(', ')}${more}.` };
}

const shownMax = 10;

function noBuckets({ principal }: Caller): Finding {
  return {
    isGood: undefined,
    message: 'The identity has no bucket yet, and no role in one.',
    advice:
      `Ask a controller to run efs access allow ${principal}, then create one with efs bucket create ` +
      'NAME; or ask an owner of a bucket to run efs member add.',
  };
}

function sayBucket(bucket: BucketRecord, principal: string): string {
  const member = bucket.members.find((known) => known.principal === principal);
  // Only owners see the list of members, which does not include controllers.
  const role = bucket.owner === principal ? 'owner' : (member?.role ?? 'not the owner');
  const room = bucket.quotaBytes === undefined ? '' : `, ${sayUse(bucket)}`;
  return `${bucket.id} (${role}${room})`;
}

function usedBytes({ byteCount, overheadBytes, versionBytes }: BucketRecord): number {
  return byteCount + overheadBytes + versionBytes;
}

function usedShare(bucket: BucketRecord): number {
  const { quotaBytes, quotaFiles, fileCount } = bucket;
  const ofBytes = quotaBytes === undefined ? 0 : usedBytes(bucket) / quotaBytes;
  const ofFiles = quotaFiles === undefined ? 0 : fileCount / quotaFiles;
  return Math.max(ofBytes, ofFiles);
}

function sayUse(bucket: BucketRecord): string {
  const { quotaBytes, quotaFiles, fileCount } = bucket;
  const bytes =
    quotaBytes === undefined
      ? []
      : [`${formatBytes(usedBytes(bucket))} of ${formatBytes(quotaBytes)}`];
  const files = quotaFiles === undefined ? [] : [`${fileCount} of ${quotaFiles} files`];
  return [...bytes, ...files].join(', ');
}
