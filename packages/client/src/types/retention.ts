// Retention and legal holds, which protect versions of files.

import type { CallOptions } from './call-options.ts';

/** governance: owners can end it explicitly; compliance: nobody can shorten it. */
export type RetentionMode = 'governance' | 'compliance';

/** Protection of a version: nothing replaces, deletes, moves or changes it meanwhile. */
export interface Retention {
  /** Absent: only a hold. */
  readonly mode?: RetentionMode | undefined;
  /** ISO 8601; present with a mode. */
  readonly retainUntil?: string | undefined;
  /** A legal hold, which has no time. */
  readonly hold: boolean;
}

/** Files below the prefix that are written from now on are retained for these days. */
export interface RetentionRule {
  /** Taken literally; by default the whole bucket. The rule with the longest prefix applies. */
  readonly prefix?: string | undefined;
  readonly mode: RetentionMode;
  /** 1 to 36,500. */
  readonly days: number;
}

export interface HoldOptions extends CallOptions {
  /**
   * The number of the present or a former version; by default the present one.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { version } = await storage.stat(file);
   * await storage.retention.hold(file, { version });
   * await storage.retention.release(file, { version });
   * ```
   */
  readonly version?: number | undefined;
}

export interface RetainOptions extends HoldOptions {
  readonly mode: RetentionMode;
  readonly until: Date;
  /**
   * Shortens a retention in governance mode.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const until = (days: number) => new Date(Date.now() + days * 86_400_000);
   * await storage.retention.set(file, { mode: 'governance', until: until(9) });
   * const shorter = { mode: 'governance', until: until(1), bypassGovernance: true } as const;
   * await storage.retention.set(file, shorter);
   * await storage.retention.end(file, { bypassGovernance: true });
   * ```
   */
  readonly bypassGovernance?: boolean | undefined;
}

export interface EndRetentionOptions extends HoldOptions {
  /** Required while a retention in governance mode lasts. */
  readonly bypassGovernance?: boolean | undefined;
}
