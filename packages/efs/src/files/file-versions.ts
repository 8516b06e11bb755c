// `efs versions`: former versions of files, which a bucket keeps for some days.

import type { FileVersion } from '../../../client/src/types/versions.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { nameOf, parseFileName, parseLocation } from '../output/location.ts';
import {
  type Column,
  formatBytes,
  formatTable,
  printJson,
  printLine,
  printNote,
} from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';

const columns: readonly Column<FileVersion>[] = [
  { title: 'VERSION', value: ({ version }) => String(version), isNumber: true },
  { title: 'SIZE', value: ({ size }) => formatBytes(size), isNumber: true },
  { title: 'MODIFIED', value: ({ updatedAt }) => formatTime(updatedAt) },
  { title: 'REPLACED', value: ({ retiredAt }) => formatTime(retiredAt) },
  { title: 'KEPT UNTIL', value: ({ expiresAt }) => formatTime(expiresAt) },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

export async function listVersions(
  run: Run,
  place: string,
  { limit, json }: { readonly limit?: number; readonly json?: boolean },
): Promise<void> {
  const { bucket, path: prefix } = parseLocation(place);
  const { signal } = run;
  const storage = await run.storage();
  const versions: FileVersion[] = [];
  let hasMore = false;
  for await (const version of storage.versions.list({ bucket, prefix, signal })) {
    hasMore = versions.length === limit;
    if (hasMore) break;
    versions.push(version);
  }
  if (json) printJson(versions);
  else if (versions.length > 0) printLine(formatTable(versions, columns));
  if (hasMore) printNote(`These are the first ${limit}: there are more without --limit.`);
}

export interface RestoreFlags {
  /** False: what is there is kept. */
  readonly replace?: boolean;
  readonly json?: boolean;
}

export async function restoreVersion(
  run: Run,
  { name, version }: { readonly name: string; readonly version: number },
  { replace, json }: RestoreFlags,
): Promise<void> {
  const file = parseFileName(name);
  const ifNoneMatch = replace === false ? '*' : undefined;
  const storage = await run.storage();
  const record = await storage.versions.restore({
    ...file,
    version,
    ifNoneMatch,
    signal: run.signal,
  });
  if (json) printJson(record);
  else printLine(printable(nameOf(file)));
}

export async function eraseVersions(
  run: Run,
  { name, version }: { readonly name: string; readonly version: number | undefined },
  { recursive }: { readonly recursive?: boolean },
): Promise<void> {
  if (recursive && version !== undefined) {
    throw new UsageError('A version is that of one file: leave out -r.');
  }
  const { bucket, path } = recursive ? parseLocation(name) : parseFileName(name);
  const place = recursive ? { bucket, prefix: path } : { bucket, path, version };
  const { erased } = await (await run.storage()).versions.erase({ ...place, signal: run.signal });
  if (isJson()) printJson({ erased });
  else if (!run.isQuiet) printNote(`${erased} erased.`);
}
