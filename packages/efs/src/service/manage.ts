// `efs bucket` and `efs key`: operations of owners and controllers, by actor calls.

import type { BucketOptions, BucketRecord } from '../../../client/src/types/buckets.ts';
import type { EndToEndRecord, EndToEndSettings } from '../../../client/src/types/end-to-end.ts';
import type { KeyRecord, Permission } from '../../../client/src/types/keys.ts';
import type { RetentionRule } from '../../../client/src/types/retention.ts';
import type { Run } from '../config/run.ts';
import { saidOfErasure } from '../files/version-commands.ts';
import { isJson } from '../output/json-output.ts';
import {
  type Column,
  formatBytes,
  formatTable,
  printJson,
  printLine,
  printNote,
} from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime, parseExpiry } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';
import { printRecord } from '../transfers/list.ts';
import { publishRecipient } from './bucket-identity.ts';

interface JsonFlag {
  readonly json?: boolean;
}

const bucketColumns: readonly Column<BucketRecord>[] = [
  { title: 'BUCKET', value: ({ id }) => id },
  { title: 'FILES', value: (bucket) => sayFiles(bucket), isNumber: true },
  { title: 'SIZE', value: ({ byteCount }) => formatBytes(byteCount), isNumber: true },
  { title: 'QUOTA', value: (bucket) => sayQuota(bucket), isNumber: true },
  { title: 'ACCESS', value: accessOf },
  { title: 'CREATED', value: ({ createdAt }) => formatTime(createdAt) },
  { title: 'OWNER', value: ({ owner }) => owner },
];

function sayFiles({ fileCount, quotaFiles }: BucketRecord): string {
  return quotaFiles === undefined ? String(fileCount) : `${fileCount} of ${quotaFiles}`;
}

/** The quota also counts records, so usage exceeds the files' bytes. */
function sayQuota(bucket: BucketRecord): string {
  const { byteCount, overheadBytes, versionBytes, quotaBytes } = bucket;
  if (!quotaBytes) return '–';
  const used = byteCount + overheadBytes + versionBytes;
  return `${Math.ceil((100 * used) / quotaBytes)} % of ${formatBytes(quotaBytes)}`;
}

const keyColumns: readonly Column<KeyRecord>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'BEGINS', value: ({ hint }) => `${hint}…` },
  { title: 'NAME', value: ({ name }) => printable(name) },
  { title: 'BUCKETS', value: ({ buckets }) => buckets.join(',') },
  { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join(',') },
  { title: 'PREFIX', value: ({ prefix }) => printable(prefix ?? '') },
  { title: 'EXPIRES', value: ({ expiresAt }) => (expiresAt ? formatTime(expiresAt) : '–') },
  { title: 'PER HOUR', value: sayBudget },
  { title: 'FILES', value: sayKeyFiles },
];

function sayBudget({ updatesPerHour, bytesPerHour }: KeyRecord): string {
  const parts = [
    updatesPerHour === undefined
      ? []
      : [`${updatesPerHour} update${updatesPerHour === 1 ? '' : 's'}`],
    bytesPerHour === undefined ? [] : [formatBytes(bytesPerHour)],
  ];
  return parts.flat().join(', ') || 'no limit';
}

/** Returns the stored and allowed number of files, and the bytes of each. */
function sayKeyFiles({ maxFiles, fileCount, maxFileBytes }: KeyRecord): string {
  const parts = [
    maxFiles === undefined ? [] : [`${fileCount} of ${maxFiles}`],
    maxFileBytes === undefined ? [] : [`${formatBytes(maxFileBytes)} each`],
  ];
  return parts.flat().join(', ') || '–';
}

function accessOf({ isPublic, isSite, isListed, endToEnd }: BucketRecord): string {
  const access = isPublic ? (isSite ? 'site' : 'public') : 'private';
  const further = [isListed ? ', listed' : '', endToEnd === undefined ? '' : ', end-to-end'];
  return `${access}${further.join('')}`;
}

export async function createBucket(run: Run, id: string, flags: BucketFlags): Promise<void> {
  const { json } = flags;
  // Sites and buckets that everybody may list must be public
  const options = optionsOf(flags.site || flags.listed ? { public: true, ...flags } : flags);
  const bucket = await (await run.manager()).buckets.create(id, options);
  if (bucket.endToEnd === undefined) await run.forgetMode(id);
  await publishRecipient(run, bucket);
  if (json) printJson(bucket);
  else printLine(bucket.id);
  if (bucket.endToEnd !== undefined && !run.isQuiet) printNote(whoOpens(bucket.endToEnd));
}

export async function listBuckets(run: Run, { json }: JsonFlag): Promise<void> {
  const buckets: BucketRecord[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const bucket of (await run.lister()).buckets.list()) buckets.push(bucket);
  } catch (error) {
    if (buckets.length === 0) throw error;
    failure = { error };
  }
  // Several volumes list their buckets one after the other
  buckets.sort((one, other) => (one.id < other.id ? -1 : 1));
  if (json) printJson(buckets);
  else if (buckets.length > 0) printLine(formatTable(buckets, bucketColumns));
  // If one volume fails, the buckets of the others are shown before its error
  if (failure !== undefined) throw failure.error;
}

export interface BucketFlags extends JsonFlag {
  readonly public?: boolean;
  readonly private?: boolean;
  /** --site and --no-site. */
  readonly site?: boolean;
  /** --listed and --no-listed. */
  readonly listed?: boolean;
  readonly quota?: number;
  readonly quotaFiles?: number;
  readonly keepVersions?: number;
  /** --retain, repeatable, and --no-retain. */
  readonly retain?: readonly RetentionRule[] | false;
  /** --end-to-end and --no-end-to-end. */
  readonly endToEnd?: boolean;
  /** --recipient, repeatable, and --no-recipients. */
  readonly recipient?: readonly string[];
  readonly recipients?: boolean;
  readonly vetkeys?: boolean;
  readonly sealNames?: boolean;
}

export async function changeBucket(run: Run, id: string, flags: BucketFlags): Promise<void> {
  const isEndToEnd = flags.endToEnd === false ? false : undefined;
  const change = { ...optionsOf(flags), isEndToEnd };
  const bucket = await (await run.manager()).buckets.update(id, change);
  if (bucket.endToEnd === undefined) await run.forgetMode(id);
  await publishRecipient(run, bucket);
  if (flags.json) printJson(bucket);
  else {
    const retention = bucket.retention?.map(sayRule);
    printRecord({ ...bucket, members: undefined, endToEnd: sayEndToEnd(bucket), retention });
  }
}

function sayRule({ mode, days, prefix = '' }: RetentionRule): string {
  return [mode, String(days), prefix].filter((text) => text !== '').join(':');
}

function optionsOf(flags: BucketFlags): BucketOptions {
  if (flags.public && flags.private) throw new UsageError('Give --public or --private, not both.');
  const isPublic = flags.public ? true : flags.private ? false : undefined;
  const { site: isSite, listed: isListed } = flags;
  const { quota: quotaBytes, quotaFiles, keepVersions: keepVersionsDays } = flags;
  const endToEnd = endToEndOf(flags);
  const retention = flags.retain === false ? [] : flags.retain;
  const settings = { isPublic, isSite, isListed, quotaBytes, quotaFiles, keepVersionsDays };
  return { ...settings, retention, endToEnd };
}

/** Returns undefined without flags for end-to-end encryption. */
function endToEndOf(flags: BucketFlags): EndToEndSettings | undefined {
  const { endToEnd, recipient, vetkeys, sealNames } = flags;
  const recipients = flags.recipients === false ? [] : recipient;
  const isChosen = vetkeys === false || sealNames === true;
  if (isChosen && !endToEnd) {
    throw new UsageError('--no-vetkeys and --seal-names need --end-to-end: add it, or omit them.');
  }
  if (endToEnd === false && recipients !== undefined) {
    throw new UsageError(
      'Only an end-to-end bucket has recipients: give --end-to-end, or omit the recipients.',
    );
  }
  if (!endToEnd && recipients === undefined) return undefined;
  const usesVetKeys = vetkeys === false ? false : undefined;
  return { usesVetKeys, sealsNames: sealNames, recipients };
}

function whoOpens({ usesVetKeys, recipients }: EndToEndRecord): string {
  const others = recipients.length === 0 ? '' : `${recipients.length} recipients that you listed`;
  const who = [usesVetKeys ? 'its members' : '', others].filter((text) => text !== '');
  return who.length === 0
    ? 'Nobody can decrypt its files yet: add a recipient with efs bucket set --recipient age1….'
    : `Clients encrypt its files before upload; ${who.join(' and ')} can decrypt them.`;
}

function sayEndToEnd({ endToEnd }: BucketRecord): string | undefined {
  if (endToEnd === undefined) return undefined;
  const { usesVetKeys, sealsNames, recipients, epochs } = endToEnd;
  const words = [
    usesVetKeys ? `vetKeys, epoch ${epochs.at(-1)?.epoch}` : 'own recipients only',
    sealsNames ? 'sealed names' : '',
    ...recipients,
  ];
  return words.filter((word) => word !== '').join(', ');
}

/** `force`: first deletes files and former versions in steps, and cancels open uploads. */
export async function removeBucket(
  run: Run,
  id: string,
  flags: { readonly force?: boolean },
): Promise<void> {
  const storage = await run.manager();
  if (flags.force) {
    const { signal, isQuiet } = run;
    let removed = 0;
    for await (const { error } of storage.removeAll({ bucket: id, prefix: '', signal })) {
      if (error !== undefined) throw error;
      removed++;
      if (!isQuiet && removed % 1_000 === 0) printNote(`${removed} files removed …`);
    }
    if (!isQuiet && removed > 0) printNote(`${removed} files removed.`);
    const { versionCount } = await storage.buckets.get(id);
    if (versionCount > 0) {
      const erasure = await storage.versions.erase({ bucket: id, prefix: '', signal });
      if (!isQuiet) printNote(saidOfErasure(erasure, 'former version'));
    }
  }
  await storage.buckets.remove(id, { isForced: flags.force === true });
  await run.forgetMode(id);
  if (isJson()) printJson({ removed: id });
  else printLine(id);
}

export interface KeyFlags extends JsonFlag {
  readonly name?: string;
  readonly permissions?: readonly string[];
  readonly prefix?: string;
  readonly expires?: string;
  readonly updatesPerHour?: number;
  readonly bytesPerHour?: number;
  readonly maxFiles?: number;
  readonly maxBytes?: number;
}

const permissionNames: readonly Permission[] = [
  'read',
  'write',
  'delete',
  'retain',
  'audit',
  'monitor',
  'upload',
];

/** Prints only the secret on standard output, so that a script can store it in a variable. */
export async function createKey(
  run: Run,
  buckets: readonly string[],
  flags: KeyFlags,
): Promise<void> {
  const permissions = (flags.permissions ?? ['read', 'write']).map(parsePermission);
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(flags.expires);
  const { name = '', prefix } = flags;
  const { updatesPerHour, bytesPerHour } = flags;
  const limits = { maxFiles: flags.maxFiles, maxFileBytes: flags.maxBytes };
  const budget = { updatesPerHour, bytesPerHour, ...limits };
  const request = { name, buckets, permissions, prefix, expiresAt, ...budget };
  const storage = await run.manager();
  const key = await storage.keys.create(request);
  const mayStore = permissions.includes('write') || permissions.includes('upload');
  const pins = mayStore ? await pinsOf(storage, buckets) : [];
  const url = await run.addressOf(storage, buckets);
  if (flags.json) {
    printJson({ ...key, url, pinnedRecipients: Object.fromEntries(pins) });
    return;
  }
  printLine(key.secret);
  if (run.isQuiet) return;
  printNote(`Key ${key.id}. Its secret is shown only once.`);
  if (url !== undefined) printNote(`The key works at ${url}, the address of its volume.`);
  for (const [bucket, digest] of pins) {
    printNote(`Holders of the key check the recipients with --pin-recipients ${bucket}=${digest}`);
  }
}

async function pinsOf(
  { buckets }: Pick<Storage, 'buckets'>,
  ids: readonly string[],
): Promise<[string, string][]> {
  const pins: [string, string][] = [];
  for (const id of ids) {
    const { endToEnd } = await buckets.get(id);
    if (endToEnd !== undefined) pins.push([id, await buckets.recipientsDigest(id)]);
  }
  return pins;
}

function parsePermission(text: string): Permission {
  const permission = permissionNames.find((name) => name === text);
  if (permission !== undefined) return permission;
  throw new UsageError(`A permission must be one of ${permissionNames.join(', ')}; got ${text}.`);
}

export async function listKeys(run: Run, bucket: string, { json }: JsonFlag): Promise<void> {
  const keys = await (await run.manager()).keys.list(bucket);
  if (json) printJson(keys);
  else if (keys.length > 0) printLine(formatTable(keys, keyColumns));
}

export async function revokeKey(run: Run, id: string): Promise<void> {
  await (await run.manager()).keys.revoke(id);
  if (isJson()) printJson({ revoked: id });
  else printLine(id);
}
