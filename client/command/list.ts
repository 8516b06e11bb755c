// `efs ls`, `efs stat` and `efs status`: what is there.

import type { FileRecord, ListOptions } from '../interface.ts';
import { parseFileName, parseLocation } from './location.ts';
import {
  type Column,
  formatBytes,
  formatTable,
  printable,
  printJson,
  printLine,
  printNote,
} from './output.ts';
import type { Run } from './run.ts';
import { UsageError } from './usage-error.ts';

export interface ListFlags {
  readonly prefix?: string;
  readonly sort?: string;
  readonly tag?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** Without --all. */
const shownMax = 50;
const sorts = ['name_asc', 'name_desc', 'date_asc', 'date_desc'] as const;

const columns: readonly Column<FileRecord>[] = [
  { title: 'SIZE', value: ({ size }) => formatBytes(size), isNumber: true },
  { title: 'MODIFIED', value: ({ updatedAt }) => updatedAt.slice(0, 19).replace('T', ' ') },
  { title: 'TYPE', value: ({ contentType }) => printable(contentType) },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

export async function list(run: Run, place: string, flags: ListFlags): Promise<void> {
  const { bucket, path } = parseLocation(place);
  const prefix = path + (flags.prefix ?? '');
  const request: ListOptions = {
    bucket,
    prefix: prefix === '' ? undefined : prefix,
    sort: parseSort(flags.sort),
    tag: flags.tag,
    signal: run.signal,
  };
  const files: FileRecord[] = [];
  let hasMore = false;
  for await (const file of (await run.storage()).list(request)) {
    hasMore = !flags.all && files.length === shownMax;
    if (hasMore) break;
    files.push(file);
  }
  if (flags.json) printJson(files);
  else if (files.length > 0) printLine(formatTable(files, columns));
  if (hasMore) printNote(`These are the first ${shownMax}: --all shows the rest.`);
}

function parseSort(text: string | undefined): ListOptions['sort'] {
  const sort = sorts.find((name) => name === text);
  if (text === undefined || sort !== undefined) return sort;
  throw new UsageError(`The sort is one of ${sorts.join(', ')}; got ${text}.`);
}

export async function stat(run: Run, file: string, { json }: { json?: boolean }): Promise<void> {
  const { signal } = run;
  const record = await (await run.storage()).stat(parseFileName(file), { signal });
  if (json) printJson(record);
  else printRecord({ ...record, size: `${record.size} (${formatBytes(record.size)})` });
}

export async function status(run: Run, { json }: { json?: boolean }): Promise<void> {
  const figures = await (await run.storage()).status({ signal: run.signal });
  if (json) printJson(figures);
  else printRecord(figures);
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
