// `efs ls` and `efs stat`, and the printing of records.

import type { Storage } from '../../../client/src/storage.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { ListOptions } from '../../../client/src/types/listings.ts';
import type { Retention } from '../../../client/src/types/retention.ts';
import type { Run } from '../config/run.ts';
import { naming } from '../output/failure-words.ts';
import { type Location, parseFileName, parseLocation } from '../output/location.ts';
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
import { type Entry, entriesOf, isFile } from './folder-entries.ts';
import { folderSource } from './folder-source.ts';
import { sizeWithin } from './sealed-copies.ts';

export interface ListFlags {
  readonly prefix?: string;
  readonly sort?: string;
  readonly tag?: string;
  readonly limit?: number;
  readonly recursive?: boolean;
  readonly json?: boolean;
}

const sorts = ['name_asc', 'name_desc', 'date_asc', 'date_desc'] as const;

const columns: readonly Column<Entry>[] = [
  {
    title: 'SIZE',
    value: (entry) => (isFile(entry) ? formatBytes(entry.size) : ''),
    isNumber: true,
  },
  { title: 'MODIFIED', value: (entry) => (isFile(entry) ? formatTime(entry.updatedAt) : '') },
  { title: 'TYPE', value: (entry) => (isFile(entry) ? printable(entry.contentType) : 'folder') },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

const heldColumn: Column<Entry> = {
  title: 'HELD',
  value: (entry) => (isFile(entry) && entry.retention ? sayRetention(entry.retention) : ''),
};

const sharingColumn: Column<Entry> = {
  title: 'AFTER SHARING',
  value: (entry) => (isFile(entry) ? (entry.afterSharing ?? '') : ''),
};

function sayRetention({ retainUntil, hold }: Retention): string {
  const until = retainUntil === undefined ? '' : `until ${formatTime(retainUntil)}`;
  return [until, hold ? 'hold' : ''].filter((text) => text !== '').join(', ');
}

/** Adds columns only if one of the files needs them. */
function columnsFor(entries: readonly Entry[]): readonly Column<Entry>[] {
  const isHeld = entries.some((entry) => isFile(entry) && entry.retention !== undefined);
  const isLater = entries.some((entry) => isFile(entry) && entry.afterSharing !== undefined);
  const more = [...(isHeld ? [heldColumn] : []), ...(isLater ? [sharingColumn] : [])];
  return [...columns.slice(0, -1), ...more, ...columns.slice(-1)];
}

export async function list(run: Run, place: string, flags: ListFlags): Promise<void> {
  const entries: Entry[] = [];
  let hasMore = false;
  const shared = folderSource(run, place);
  const { storage, place: location } = shared ?? {
    storage: await run.storage(),
    place: parseLocation(place),
  };
  for await (const entry of listed(storage, location, { ...flags, signal: run.signal })) {
    hasMore = entries.length === flags.limit;
    if (hasMore) break;
    entries.push(entry);
  }
  if (flags.json) printJson(entries);
  else if (entries.length > 0) printLine(formatTable(entries, columnsFor(entries)));
  if (hasMore) printNote(`These are the first ${flags.limit}: there are more without --limit.`);
}

/**
 * Lists folders instead of their files, unless all files are requested: explicitly, by a sort by
 * date, or by default for a tag, a named prefix and JSON.
 */
function listed(
  storage: Storage,
  { bucket, path }: Location,
  { signal, ...flags }: ListFlags & { readonly signal: AbortSignal },
): AsyncIterable<Entry> {
  const prefix = path + (flags.prefix ?? '') || undefined;
  const sort = parseSort(flags.sort);
  const { tag, json, recursive } = flags;
  const isByDate = sort === 'date_asc' || sort === 'date_desc';
  if (isByDate && recursive === false) {
    throw new UsageError('Folders have no date: omit --no-recursive, or sort by name.');
  }
  const isFlat = recursive ?? (json || flags.prefix !== undefined || tag !== undefined);
  return isFlat || isByDate
    ? storage.list({ bucket, prefix, sort, tag, signal })
    : entriesOf(storage, { bucket, prefix, sort, tag, signal });
}

function parseSort(text: string | undefined): ListOptions['sort'] {
  const sort = sorts.find((name) => name === text);
  if (text === undefined || sort !== undefined) return sort;
  throw new UsageError(`The sort must be one of ${sorts.join(', ')}; got ${text}.`);
}

export async function stat(run: Run, file: string, { json }: { json?: boolean }): Promise<void> {
  const { signal } = run;
  const name = parseFileName(file);
  const storage = await run.storage();
  const record = await naming(name, () => storage.stat(name, { signal }));
  const plainSize = record.contentType === ageType ? await sizeWithin(run, record) : undefined;
  if (json) printJson({ ...record, plainSize });
  else {
    const said = plainSize && `${plainSize} (${formatBytes(plainSize)})`;
    const size = `${record.size} (${formatBytes(record.size)})`;
    printRecord({ ...record, size, plainSize: said });
  }
}

export function printRecord(record: object): void {
  const rows = Object.entries(record).filter(([, value]) => value !== undefined);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) {
    const text = typeof value === 'object' ? sayObject(value) : String(value);
    printLine(`${name.padEnd(width)}  ${printable(text)}`);
  }
}

function sayObject(value: object | null): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  const fields = Object.entries(value ?? {});
  return fields.map(([name, field]) => `${name} ${String(field)}`).join(', ');
}
