// A transport with plain paths over one with sealed paths. All paths of the client pass through
// here; the rows of the operations say which fields of arguments and results have paths.

import type { Transport } from '../connection/transport.ts';
import type { EntriesUse } from '../operations/operation.ts';
import { type Call, callsOf, type Operations, pathRows } from '../operations/table.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { NamesOf, PathNames } from './bucket-names.ts';
import type { PathRow } from './sealed-arguments.ts';
import { byPath, found, inClear, inClearResult, shown } from './shown-paths.ts';

type Fields = Readonly<Record<string, unknown>>;
type Named = { readonly path: string };

const forSealing = () => import('./sealed-arguments.ts');

export function sealingTransport(transport: Transport, namesOf: NamesOf): Transport {
  const { line, probe, wholeFileBytesMax, bodyMsMax, linkBase } = transport;
  const { readsByLinks, opensWithBytes, hasOneRound } = transport;
  const calls = callsOf<Operations, PathRow>(pathRows(), (row, name) => {
    const call = transport[name as keyof Operations] as Call;
    const hasPaths = row.seals !== undefined || row.opens !== undefined;
    return hasPaths ? sealingCall(call, { row, name, namesOf }) : call;
  });
  // The transport is not spread, because a member with a path would pass unsealed.
  return {
    ...{ line, probe, wholeFileBytesMax, bodyMsMax, linkBase, readsByLinks, opensWithBytes },
    hasOneRound,
    // The verifier is used only for the modes of buckets, which contain no paths.
    verifier: transport.verifier,
    certifiedPage: transport.certifiedPage,
    administration: transport.administration,
    ...calls,
  };
}

interface Sealing {
  readonly row: PathRow;
  readonly name: string;
  readonly namesOf: NamesOf;
}

/**
 * Returns a call that seals the paths of its argument with the names key of its bucket, and opens
 * those of its result and errors.
 */
function sealingCall(call: Call, { row, name, namesOf }: Sealing): Call {
  const hasSource = Object.values(row.seals ?? {}).includes('source');
  return async (argument, signal) => {
    const { bucket, paths } = placeOf(argument, row);
    const names = await namesOf(bucket, row.isNaming ? 'name' : 'find', signal);
    const source = (other: string) => namesOf(other, 'find', signal);
    try {
      let sealed = argument;
      if (names.isSealing || hasSource) {
        const { batchOf, sealedArgument } = await forSealing();
        const send = (batch: unknown) => call(batch, signal);
        const answered = names.isSealing && batchOf(name)?.(names, argument, send);
        if (answered) return await answered;
        sealed = await sealedArgument(argument, row, { names, bucket, source });
      }
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
