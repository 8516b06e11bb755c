// `efs site deploy`: makes a site equal to a folder in one step. Changed files are uploaded below
// the staging folder of the bucket, where the site does not serve them; then one switch moves them
// to their places and deletes the others. A deploy that was killed continues with the staged files.

import { setTimeout as wait } from 'node:timers/promises';
import { filesDigest } from '../../../client/src/bytes/files-digest.ts';
import { checkedConcurrency } from '../../../client/src/connection/parallel.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import { deletedFileCountMax, digestedFilesMax, stagingFolder } from '../../../wire/src/limits.ts';
import type { Run } from '../config/run.ts';
import { printJson, printLine, printNote } from '../output/output.ts';
import { startOverall } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';
import { type Filter, type FilterFlags, filterOf } from '../transfers/filters.ts';
import { isBelow, type LocalFile, type LocalTree, readTree } from '../transfers/local-tree.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import { failureOf } from '../transfers/summary.ts';
import { planSite, type SitePlan } from './site-plan.ts';
import { attemptOne, type SyncJob, sayWhatWould } from './sync-job.ts';
import { syncUp } from './sync-up.ts';

export interface SiteFlags extends FilterFlags {
  readonly bucket: string;
  readonly preview?: string;
  readonly parallel: number;
  readonly keep?: boolean;
  readonly maxDelete?: number;
  readonly dotfiles?: boolean;
  readonly dryRun?: boolean;
  readonly cacheControl?: string;
  readonly json?: boolean;
}

/** A list may come from a node that is behind, and another deploy may run. */
const roundsMax = 6;
const roundDelayMs = 1_000;

export async function deploySite(run: Run, folder: string, flags: SiteFlags): Promise<void> {
  checkedConcurrency(flags.parallel);
  const bucket = bucketOf(flags);
  const { storage, isThere, isKnownSite } = await openSite(run, bucket);
  const counts = { done: 0, same: 0, removed: 0 };
  const filter = siteFilter(flags);
  const job: SyncJob = {
    ...{ run, storage, flags, filter, counts },
    ...{ verb: 'sent', failures: [], actions: [] },
  };
  const { files, skipped } = await localTree(job, folder);
  requireSite(files, folder, flags);
  if (!isThere && !flags.dryRun) {
    await (await run.manager()).buckets.create(bucket, { isPublic: true, isSite: true });
    if (!run.isQuiet) printNote(`Created the bucket ${bucket}, a public site.`);
  }
  const isKept = (path: string) =>
    flags.keep === true || !filter.isWanted(path) || isBelow(path, skipped);
  const site = { job, folder, files, bucket, flags, isThere, isKnownSite, isKept };
  const plan = await publish(site);
  // A bucket that a dry run does not create is in no volume yet
  const isPlaced = isThere || !flags.dryRun;
  const base = isPlaced ? await run.addressOf(storage, [bucket]) : undefined;
  const url = `${base ?? run.url ?? ''}/cloud/${bucket}/`;
  const [changed, deleted, { same }] = [plan.changed.length, plan.extra.length, plan];
  if (flags.json) {
    printJson({ bucket, url, isDryRun: flags.dryRun === true, changed, deleted, same });
    return;
  }
  const start = flags.dryRun ? 'Nothing is done yet: ' : '';
  printNote(`${start}${changed} changed, ${deleted} deleted, ${same} the same.`);
  printLine(url);
}

function bucketOf({ bucket, preview }: SiteFlags): string {
  if (preview === undefined) return bucket;
  if (/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(preview)) return `${bucket}--${preview}`;
  throw new UsageError(
    `The preview's name ${JSON.stringify(preview)} becomes part of a bucket's id: write letters, digits and ` +
      'hyphens, with no hyphen first or last.',
  );
}

/** Hidden files are no part of a site, except those that other programs look for. */
function siteFilter(flags: SiteFlags): Filter {
  const { isWanted, isClosed } = filterOf(flags);
  const isHidden = (path: string) => {
    if (`${path}/`.startsWith(stagingFolder)) return true;
    const [top = '', ...names] = path.split('/');
    const shown = top === '.well-known' ? names : [top, ...names];
    return flags.dotfiles !== true && shown.some((name) => name.startsWith('.'));
  };
  return {
    isWanted: (path) => !isHidden(path) && isWanted(path),
    isClosed: (path) => isHidden(path) || isClosed(path),
  };
}

async function localTree(job: SyncJob, folder: string): Promise<LocalTree> {
  const attempt = (file: string, work: () => Promise<void>) => attemptOne(job, file, work);
  const tree = await readTree({ run: job.run, filter: job.filter, attempt }, folder);
  requireNoFailure(job);
  return tree;
}

function requireNoFailure({ failures }: SyncJob): void {
  if (failures.length === 0) return;
  const text = `${failures.length} failed; the site is as before. The same command continues.`;
  throw failureOf(failures[0], text);
}

/** Refuses a folder that is probably another one than the site's: it would delete the site. */
function requireSite(files: readonly LocalFile[], folder: string, flags: SiteFlags): void {
  if (flags.keep || flags.maxDelete !== undefined) return;
  if (files.some(({ path }) => path === 'index.html')) return;
  throw new UsageError(
    `${folder} has no index.html, so it may not be the folder of the site, whose other files would ` +
      'be deleted: name another folder, or give --keep or --max-delete <n>.',
  );
}

interface OpenedSite {
  readonly storage: Storage;
  readonly isThere: boolean;
  /** Whether the bucket's record says that it is a site. */
  readonly isKnownSite: boolean;
}

/**
 * Opens the storage that can read the bucket: by the API key, otherwise by the identity, because a
 * key is not for previews that are created later. Refuses a bucket that is not a site.
 */
async function openSite(run: Run, bucket: string): Promise<OpenedSite> {
  let refusal: unknown;
  for (const open of [run.storage, run.serviceAdmin]) {
    const storage = await open();
    try {
      await storage.listFolder({ bucket, limit: 1, signal: run.signal });
      return { storage, isThere: true, isKnownSite: await isSiteBucket(run, bucket) };
    } catch (error) {
      if (!isStorageError(error, 'NoSuchBucket', 'AccessDenied')) throw error;
      refusal = error;
    }
  }
  if (!isStorageError(refusal, 'NoSuchBucket')) throw refusal;
  return { storage: await run.serviceAdmin(), isThere: false, isKnownSite: true };
}

/** Returns false if a key cannot read the record; refuses a bucket that is not a site. */
async function isSiteBucket(run: Run, bucket: string): Promise<boolean> {
  const admin = await run.serviceAdmin();
  const record = await admin.buckets.get(bucket).catch((error) => {
    if (isStorageError(error, 'AccessDenied', 'NoSuchBucket', 'Unsupported')) return undefined;
    throw error;
  });
  if (record?.isSite !== false) return record !== undefined;
  throw new UsageError(
    `The bucket ${bucket} is not a site, so its files may be no copies: name another bucket, or make it a ` +
      `site with efs bucket set --public --site ${bucket}, which shows its files to everybody.`,
  );
}

interface Site {
  readonly job: SyncJob;
  readonly folder: string;
  readonly files: readonly LocalFile[];
  readonly bucket: string;
  readonly flags: SiteFlags;
  /** Whether the bucket existed before. */
  readonly isThere: boolean;
  readonly isKnownSite: boolean;
  /** Excluded files stay, and those of which the folder has something that is no regular file. */
  isKept(path: string): boolean;
}

/** Compares and uploads until all files are staged, then switches. Returns the last plan. */
async function publish(site: Site): Promise<SitePlan> {
  const { job, files, bucket, flags } = site;
  const { run } = job;
  const place = { bucket, isKept: site.isKept, compared: new Map() };
  let uploaded: ReadonlySet<string> = new Set();
  for (let round = 0; round < roundsMax; round++) {
    if (round > 1) await wait(roundDelayMs, undefined, { signal: run.signal });
    const listed = site.isThere || !flags.dryRun ? await listAll(job, bucket) : new Map();
    const plan = await planSite(job, files, listed, place);
    requireFew(plan, flags);
    if (!site.isKnownSite && !listed.has('index.html')) requireKnown(plan, site);
    if (flags.dryRun) {
      const names = plan.changed.map((path) => changeOf(bucket, path, listed.has(path), files));
      const deleted = plan.extra.map((path) => `${bucket}/${path}`);
      sayWhatWould(job, names, deleted);
      return plan;
    }
    // A list that does not have the uploaded files yet is read again before they are sent again
    const isBehind = round < roundsMax - 2 && plan.uploads.every(({ path }) => uploaded.has(path));
    if (plan.uploads.length > 0) {
      if (isBehind) continue;
      await upload(site, plan);
      uploaded = new Set(plan.uploads.map(({ path }) => path));
      continue;
    }
    if (plan.stale.length > 0) await removeStale(site, plan.stale);
    if (await isSwitched(site, plan)) return plan;
  }
  throw new StorageError(
    'PreconditionFailed',
    `The files of bucket ${bucket} change while they are compared, so the site is as before: another ` +
      'deploy may be running, or a node is behind. Repeat the command.',
  );
}

async function listAll({ run, storage }: SyncJob, bucket: string) {
  const listed = new Map<string, ListedFile>();
  for await (const file of storage.list({ bucket, signal: run.signal })) {
    listed.set(file.path, file);
  }
  return listed;
}

function changeOf(bucket: string, path: string, isThere: boolean, files: readonly LocalFile[]) {
  const size = files.find((file) => file.path === path)?.size ?? 0;
  return { name: `${bucket}/${path}`, size, isNew: !isThere };
}

/** Called before any change, because a wrong folder can look like an empty site. */
function requireFew({ extra }: SitePlan, { maxDelete }: SiteFlags): void {
  const limit = Math.min(maxDelete ?? deletedFileCountMax, deletedFileCountMax);
  if (extra.length <= limit) return;
  const remedy =
    extra.length > deletedFileCountMax
      ? ', and efs rm deletes files before a deploy'
      : `, --max-delete ${extra.length} allows it`;
  throw new UsageError(
    `The site is as before, because ${extra.length} files would be deleted (the limit is ${limit}): --dry-run ` +
      `shows them, --keep deletes none${remedy}.`,
  );
}

/** Refuses deletions in a bucket that neither its record nor its files show to be a site. */
function requireKnown({ extra }: SitePlan, { bucket, flags }: Site): void {
  if (extra.length === 0 || flags.maxDelete !== undefined) return;
  throw new UsageError(
    `The key cannot read whether the bucket ${bucket} is a site, and it has no index.html: ${extra.length} ` +
      'files would be deleted. Name another bucket, or give --keep or --max-delete <n>.',
  );
}

async function upload({ job, folder, bucket }: Site, { uploads }: SitePlan): Promise<void> {
  const bytes = uploads.reduce((sum, { size }) => sum + size, 0);
  const progress = startOverall({ files: uploads.length, bytes }, job.run.isQuiet);
  try {
    await syncUp(folder, { bucket, path: stagingFolder }).transfer(job, uploads, progress);
  } finally {
    progress.stop();
  }
  requireNoFailure(job);
}

async function removeStale({ job, bucket }: Site, paths: readonly string[]): Promise<void> {
  const { storage, run } = job;
  for await (const { error } of storage.removeAll({ bucket, paths, signal: run.signal })) {
    if (error !== undefined && !isStorageError(error, 'NoSuchFile')) throw error;
  }
}

/**
 * Also runs without changes: the reply, which the network signs, then says that the site has these
 * files. Returns false if others have changed it meanwhile, or a list was wrong.
 */
async function isSwitched({ job, bucket }: Site, plan: SitePlan): Promise<boolean> {
  const isCovered = plan.result.length <= digestedFilesMax;
  try {
    await job.storage.switchAll({
      ...{ bucket, fromPrefix: stagingFolder, toPrefix: '', signal: job.run.signal },
      deletes: plan.extra,
      ifResult: isCovered ? await filesDigest(plan.result) : undefined,
    });
    return true;
  } catch (error) {
    if (isStorageError(error, 'PreconditionFailed')) return false;
    if (!isStorageError(error, 'EntityTooLarge')) throw error;
    const advice =
      `${error.message} For a site of this size, efs sync --delete changes the files one by one, and later ` +
      'deploys switch the changes.';
    throw new StorageError(error.code, advice, { status: error.status, cause: error });
  }
}
