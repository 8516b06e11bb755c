// The sources of `efs put`: each file and its name in the bucket.

import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Run } from '../config/run.ts';
import { type Location, nameOf } from '../output/location.ts';
import { UsageError } from '../output/usage-error.ts';
import type { Filter } from '../transfers/filters.ts';
import { readTree } from '../transfers/local-tree.ts';
import { continueAfterFailure, type Summary } from '../transfers/summary.ts';
import type { SizedSource } from './put-many.ts';

interface Wanted {
  readonly files: readonly string[];
  readonly to: Location;
  readonly isRecursive: boolean;
  readonly filter: Filter;
}

/** Counts missing files, and folders without -r, as failures. Throws UsageError for equal names. */
export async function sourcesOf(
  run: Run,
  summary: Summary,
  wanted: Wanted,
): Promise<SizedSource[]> {
  const { files, to, isRecursive, filter } = wanted;
  const found: { file: string; path: string; size: number }[] = [];
  const attempt = (file: string, work: () => Promise<void>) =>
    continueAfterFailure(summary, file, work);
  for (const file of files) {
    await attempt(file, async () => {
      const stats = await stat(file);
      if (!stats.isDirectory()) {
        found.push({ file, path: basename(file), size: stats.size });
        return;
      }
      if (!isRecursive) throw new Error('it is a folder: give -r for all files in it.');
      const prefix = prefixOf(file);
      const tree = await readTree({ run, filter, attempt }, file);
      found.push(...tree.files.map((one) => ({ ...one, path: prefix + one.path })));
    });
  }
  const fileByPath = new Map<string, string>();
  return found.map(({ file, path: inner, size }) => {
    const name = { bucket: to.bucket, path: to.path + inner };
    const other = fileByPath.get(name.path);
    if (other !== undefined) {
      throw new UsageError(
        `${other} and ${file} would both become ${nameOf(name)}: rename one, or use two destinations.`,
      );
    }
    fileByPath.set(name.path, file);
    return { file, name, size };
  });
}

/** Follows rsync: `folder` keeps its name; `folder/` and `.` stand for their contents. */
function prefixOf(folder: string): string {
  const isBare = /(?:^|[\\/])\.{0,2}$/.test(folder);
  return isBare ? '' : `${basename(resolve(folder))}/`;
}
