// Retention and legal holds of versions, for owners of the bucket and keys with `retain`.

import { type Connection, perform } from '../connection/connection.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { EndRetentionOptions, HoldOptions, RetainOptions } from '../types/retention.ts';
import { requireVersionNumber } from '../types/version-number.ts';

/** Protection of versions: nothing replaces, deletes, moves or changes a held one. */
export interface RetentionGroup {
  /**
   * Retains a version until a time. Lengthening is always allowed. Nobody can shorten a retention
   * in compliance mode.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const until = new Date(Date.now() + 86_400_000);
   * await storage.retention.set(file, { mode: 'governance', until });
   * await storage.retention.end(file, { bypassGovernance: true });
   * ```
   */
  set(file: FileName, options: RetainOptions): Promise<FileRecord>;
  /**
   * Ends a retention in governance mode, or one whose time is over.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const record = await storage.retention.end(file, { bypassGovernance: true });
   * console.log(record.retention);
   * ```
   */
  end(file: FileName, options?: EndRetentionOptions): Promise<FileRecord>;
  /**
   * Sets the legal hold of a version, which lasts until it is released.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * console.log((await storage.retention.hold(file)).retention?.hold);
   * await storage.retention.release(file);
   * ```
   */
  hold(file: FileName, options?: HoldOptions): Promise<FileRecord>;
  /**
   * Removes the legal hold of a version; its retention stays.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * await storage.retention.hold(file);
   * await storage.retention.release(file);
   * ```
   */
  release(file: FileName, options?: HoldOptions): Promise<FileRecord>;
}

export function retentionOf(connection: Connection): RetentionGroup {
  const setHold = (file: FileName, hold: boolean, { version, signal }: HoldOptions = {}) => {
    requireVersionNumber(version);
    return perform(connection, 'setHold', { ...nameOf(file), version, hold }, signal);
  };
  return {
    async set(file, { version, mode, until, bypassGovernance, signal }) {
      requireVersionNumber(version);
      const retainUntil = until.toISOString();
      const change = { ...nameOf(file), version, mode, retainUntil, bypassGovernance };
      return perform(connection, 'setRetention', change, signal);
    },
    async end(file, { version, bypassGovernance, signal } = {}) {
      requireVersionNumber(version);
      const change = { ...nameOf(file), version, bypassGovernance };
      return perform(connection, 'setRetention', change, signal);
    },
    hold: async (file, options) => setHold(file, true, options),
    release: async (file, options) => setHold(file, false, options),
  };
}

function nameOf({ bucket, path }: FileName): FileName {
  return { bucket, path };
}
