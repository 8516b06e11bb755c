// A transport with plain paths over one with sealed paths. All paths of the client pass through
// here; the rows of the operations say which fields of arguments and results have paths.

import type { Transport } from '../connection/transport.ts';
import type { EntriesUse, OpenUse, SealUse, UnsupportedField } from '../operations/operation.ts';
import { type Call, callsOf, type Operations, pathRows } from '../operations/table.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { NamesOf, PathNames } from './bucket-names.ts';
import { batches } from './sealing-batches.ts';
import { byPath, found, inClear, inClearResult, shown } from './shown-paths.ts';

/** The part of a row that names fields with paths, whatever the operation. */
interface PathRow {
  readonly isNaming?: boolean;
  readonly seals?: Readonly<Record<string, SealUse>> | undefined;
  readonly opens?: OpenUse | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type Named = { readonly path: string };
/** Returns undefined if the argument is not a batch. */
type Batch = (
  names: PathNames,
  argument: unknown,
  send: (argument: unknown) => Promise<unknown>,
) => Promise<unknown> | undefined;

export function sealingTransport(transport: Transport, namesOf: NamesOf): Transport {
  const { line, probe, wholeFileBytesMax, bodyMsMax, linkBase } = transport;
  const { readsByLinks, opensWithBytes, hasOneRound } = transport;
  const calls = callsOf<Operations, PathRow>(pathRows(), (row, name) => {
    const call = transport[name as keyof Operations] as Call;
    const hasPaths = row.seals !== undefined || row.opens !== undefined;
    const batch = batches[name as keyof typeof batches] as Batch | undefined;
    return hasPaths ? sealingCall(call, { row, batch, namesOf }) : call;
  });
  // The transport is not spread, because a member with a path would pass unsealed.
  return {
    ...{ line, probe, wholeFileBytesMax, bodyMsMax, linkBase, readsByLinks, opensWithBytes },
    hasOneRound,
    // The verifier is used only for the modes of buckets, which contain no paths.
    verifier: transport.verifier,
    administration: transport.administration,
    ...calls,
  };
}

interface Sealing {
  readonly row: PathRow;
  readonly batch: Batch | undefined;
  readonly namesOf: NamesOf;
}

/**
 * Returns a call that seals the paths of its argument with the names key of its bucket, and opens
 * those of its result and errors.
 */
function sealingCall(call: Call, { row, batch, namesOf }: Sealing): Call {
  return async (argument, signal) => {
    const { bucket, paths } = placeOf(argument, row);
    const names = await namesOf(bucket, row.isNaming ? 'name' : 'find', signal);
    const source = (other: string) => namesOf(other, 'find', signal);
    try {
      const answered = batch?.(names, argument, (sealed) => call(sealed, signal));
      if (answered !== undefined) return await answered;
      const sealed = await sealedArgument(argument, row, { names, bucket, source });
      return opened(names, await call(sealed, signal), { row, argument });
    } catch (error) {
      throw isStorageError(error) ? inClear(names, error, paths) : error;
    }
  };
}

interface Place {
  readonly bucket: string;
  /** Plain paths of the argument. */
  readonly paths: readonly string[];
}

function placeOf(argument: unknown, { seals = {} }: PathRow): Place {
  if (typeof argument === 'string') return { bucket: argument, paths: [] };
  const fields = argument as Fields & { readonly bucket: string };
  let { bucket } = fields;
  const paths: string[] = [];
  for (const [field, use] of Object.entries(seals)) {
    const value = fields[field];
    if (use === 'path' && typeof value === 'string') paths.push(value);
    if (use !== 'source' && use !== 'target') continue;
    const file = value as FileName;
    paths.push(file.path);
    if (use === 'target') bucket = file.bucket;
  }
  return { bucket, paths };
}

interface Sealer {
  readonly names: PathNames;
  readonly bucket: string;
  /** Returns the names of another bucket. */
  source(bucket: string): Promise<PathNames>;
}

async function sealedArgument(
  argument: unknown,
  { seals }: PathRow,
  sealer: Sealer,
): Promise<unknown> {
  if (seals === undefined) return argument;
  const sealed: Record<string, unknown> = { ...(argument as Fields) };
  for (const [field, use] of Object.entries(seals)) {
    const value = sealed[field];
    if (value !== undefined) sealed[field] = await sealedField(value, { field, use }, sealer);
  }
  return sealed;
}

async function sealedField(
  value: unknown,
  { field, use }: { readonly field: string; readonly use: SealUse },
  { names, bucket, source }: Sealer,
): Promise<unknown> {
  if (use === 'source' || use === 'target') {
    const file = value as FileName;
    const own = use === 'source' ? await source(file.bucket) : names;
    return { ...file, path: own.seal(file.path) };
  }
  const text = String(value);
  if (!names.isSealing) return value;
  switch (use) {
    case 'path':
      return names.seal(text);
    case 'search':
      return names.seal(folderOf(text));
    case 'folder':
      if (folderOf(text) === text) return names.seal(text);
      throw new StorageError(
        'InvalidArgument',
        `Bucket ${bucket} seals whole names, so the prefix "${text}" must end in a slash. Only ` +
          'lists accept a part of a name.',
      );
    case 'unsupported':
      throw new StorageError('InvalidArgument', unsupported[field as UnsupportedField](bucket));
    case 'batch':
      // The batch has been sealed by sealing-batches.ts.
      return value;
  }
}

/** Returns the part of a prefix that the service can match; the rest is matched here. */
function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

const unsupported: Readonly<Record<UnsupportedField, (bucket: string) => string>> = {
  startAfter: (bucket) =>
    `Bucket ${bucket} seals names, and its lists are in the order of the sealed names. Omit ` +
    'startAfter and continue by the cursor.',
  downloadName: (bucket) =>
    `Bucket ${bucket} seals names, but the service would store the download name in plain text. ` +
    'Omit downloadName.',
};

interface Opening {
  readonly row: PathRow;
  readonly argument: unknown;
}

function opened(names: PathNames, result: unknown, opening: Opening): unknown {
  const { opens } = opening.row;
  if (opens === undefined) return result;
  if (opens === 'record') return shown(names, result as Named);
  if (opens === 'records') return (result as readonly Named[]).map((one) => shown(names, one));
  const fields: Record<string, unknown> = { ...(result as Fields) };
  for (const [field, use] of Object.entries(opens)) {
    fields[field] = openedEntries(names, fields[field] as readonly Named[], { use, ...opening });
  }
  return fields;
}

/**
 * Opens the paths of entries. In a bucket that seals names, keeps those that begin with the prefix
 * (except `outcomes`), and sorts `sorted` ones by plain path.
 */
function openedEntries(
  names: PathNames,
  entries: readonly Named[],
  { use, row, argument }: Opening & { readonly use: EntriesUse },
): readonly Named[] {
  if (use === 'outcomes') return entries.map((entry) => inClearResult(names, entry));
  const fields = argument as Fields;
  const [searched = ''] = Object.entries(row.seals ?? {}).find(([, own]) => own === 'search') ?? [];
  const kept = found(names, entries, String(fields[searched] ?? ''));
  if (use === 'entries' || !names.isSealing) return kept;
  const sign = fields.sort === 'name_desc' ? -1 : 1;
  return kept.toSorted((one, other) => sign * byPath(one, other));
}
