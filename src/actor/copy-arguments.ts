// The arguments of copies, moves and changes of files as the domain takes them.

import type { CopyRequest as CopyOrder } from '../domain/files/copies.ts';
import type { FileChange as Change } from '../domain/files/file-changes.ts';
import type { PrefixMove as PrefixOrder } from '../domain/files/prefix-moves.ts';
import { withoutSlash } from '../domain/shared/names.ts';
import type { Optional } from './optional.ts';

export interface CopyArgument {
  readonly bucketId: string;
  readonly from: string;
  readonly toBucketId: Optional<string>;
  readonly to: string;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function copyOrderOf(argument: CopyArgument): CopyOrder {
  return {
    bucket: argument.bucketId,
    from: argument.from,
    to: { bucket: argument.toBucketId[0], path: argument.to },
    conditions: { ifMatch: argument.ifMatch[0], ifNoneMatch: argument.ifNoneMatch[0] },
    apiKey: argument.apiKey[0],
  };
}

export interface PrefixArgument {
  readonly bucketId: string;
  readonly fromPrefix: string;
  readonly toPrefix: string;
  readonly apiKey: Optional<string>;
}

/** Prefixes may be written with the slash that paths may be written with. */
export function prefixOrderOf(argument: PrefixArgument): PrefixOrder {
  return {
    bucket: argument.bucketId,
    fromPrefix: withoutSlash(argument.fromPrefix),
    toPrefix: withoutSlash(argument.toPrefix),
    apiKey: argument.apiKey[0],
  };
}

export interface ChangeArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: Optional<string>;
  readonly tags: Optional<string[]>;
  readonly headers: Optional<[string, string][]>;
  readonly metadata: Optional<[string, string][]>;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function changeOf(argument: ChangeArgument): Change {
  return {
    bucket: argument.bucketId,
    path: argument.path,
    contentType: argument.contentType[0],
    tags: argument.tags[0],
    headers: argument.headers[0],
    metadata: argument.metadata[0],
    conditions: { ifMatch: argument.ifMatch[0], ifNoneMatch: argument.ifNoneMatch[0] },
    apiKey: argument.apiKey[0],
  };
}
