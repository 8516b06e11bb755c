// Converts the argument of `createLink` to the domain's type.

import type { LinkRequest } from '../../domain/files/links.ts';
import type { Optional } from './optional.ts';

export interface LinkArgument {
  readonly bucketId: string;
  readonly path: string;
  readonly expiresAt: Optional<bigint>;
  readonly downloadName: Optional<string>;
  readonly passwordProof: Optional<Uint8Array>;
  readonly maxDownloads: Optional<bigint>;
  readonly title: Optional<string>;
  readonly apiKey: Optional<string>;
}

export function linkRequestOf(argument: LinkArgument): LinkRequest {
  return {
    bucket: argument.bucketId,
    path: argument.path,
    expiresAtNs: argument.expiresAt[0],
    downloadName: argument.downloadName[0],
    passwordProof: argument.passwordProof[0],
    maxDownloads: argument.maxDownloads[0],
    title: argument.title[0],
    apiKey: argument.apiKey[0],
  };
}
