// Seals the paths of arguments. Loaded with the first call in a bucket that seals names, and with
// the first copy or move, whose source may be in one.

import type { OpenUse, SealUse, UnsupportedField } from '../operations/operation.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { PathNames } from './bucket-names.ts';
import { batches } from './sealing-batches.ts';

/** The part of a row that names fields with paths, whatever the operation. */
export interface PathRow {
  readonly isNaming?: boolean;
  readonly seals?: Readonly<Record<string, SealUse>> | undefined;
  readonly opens?: OpenUse | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns undefined if the argument is not a batch. */
type Batch = (
  names: PathNames,
  argument: unknown,
  send: (argument: unknown) => Promise<unknown>,
) => Promise<unknown> | undefined;

export function batchOf(operation: string): Batch | undefined {
  return batches[operation as keyof typeof batches] as Batch | undefined;
}

interface Sealer {
  readonly names: PathNames;
  readonly bucket: string;
  /** Returns the names of another bucket. */
  source(bucket: string): Promise<PathNames>;
}

export async function sealedArgument(
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
  title: (bucket) =>
    `Bucket ${bucket} is end-to-end, but the service would store the title in plain text. Omit title.`,
};
