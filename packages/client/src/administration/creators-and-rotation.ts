// The right to create buckets, the rotation of encryption keys, and the code of the service; all
// require the actor.

import type { Connection } from '../connection/connection.ts';
import type { AccessChange, RootKeySource, ServiceCode } from '../types/service.ts';
import { manage } from './buckets-and-keys.ts';

/** Manages the creators of buckets. Requires a controller; other callers get AccessDenied. */
export interface Access {
  /**
   * Returns the principals that may create buckets, besides the controllers. Costs an update call.
   *
   * @example
   * ```ts
   * console.log(await storage.access.list());
   * ```
   */
  list(): Promise<readonly string[]>;
  /**
   * Applies a change and returns all principals that may create buckets. Throws QuotaExceeded
   * beyond the service's limit.
   *
   * @example
   * ```ts
   * const creators = await storage.access.update({ allow: ['<their principal>'] });
   * console.log(creators);
   * ```
   */
  update(change: AccessChange): Promise<readonly string[]>;
}

/**
 * Rotates encryption keys. Calls return at once; the service continues by itself until
 * `status().encryption.isRotating` is false. It rewrites no file contents.
 */
export interface Rotation {
  /**
   * Rotates a bucket's key. Requires an owner. Throws SlowDown during another rotation of the
   * bucket.
   *
   * @example
   * ```ts
   * await storage.rotation.bucket('demo');
   * ```
   */
  bucket(id: string): Promise<void>;
  /**
   * Rotates the root key; the new key has the same source by default. Requires a controller. Throws
   * SlowDown during another rotation.
   *
   * @example
   * ```ts
   * while ((await storage.status()).encryption.isRotating) {
   *   await new Promise((resolve) => setTimeout(resolve, 1_000));
   * }
   * await storage.rotation.root();
   * ```
   */
  root(source?: RootKeySource): Promise<void>;
}

export function accessOf(connection: Connection): Access {
  const update = (change: AccessChange) => manage(connection, 'updateAccess', change);
  return { list: () => update({}), update };
}

/** Returns the hash of the service's code and who may replace it. */
export function codeOf(connection: Connection): () => Promise<ServiceCode> {
  return () => manage(connection, 'getCode', undefined);
}

export function rotationOf(connection: Connection): Rotation {
  return {
    bucket: (id) => manage(connection, 'rotateBucketKey', id),
    root: (source) => manage(connection, 'rotateRootKey', source),
  };
}
