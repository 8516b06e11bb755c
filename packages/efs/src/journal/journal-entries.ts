// `efs journal ls`, `follow` and `export`: entries of a bucket's journal.

import type { Storage } from '../../../client/src/storage.ts';
import type { JournalEntry } from '../../../client/src/types/journal.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import {
  type Column,
  formatTable,
  printJson,
  printJsonLine,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime } from '../output/times.ts';
import { canisterOf, cloudEventOf } from './cloud-event.ts';

const newestDefault = 100;

const columns: readonly Column<JournalEntry>[] = [
  { title: 'ENTRY', value: ({ seq }) => String(seq), isNumber: true },
  { title: 'TIME', value: ({ at }) => formatTime(at) },
  { title: 'CHANGE', value: ({ kind }) => kind },
  { title: 'BY', value: authorOf },
  { title: 'OF', value: thingOf },
];

function authorOf({ by }: JournalEntry): string {
  return by.kind === 'apiKey' ? `key ${by.id}` : (by.id ?? 'the service');
}

/** Returns the changed thing in words. */
function thingOf(entry: JournalEntry): string {
  const { path, formerPath, linkId, keyId, member, role, settings, version, subject } = entry;
  if (entry.isRedacted) return '(redacted)';
  if (member !== undefined) return `${member}: ${role ?? 'removed'}`;
  if (linkId !== undefined) return `${path} (link ${linkId})`;
  if (formerPath !== undefined) return `${path} (from ${formerPath})`;
  if (path !== undefined) return version === undefined ? path : `${path} (version ${version})`;
  return keyId ?? settings?.join(', ') ?? subject.replaceAll('\0', ', ');
}

interface ListFlags {
  readonly after?: number;
  readonly limit?: number;
  readonly json?: boolean;
}

export async function listJournal(run: Run, bucket: string, flags: ListFlags): Promise<void> {
  const { after, limit = after === undefined ? newestDefault : Number.POSITIVE_INFINITY } = flags;
  const storage = await run.manager();
  const found: JournalEntry[] = [];
  let hasMore = false;
  const { signal } = run;
  const entries =
    after === undefined
      ? newestFirst(storage, bucket, signal)
      : storage.journal.entries(bucket, { after, signal });
  for await (const entry of entries) {
    hasMore = found.length === limit;
    if (hasMore) break;
    found.push(entry);
  }
  if (flags.json) printJson(found);
  else if (found.length > 0) printLine(formatTable(found, columns));
  if (hasMore) printNote(`There are more entries than ${limit}: raise --limit to see them.`);
}

async function* newestFirst({ journal }: Storage, bucket: string, signal: AbortSignal) {
  let before: number | undefined;
  for (let hasMore = true; hasMore; ) {
    const page = await journal.list(bucket, { before, signal });
    yield* page.entries;
    before = page.entries.at(-1)?.seq;
    hasMore = page.hasMore && before !== undefined;
  }
}

interface FollowFlags {
  readonly after?: number;
}

/** Prints entries until the signal of Ctrl-C. */
export async function followJournal(
  run: Run,
  bucket: string,
  { after }: FollowFlags,
): Promise<void> {
  const { journal } = await run.manager();
  for await (const entry of journal.watch(bucket, { after, signal: run.signal })) {
    if (isJson()) printJsonLine(entry);
    else printLine(lineOf(entry));
  }
}

function lineOf(entry: JournalEntry): string {
  return columns.map(({ value }) => printable(value(entry))).join('  ');
}

/** Sets for how many days the bucket shows its entries. */
export async function keepJournal(run: Run, bucket: string, sent: number): Promise<void> {
  const { journal } = await run.manager();
  const days = await journal.keep(bucket, sent);
  printResult({ bucket, days }, `Bucket ${bucket} shows its changes for ${days} days.`);
}

/** Replaces the subjects of entries by hashes. */
export async function redactEntries(
  run: Run,
  bucket: string,
  entries: readonly number[],
): Promise<void> {
  const { journal } = await run.manager();
  const redacted = await journal.redact(bucket, entries);
  const noun = redacted === 1 ? 'entry' : 'entries';
  printResult({ bucket, redacted }, `Redacted ${redacted} ${noun} of ${bucket}.`);
}

interface ExportFlags {
  readonly after?: number;
  readonly cloudevents?: boolean;
}

export async function exportJournal(run: Run, bucket: string, flags: ExportFlags): Promise<void> {
  const { after, cloudevents } = flags;
  const storage = await run.manager();
  const place = cloudevents
    ? { canisterId: await canisterOf(run, storage, bucket), bucket }
    : undefined;
  for await (const entry of storage.journal.entries(bucket, { after, signal: run.signal })) {
    printJsonLine(place === undefined ? entry : cloudEventOf(place, entry));
  }
}
