// Who may create buckets, and new keys in place of those that encrypt: by the actor only. A
// rotation is asked for once: asked for again it would be another one.

import { type Connection, trying } from '../connection/connection.ts';
import type { AccessChange, RootKeySource } from '../types/service.ts';
import { managementOf } from './buckets-and-keys.ts';

/** For controllers of the canister; anybody else is refused with AccessDenied. */
export interface Access {
  /** Principals that may create buckets, beside the controllers. An update call. */
  list(): Promise<readonly string[]>;
  /** All that may create buckets after it. QuotaExceeded beyond the service's limit. */
  update(change: AccessChange): Promise<readonly string[]>;
}

/**
 * Answers come at once; the service goes on by itself, and `status().encryption.isRotating` tells
 * until when. No byte of a file is written again.
 */
export interface Rotation {
  /** For the bucket's owners. SlowDown while an earlier one of the bucket is going on. */
  bucket(id: string): Promise<void>;
  /** For controllers. From where the present one comes unless a source is named. */
  root(source?: RootKeySource): Promise<void>;
}

export function accessOf(connection: Connection): Access {
  const update = (change: AccessChange) =>
    trying(connection, undefined, () => managementOf(connection).updateAccess(change));
  return { list: () => update({}), update };
}

export function rotationOf(connection: Connection): Rotation {
  return {
    bucket: async (id) => managementOf(connection).rotateBucketKey(id),
    root: async (source) => managementOf(connection).rotateRootKey(source),
  };
}
