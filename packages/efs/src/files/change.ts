// `efs set`: changes type, tags, headers and metadata of files; their bytes stay.

import type { Storage } from '../../../client/src/storage.ts';
import type {
  FileChange,
  FileName,
  FileRecord,
  StoredHeaders,
} from '../../../client/src/types/files.ts';
import type { PairsFlag } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { nameOf, parseFileName } from '../output/location.ts';
import { printJson } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { continueAfterFailure, countDone, endSummary, startSummary } from '../transfers/summary.ts';

export interface ChangeFlags {
  readonly type?: string;
  readonly tag?: readonly string[];
  /** False: --no-tags. */
  readonly tags?: boolean;
  readonly cacheControl?: string;
  readonly header?: readonly string[];
  /** False: --no-headers. */
  readonly headers?: boolean;
  /** False: --no-metadata. */
  readonly metadata?: PairsFlag | false;
  readonly json?: boolean;
}

export async function change(
  run: Run,
  names: readonly string[],
  flags: ChangeFlags,
): Promise<void> {
  const files = names.map(parseFileName);
  const wanted = changeOf(flags);
  const { metadata } = flags;
  if (metadata === undefined && Object.values(wanted).every((field) => field === undefined)) {
    throw new UsageError('No change is given: give --type, --tag, --metadata or another field.');
  }
  const storage = await run.storage();
  const summary = startSummary('changed');
  const records: FileRecord[] = [];
  const { signal } = run;
  for (const file of files) {
    await continueAfterFailure(summary, nameOf(file), async () => {
      const noted = await metadataChange(storage, file, { metadata, signal });
      records.push(await storage.change(file, { ...wanted, ...noted, signal }));
      countDone(summary, nameOf(file));
    });
  }
  if (flags.json) printJson(records);
  endSummary(run, summary, files.length > 1);
}

function changeOf(flags: ChangeFlags): FileChange {
  const { type, tag, tags, header, headers, cacheControl } = flags;
  const fields = Object.fromEntries((header ?? []).map(parseHeader));
  const stored = {
    ...fields,
    ...(cacheControl !== undefined && { 'Cache-Control': cacheControl }),
  };
  const isNamed = Object.keys(stored).length > 0 || headers === false;
  return {
    contentType: type,
    tags: tag ?? (tags === false ? [] : undefined),
    headers: isNamed ? (stored as StoredHeaders) : undefined,
  };
}

function parseHeader(text: string): [name: string, value: string] {
  const at = text.indexOf(':');
  if (at < 1) throw new UsageError(`A header must be "Name: value"; got "${text}".`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/**
 * Adds the new pairs to those of the file, because a change replaces all pairs. `ifMatch` then
 * requires that the file has the same bytes as when its pairs were read.
 */
async function metadataChange(
  storage: Storage,
  file: FileName,
  { metadata, signal }: { metadata: ChangeFlags['metadata'] | undefined; signal: AbortSignal },
): Promise<Pick<FileChange, 'metadata' | 'ifMatch'>> {
  if (metadata === undefined) return {};
  if (metadata === false) return { metadata: {} };
  if (metadata.isAnew) return { metadata: metadata.pairs };
  const record = await storage.stat(file, { signal });
  const kept = record.metadata ?? {};
  return { metadata: { ...kept, ...metadata.pairs }, ifMatch: `"${record.etag}"` };
}
