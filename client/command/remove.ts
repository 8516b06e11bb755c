// `efs rm`: files, or all that is in a folder.

import type { FileName } from '../interface.ts';
import { folderPrefix, nameOf, parseFileName, parseLocation } from './location.ts';
import { printable, printLine } from './output.ts';
import type { Run } from './run.ts';

export async function remove(
  run: Run,
  names: readonly string[],
  { recursive }: { readonly recursive?: boolean },
): Promise<void> {
  const storage = await run.storage();
  const { signal } = run;
  for (const text of names) {
    const files = recursive ? await filesIn(run, text) : [parseFileName(text)];
    for (const file of files) {
      await storage.remove(file, { signal });
      printLine(printable(nameOf(file)));
    }
  }
}

/** Listed before the first is removed: removal would shift the pages. */
async function filesIn(run: Run, text: string): Promise<FileName[]> {
  const location = parseLocation(text);
  const { bucket } = location;
  const prefix = folderPrefix(location);
  const files: FileName[] = [];
  for await (const { path } of (await run.storage()).list({ bucket, prefix, signal: run.signal })) {
    files.push({ bucket, path });
  }
  return files;
}
