// API keys.

/**
 * `upload` adds files and replaces none, which `write` includes; `retain` sets retention and holds,
 * and bypasses governance; `audit` reads the journal; `monitor` reads the metrics, over HTTP only.
 */
export type Permission = 'read' | 'write' | 'delete' | 'retain' | 'audit' | 'monitor' | 'upload';

export interface KeyRequest {
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly Permission[];
  /**
   * Restricts the key to paths that begin with this text; without it the key covers all paths.
   * `inbox/` covers a folder; `inbox` also covers `inbox-2/a`.
   */
  readonly prefix?: string | undefined;
  /**
   * @example
   * ```ts
   * await storage.keys.create({
   *   name: 'sensor',
   *   buckets: ['demo'],
   *   permissions: ['write'],
   *   expiresAt: new Date(Date.now() + 86_400_000),
   *   updatesPerHour: 100,
   *   bytesPerHour: 10_000_000,
   * });
   * ```
   */
  readonly expiresAt?: Date | undefined;
  /**
   * Updates that the key may cause per hour; 0 sets no limit. By default a key that may read has no
   * limit, and any other key has 2,000 updates and 2 GB per hour.
   */
  readonly updatesPerHour?: number | undefined;
  /** Bytes of these updates per hour; 0 sets no limit. */
  readonly bytesPerHour?: number | undefined;
  /**
   * Maximum number of files that a key with `upload` and without `write` stores; 0 for no limit.
   *
   * @example
   * ```ts
   * await storage.keys.create({
   *   name: 'drop box',
   *   buckets: ['demo'],
   *   permissions: ['upload'],
   *   prefix: 'inbox/',
   *   maxFiles: 20,
   *   maxFileBytes: 50_000_000,
   * });
   * ```
   */
  readonly maxFiles?: number | undefined;
  /** Maximum number of bytes of each of these files; 0 for no limit besides that of every file. */
  readonly maxFileBytes?: number | undefined;
}

export interface KeyRecord {
  readonly id: string;
  /** The first characters of the secret. */
  readonly hint: string;
  readonly name: string;
  readonly buckets: readonly string[];
  readonly permissions: readonly string[];
  /** Absent if the key covers all paths of its buckets. */
  readonly prefix?: string | undefined;
  readonly createdAt: string;
  /** Principal; absent for keys of version 0.1.0, and in the result of create(). */
  readonly createdBy?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** Updates that the key may cause per hour; absent if they are not limited. */
  readonly updatesPerHour?: number | undefined;
  /** Bytes of these updates per hour; absent if they are not limited. */
  readonly bytesPerHour?: number | undefined;
  /** Maximum number of files, and how many are stored; absent without a limit. */
  readonly maxFiles?: number | undefined;
  readonly fileCount?: number | undefined;
  /** Maximum number of bytes of each file; absent without a limit. */
  readonly maxFileBytes?: number | undefined;
}

/** The record with the secret, which only create() returns. */
export interface NewKey extends KeyRecord {
  readonly secret: string;
  /** Address of the front's page for links, if the service has a front. */
  readonly linkPage?: string | undefined;
}
