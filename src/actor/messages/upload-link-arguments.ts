// Converts the argument of `createUploadLink` to the domain's type.

import type { UploadLinkRequest } from '../../domain/administration/upload-links.ts';
import type { Optional } from './optional.ts';

export interface UploadLinkArgument {
  readonly bucketId: string;
  readonly path: Optional<string>;
  readonly prefix: Optional<string>;
  readonly expiresAt: Optional<bigint>;
  readonly maxFileBytes: Optional<bigint>;
  readonly maxFiles: Optional<bigint>;
  readonly apiKey: Optional<string>;
}

export function uploadLinkRequestOf(argument: UploadLinkArgument): UploadLinkRequest {
  return {
    bucket: argument.bucketId,
    path: argument.path[0],
    prefix: argument.prefix[0],
    expiresAtNs: argument.expiresAt[0],
    maxFileBytes: argument.maxFileBytes[0],
    maxFiles: argument.maxFiles[0],
    apiKey: argument.apiKey[0],
  };
}
