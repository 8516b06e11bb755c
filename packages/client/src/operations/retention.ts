// Operations on the retention and the legal hold of versions.

import type { FileRecord } from '../types/files.ts';
import type { RetentionMode } from '../types/retention.ts';
import type { NumberedFile } from './files.ts';
import type { PathRows, Rows } from './operation.ts';
import { posting } from './operation-request.ts';
import { bucketPath } from './url-paths.ts';

/** Without mode and time, the retention ends. */
export interface RetentionRequest extends NumberedFile {
  readonly mode?: RetentionMode | undefined;
  /** ISO 8601. */
  readonly retainUntil?: string | undefined;
  readonly bypassGovernance?: boolean | undefined;
}

export interface HoldRequest extends NumberedFile {
  readonly hold: boolean;
}

export interface RetentionOperations {
  setRetention(request: RetentionRequest): FileRecord;
  setHold(request: HoldRequest): FileRecord;
}

export const retentionRows = {
  setRetention: {
    retry: 'repeat',
    request: ({ bucket, ...change }) => posting(`${bucketPath(bucket)}/retention`, change),
  },
  setHold: {
    retry: 'repeat',
    request: ({ bucket, ...change }) => posting(`${bucketPath(bucket)}/hold`, change),
  },
} satisfies Rows<RetentionOperations>;

export const retentionPaths = {
  setRetention: { seals: { path: 'path' }, opens: 'record' },
  setHold: { seals: { path: 'path' }, opens: 'record' },
} satisfies PathRows<RetentionOperations>;
