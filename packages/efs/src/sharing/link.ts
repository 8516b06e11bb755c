// `efs link`: addresses with which anybody can read a file, even in a private bucket.

import type { Storage } from '../../../client/src/storage.ts';
import type { LinkRecord } from '../../../client/src/types/links.ts';
import { newPassword } from '../config/link-password.ts';
import type { Run } from '../config/run.ts';
import { nameOf, parseFileName, parseLocation } from '../output/location.ts';
import { type Column, formatTable, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime, parseExpiry } from '../output/times.ts';
import { continueAfterFailure, countDone, finish, startSummary } from '../transfers/summary.ts';

export interface LinkFlags {
  readonly expires?: string;
  readonly name?: string;
  readonly password?: boolean;
  readonly maxDownloads?: number;
  readonly title?: string;
  readonly json?: boolean;
}

const columns: readonly Column<LinkRecord>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'CREATED', value: ({ createdAt }) => formatTime(createdAt) },
  { title: 'EXPIRES', value: ({ expiresAt }) => (expiresAt ? formatTime(expiresAt) : '–') },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

const downloadColumn: Column<LinkRecord> = {
  title: 'DOWNLOADS',
  value: ({ maxDownloads: max, downloadCount: count }) =>
    max === undefined ? '–' : `${count}/${max}`,
};

const passwordColumn: Column<LinkRecord> = {
  title: 'PASSWORD',
  value: ({ hasPassword }) => (hasPassword ? 'yes' : '–'),
};

/** Only for owners, because the service does not show creators to others. */
const makerColumn: Column<LinkRecord> = {
  title: 'MADE BY',
  value: ({ maker = '–', keyId }) => printable(keyId === undefined ? maker : `key ${keyId}`),
};

/** Prints only the address on standard output, so that a script can store it in a variable. */
export async function createLink(run: Run, text: string, flags: LinkFlags): Promise<void> {
  const file = parseFileName(text);
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(flags.expires);
  const bounds = {
    password: flags.password ? await newPassword() : undefined,
    maxDownloads: flags.maxDownloads,
    title: flags.title,
  };
  const request = { ...file, ...bounds, expiresAt, downloadName: flags.name, signal: run.signal };
  const made = await (await run.storage()).links.create(request);
  const link = { ...made, url: wholeUrl(run, made.pageUrl ?? made.url) };
  if (flags.json) {
    printJson(link);
    return;
  }
  printLine(link.url);
  if (run.isQuiet) return;
  const isWhole = !link.url.startsWith('/');
  if (!isWhole) printNote("Put the canister's gateway address before the path, or give --url.");
  const until = link.expiresAt === undefined ? 'it is removed' : inUtc(link.expiresAt);
  // Without --, the id would be read as a flag.
  const id = link.id.startsWith('-') ? `-- ${link.id}` : link.id;
  const whoever = flags.password
    ? 'Whoever has this address and the password'
    : 'Whoever has this address';
  const times =
    link.maxDownloads === undefined ? '' : ` or ${link.maxDownloads} downloads are made`;
  printNote(
    `${whoever} reads ${printable(nameOf(file))}, without a key, until ${until}${times}. ` +
      `The address is shown only once; efs link rm ${file.bucket} ${id} removes it.`,
  );
}

/** Uses UTC, because the recipients' time zones are unknown. */
export function inUtc(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Completes the address, which is only a path for hosts that the library does not know. */
export function wholeUrl({ url }: Run, address: string): string {
  return address.startsWith('/') && url !== undefined ? new URL(address, url).href : address;
}

export async function listLinks(
  run: Run,
  place: string,
  { json }: Pick<LinkFlags, 'json'>,
): Promise<void> {
  const { bucket, path } = parseLocation(place);
  const links: LinkRecord[] = [];
  const storage = await run.storage();
  const options = { bucket, path: path === '' ? undefined : path, signal: run.signal };
  for await (const link of storage.links.list(options)) links.push(link);
  if (json) printJson(links);
  else if (links.length > 0) {
    const hasMakers = links.some(({ maker, keyId }) => maker !== undefined || keyId !== undefined);
    const shown = [
      ...columns,
      ...(links.some(({ maxDownloads }) => maxDownloads !== undefined) ? [downloadColumn] : []),
      ...(links.some(({ hasPassword }) => hasPassword) ? [passwordColumn] : []),
      ...(hasMakers ? [makerColumn] : []),
    ];
    printLine(formatTable(links, shown));
  }
}

/** A folder's link has the id of its API key. */
function isKeyId(id: string): boolean {
  return /^[0-9a-f]{16}$/.test(id);
}

export async function removeLinks(run: Run, bucket: string, ids: readonly string[]): Promise<void> {
  const storage = await run.storage();
  const remove: Storage['links']['remove'] = async (...asked) =>
    isKeyId(asked[1])
      ? (await run.manager()).folderLinks.remove(...asked)
      : storage.links.remove(...asked);
  const summary = startSummary('removed');
  for (const id of ids) {
    await continueAfterFailure(summary, id, async () => {
      await remove(bucket, id, { signal: run.signal });
      countDone(summary, id);
    });
  }
  finish(run, summary, false);
}
