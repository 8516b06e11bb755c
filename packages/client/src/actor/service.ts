// Reads the service's status and a bucket's mode through actor calls.

import type { ServiceOperations } from '../operations/service.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { bucketRecordOf, statusOf } from './candid-records.ts';

export const serviceCalls: ActorCalls<ServiceOperations> = {
  getEndToEnd: calling(({ actor, key }, bucket) => actor.getBucket(bucket, key), bucketRecordOf),
  status: calling(({ actor }) => actor.getStatus(), statusOf),
};
