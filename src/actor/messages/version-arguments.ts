// Converts the arguments of version methods to the domain's types.

import type { Erasure } from '../../domain/files/version-erasure.ts';
import type { Restoration } from '../../domain/files/versions.ts';
import { numberOf, type Optional, prefixOf } from './optional.ts';

export interface RestorationArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly version: bigint;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function restorationOf(argument: RestorationArgument): Restoration {
  const { bucketId: bucket, path, version, ifMatch, ifNoneMatch, apiKey } = argument;
  const conditions = { ifMatch: ifMatch[0], ifNoneMatch: ifNoneMatch[0] };
  return { bucket, path, version: Number(version), conditions, apiKey: apiKey[0] };
}

export interface ErasureArgument {
  readonly bucketId: string;
  readonly path: Optional<string>;
  readonly version: Optional<bigint>;
  readonly prefix: Optional<string>;
  readonly cursor: Optional<string>;
  readonly bypassGovernance: Optional<boolean>;
  readonly apiKey: Optional<string>;
}

export function erasureOf(argument: ErasureArgument): Erasure {
  return {
    bucket: argument.bucketId,
    path: argument.path[0],
    version: numberOf(argument.version),
    prefix: prefixOf(argument.prefix),
    cursor: argument.cursor[0],
    bypassesGovernance: argument.bypassGovernance[0],
    apiKey: argument.apiKey[0],
  };
}
