// The Candid records of requests that upload a file.

import type { FileMetadata, SessionRequest } from '../operations/uploads.ts';
import { optionals, pairsOf } from './candid-records.ts';
import type { Service } from './connection.ts';

export function destinationOf({ apiKey }: Pick<Service, 'apiKey'>, file: FileMetadata) {
  const { bucket, path, tags, metadata, sha256, ifMatch, ifNoneMatch } = file;
  return {
    ...{ bucketId: bucket, path, metadata: pairsOf(metadata) },
    ...optionals({ tags, sha256, ifMatch, ifNoneMatch, apiKey }),
  };
}

export function sessionRequestOf(service: Pick<Service, 'apiKey'>, request: SessionRequest) {
  const { size, chunkBytes, contentType, headers, token } = request;
  return {
    ...{ ...destinationOf(service, request), headers: pairsOf(headers) },
    ...optionals({ contentType, chunkSize: chunkBytes, token, size }),
  };
}
