// `efs du`: counts bytes and files of a folder and of each folder directly in it.

import type { Usage } from '../../../client/src/types/listings.ts';
import type { Run } from '../config/run.ts';
import { folderPrefix, nameOf, parseLocation } from '../output/location.ts';
import { formatBytes, printJson, printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { entriesOf, isFile } from '../transfers/folder-entries.ts';

export interface UsageFlags {
  readonly summarize?: boolean;
  readonly human?: boolean;
  readonly json?: boolean;
}

interface Row extends Usage {
  readonly path: string;
}

/** Prints one row per folder, the named one last. */
export async function usage(run: Run, text: string, flags: UsageFlags): Promise<void> {
  const location = parseLocation(text);
  const { bucket } = location;
  const { signal } = run;
  const storage = await run.storage();
  const prefix = folderPrefix(location);
  const rows: Row[] = [];
  if (!flags.summarize) {
    for await (const entry of entriesOf(storage, { bucket, prefix, signal })) {
      if (isFile(entry)) continue;
      const { path } = entry;
      rows.push({ path, ...(await storage.usage({ bucket, prefix: path, signal })) });
    }
  }
  rows.push({ path: prefix, ...(await storage.usage({ bucket, prefix, signal })) });
  if (flags.json) {
    printJson(rows);
    return;
  }
  for (const { path, files, bytes } of rows) {
    const size = flags.human ? formatBytes(bytes) : String(bytes);
    printLine(`${size}\t${files}\t${printable(nameOf({ bucket, path }))}`);
  }
}
