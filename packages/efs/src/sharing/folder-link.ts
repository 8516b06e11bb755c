// `efs link create` and `refresh` for folders: addresses by which anybody lists and reads a folder.

import type { NewFolderLink, SharedKeys } from '../../../client/src/types/folder-links.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { nameOf, parseLocation } from '../output/location.ts';
import { printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { parseExpiry } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';
import { inUtc, type LinkFlags, wholeUrl } from './link.ts';

export async function createFolderLink(run: Run, text: string, flags: LinkFlags): Promise<void> {
  const { bucket, path: prefix } = parseLocation(text);
  const { name, password, maxDownloads, title } = flags;
  if ([name, password, maxDownloads, title].some((flag) => flag !== undefined)) {
    throw new UsageError(
      'A link to a folder has no name, password, title or number of downloads: omit these flags.',
    );
  }
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(flags.expires);
  const { folderLinks } = await run.manager();
  const { signal } = run;
  const made = await folderLinks.create({ bucket, prefix, expiresAt, signal });
  const link = { ...made, url: wholeUrl(run, made.url) };
  if (flags.json) printJson(link);
  else printLine(link.url);
  if (!flags.json && !run.isQuiet) describe(link, { bucket, path: prefix });
}

function describe(link: NewFolderLink, place: { bucket: string; path: string }): void {
  const until = link.expiresAt === undefined ? 'it is removed' : inUtc(link.expiresAt);
  printNote(
    `Whoever has this address lists and reads ${printable(nameOf(place))}, without a key, until ` +
      `${until}. The address is shown only once; efs link rm ${place.bucket} ${link.id} removes it.`,
  );
  if (link.keys === undefined) return;
  describeKeys(link.keys);
  printNote('It opens no file that is stored from now on, until efs link refresh ADDRESS.');
}

function describeKeys({ fileCount, unreadable }: SharedKeys): void {
  printNote(`The link opens ${fileCount} ${fileCount === 1 ? 'file' : 'files'}.`);
  for (const path of unreadable) {
    printNote(`It does not open ${printable(path)}: none of your identities opens that file.`);
  }
}

export async function refreshFolderLink(run: Run, url: string): Promise<void> {
  const { folderLinks } = await run.manager();
  const keys = await folderLinks.refresh(url, { signal: run.signal });
  if (isJson()) printJson(keys);
  else if (!run.isQuiet) describeKeys(keys);
}
