// Sets retention and legal holds of versions through actor calls.

import type { RetentionOperations } from '../operations/retention.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { fileRecordOf, optionals, optionalTime } from './candid-records.ts';

export const retentionCalls: ActorCalls<RetentionOperations> = {
  setRetention: calling(
    ({ actor, apiKey }, { bucket, path, version, mode, retainUntil, bypassGovernance }) =>
      actor.setRetention({
        ...{ bucketId: bucket, path },
        retainUntil: optionalTime(retainUntil === undefined ? undefined : new Date(retainUntil)),
        ...optionals({ version, mode, bypassGovernance, apiKey }),
      }),
    fileRecordOf,
  ),
  setHold: calling(
    ({ actor, apiKey }, { bucket, path, version, hold }) =>
      actor.setHold({ bucketId: bucket, path, hold, ...optionals({ version, apiKey }) }),
    fileRecordOf,
  ),
};
