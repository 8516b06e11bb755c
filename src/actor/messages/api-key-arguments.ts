// Converts the arguments of API key methods to the domain's types.

import type { KeyRequest } from '../../domain/administration/api-key-administration.ts';
import type { Optional } from './optional.ts';

export interface ApiKeyArgument {
  readonly name: string;
  readonly buckets: string[];
  readonly permissions: string[];
  readonly prefix: Optional<string>;
  readonly expiresAt: Optional<bigint>;
  readonly updatesPerHour: Optional<bigint>;
  readonly bytesPerHour: Optional<bigint>;
  readonly maxFileBytes: Optional<bigint>;
  readonly maxFiles: Optional<bigint>;
}

export function keyRequestOf(argument: ApiKeyArgument): KeyRequest {
  const { name, buckets, permissions, prefix, expiresAt } = argument;
  const [updatesPerHour] = argument.updatesPerHour;
  const [bytesPerHour] = argument.bytesPerHour;
  const budget = { updatesPerHour, bytesPerHour };
  return {
    ...{ name, buckets, permissions, prefix: prefix[0], expiresAtNs: expiresAt[0], budget },
    maxFileBytes: argument.maxFileBytes[0],
    maxFiles: argument.maxFiles[0],
  };
}
