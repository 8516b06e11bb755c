// Lists, reads, restores and erases former versions of files through actor calls.

import type { VersionOperations } from '../operations/versions.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { fileRecordOf, optionals, versionOf } from './candid-records.ts';

export const versionCalls: ActorCalls<VersionOperations> = {
  listVersions: calling(
    ({ actor, apiKey }, { bucket, path, prefix, cursor, limit }) =>
      actor.listVersions({
        bucketId: bucket,
        ...optionals({ path, prefix, cursor, limit, apiKey }),
      }),
    ({ items, nextCursor }) => ({ items: items.map(versionOf), nextCursor: nextCursor[0] }),
  ),
  restoreVersion: calling(
    ({ actor, apiKey }, { bucket, path, version, ifMatch, ifNoneMatch }) =>
      actor.restoreVersion({
        ...{ bucketId: bucket, path, version: BigInt(version) },
        ...optionals({ ifMatch, ifNoneMatch, apiKey }),
      }),
    fileRecordOf,
  ),
  eraseVersions: calling(
    ({ actor, apiKey }, { bucket, path, version, prefix, cursor, bypassGovernance }) =>
      actor.eraseVersions({
        bucketId: bucket,
        ...optionals({ path, version, prefix, cursor, bypassGovernance, apiKey }),
      }),
    ({ erased, held, isDone, nextCursor }) => {
      return {
        erased: Number(erased),
        held: Number(held[0] ?? 0),
        isDone,
        nextCursor: nextCursor[0],
      };
    },
  ),
};
