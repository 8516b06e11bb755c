// Converts the arguments of copies, moves and changes to the domain's types.

import type { CopyRequest as CopyOrder } from '../../domain/files/copies.ts';
import type { FileChange as Change, ChangedNotes } from '../../domain/files/file-changes.ts';
import type { SwitchClaim } from '../../domain/files/file-switch.ts';
import type { PrefixMove as PrefixOrder } from '../../domain/files/prefix-moves.ts';
import { withoutSlash } from '../../domain/shared/names.ts';
import type { FileSwitchArgument } from './batch-messages.ts';
import { numberOf, type Optional } from './optional.ts';

interface NotesArgument {
  readonly contentType: Optional<string>;
  readonly tags: Optional<string[]>;
  readonly headers: Optional<[string, string][]>;
  readonly metadata: Optional<[string, string][]>;
}

function notesOf({ contentType, tags, headers, metadata }: NotesArgument): ChangedNotes {
  return {
    contentType: contentType[0],
    tags: tags[0],
    headers: headers[0],
    metadata: metadata[0],
  };
}

export interface CopyArgument extends NotesArgument {
  readonly bucketId: string;
  readonly from: string;
  readonly version: Optional<bigint>;
  readonly toBucketId: Optional<string>;
  readonly to: string;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly ifSourceMatch: Optional<string>;
  readonly bypassGovernance: Optional<boolean>;
  readonly apiKey: Optional<string>;
}

export function copyOrderOf(argument: CopyArgument): CopyOrder {
  return {
    ...notesOf(argument),
    bucket: argument.bucketId,
    from: argument.from,
    version: numberOf(argument.version),
    ifSourceMatch: argument.ifSourceMatch[0],
    to: { bucket: argument.toBucketId[0], path: argument.to },
    conditions: { ifMatch: argument.ifMatch[0], ifNoneMatch: argument.ifNoneMatch[0] },
    bypassesGovernance: argument.bypassGovernance[0],
    apiKey: argument.apiKey[0],
  };
}

export interface PrefixArgument {
  readonly bucketId: string;
  readonly fromPrefix: string;
  readonly toPrefix: string;
  readonly cursor: Optional<string>;
  readonly bypassGovernance: Optional<boolean>;
  readonly apiKey: Optional<string>;
}

/** Removes a leading slash from the prefixes: it is optional, as in paths. */
export function prefixOrderOf(argument: PrefixArgument): PrefixOrder {
  return {
    bucket: argument.bucketId,
    fromPrefix: withoutSlash(argument.fromPrefix),
    toPrefix: withoutSlash(argument.toPrefix),
    cursor: argument.cursor[0],
    bypassesGovernance: argument.bypassGovernance[0],
    apiKey: argument.apiKey[0],
  };
}

export function switchClaimOf(argument: FileSwitchArgument): SwitchClaim {
  const { bucketId: bucket, fromPrefix, toPrefix, ifResult, apiKey } = argument;
  const prefixes = { fromPrefix: withoutSlash(fromPrefix), toPrefix: withoutSlash(toPrefix) };
  return { bucket, ...prefixes, ifResult, apiKey };
}

export interface ChangeArgument extends NotesArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function changeOf(argument: ChangeArgument): Change {
  return {
    ...notesOf(argument),
    bucket: argument.bucketId,
    path: argument.path,
    conditions: { ifMatch: argument.ifMatch[0], ifNoneMatch: argument.ifNoneMatch[0] },
    apiKey: argument.apiKey[0],
  };
}
