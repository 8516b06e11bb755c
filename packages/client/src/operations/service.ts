// Operations on the service and on a bucket's mode.

import type { BucketEpoch, EndToEndRecord } from '../types/end-to-end.ts';
import type { ServiceStatus } from '../types/service.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting } from './operation-request.ts';
import { bucketPath } from './url-paths.ts';

/** Over HTTP, `endToEnd` can be null, and lacks the values that identities are derived from. */
export interface BucketMode {
  readonly endToEnd?:
    | EndToEndRecord
    | (Omit<EndToEndRecord, 'serial' | 'epochs'> & { readonly epoch?: BucketEpoch | undefined })
    | null
    | undefined;
  /** Absent over HTTP. */
  readonly keepVersionsDays?: number | undefined;
}

export interface ServiceOperations {
  getEndToEnd(bucket: string): BucketMode;
  status(): ServiceStatus;
}

export const serviceRows = {
  getEndToEnd: {
    retry: 'repeat',
    request: (bucket) => getting(`${bucketPath(bucket)}/end-to-end`),
  },
  status: {
    retry: 'repeat',
    request: () => getting('/api/v1/status'),
  },
} satisfies Rows<ServiceOperations>;

export const servicePaths = {
  getEndToEnd: {},
  status: {},
} satisfies PathRows<ServiceOperations>;
