// Compares a folder of this machine with a site bucket and the files that wait there for a switch.
// A listed file counts only if the digest of the local bytes is its ETag, so a node that lies about
// a list can cause an upload more or a refused switch, but no other site.

import type { DigestedFile } from '../../../client/src/bytes/files-digest.ts';
import { mediaTypeOf } from '../../../client/src/node/media-type.ts';
import { stagingFolder } from '../../../wire/src/limits.ts';
import { nameOf } from '../output/location.ts';
import type { LocalFile } from '../transfers/local-tree.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import type { SyncJob } from './sync-job.ts';
import { inStepsBySize } from './sync-parallel.ts';
import { isSameFile, type UpStep } from './sync-up.ts';

export interface SitePlan {
  /** Files to upload to their places below the staging folder. */
  readonly uploads: readonly UpStep[];
  /** Paths of staged files that no file of the folder needs. */
  readonly stale: readonly string[];
  /** Paths of the site that change with the switch. */
  readonly changed: readonly string[];
  /** Paths of the site that the folder lacks, and the switch deletes. */
  readonly extra: readonly string[];
  readonly same: number;
  /** All files of the site after the switch, if there is nothing to upload. */
  readonly result: readonly DigestedFile[];
}

interface Place {
  readonly bucket: string;
  /** Whether a stored file that the folder lacks stays. */
  isKept(path: string): boolean;
  /** Results of comparisons, so that a further round does not read the files again. */
  readonly compared: Map<string, Promise<boolean>>;
}

export async function planSite(
  job: SyncJob,
  files: readonly LocalFile[],
  listed: ReadonlyMap<string, ListedFile>,
  { bucket, isKept, compared }: Place,
): Promise<SitePlan> {
  const isSame = (local: LocalFile, there: ListedFile | undefined): Promise<boolean> => {
    const type = mediaTypeOf(stagingFolder + local.path);
    if (there?.size !== local.size || there.contentType !== type) return Promise.resolve(false);
    const key = [local.file, there.etag, there.chunkSize].join('\0');
    const known = compared.get(key) ?? isSameFile(job.run, local.file, there);
    compared.set(key, known);
    return known;
  };
  const result = new Map<string, DigestedFile>();
  const changed: string[] = [];
  const uploads: UpStep[] = [];
  await inStepsBySize(job, files, async (local) => {
    const { path, file, size } = local;
    const present = listed.get(path);
    const staged = listed.get(stagingFolder + path);
    if (present !== undefined && (await isSame(local, present))) {
      result.set(path, present);
      return;
    }
    changed.push(path);
    if (staged !== undefined && (await isSame(local, staged))) {
      result.set(path, { ...staged, path });
      return;
    }
    const name = nameOf({ bucket, path });
    uploads.push({ file, path: stagingFolder + path, name, size, isNew: present === undefined });
  });
  const here = new Set(files.map(({ path }) => path));
  const isChanged = new Set(changed);
  const isStaged = (path: string) => path.startsWith(stagingFolder);
  const others = [...listed.keys()];
  const stale = others.filter((path) => isStaged(path) && !isChanged.has(unstaged(path)));
  const absent = others.filter((path) => !isStaged(path) && !here.has(path));
  const extra = absent.filter((path) => !isKept(path));
  for (const path of absent.filter(isKept)) result.set(path, listed.get(path) as ListedFile);
  const same = files.length - changed.length;
  return { uploads, stale, changed, extra, same, result: [...result.values()] };
}

function unstaged(path: string): string {
  return path.slice(stagingFolder.length);
}
