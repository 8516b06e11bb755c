// Entries of the journal, and the proof that nobody has changed it.

import type { CallOptions } from './call-options.ts';

/** The author of a change; the canister itself, such as when a link expires, has no id. */
export interface JournalActor {
  readonly kind: 'principal' | 'apiKey' | 'canister';
  /** A principal, or the id of an API key. */
  readonly id?: string | undefined;
}

/** The values besides the subject to which the entry's block commits, in hexadecimal digits. */
export interface JournalProof {
  readonly details: string;
  readonly detailsSalt: string;
  readonly subjectSalt?: string | undefined;
  /** The hash of the subject, which a redacted entry has instead of the salt. */
  readonly subjectHash?: string | undefined;
}

/** One change. The fields that follow `subject` are present if the kind has them. */
export interface JournalEntry {
  /** From 1, without gaps in the canister; a bucket has some of the numbers. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  /** Such as `file.stored`: see the reference of the journal. */
  readonly kind: string;
  readonly by: JournalActor;
  /**
   * The changed thing as the service stores it; the fields below are parts of it. Empty in a
   * redacted entry.
   */
  readonly subject: string;
  /** Whether an owner has replaced the subject by its hash. */
  readonly isRedacted?: boolean | undefined;
  /** Path of a file; as stored if the bucket seals names and the caller cannot open them. */
  readonly path?: string | undefined;
  /** The path before a move. */
  readonly formerPath?: string | undefined;
  readonly linkId?: string | undefined;
  readonly keyId?: string | undefined;
  /** The principal whose role has changed. */
  readonly member?: string | undefined;
  /** The member's new role; absent if it was removed. */
  readonly role?: string | undefined;
  /** Names of the changed settings of the bucket. */
  readonly settings?: readonly string[] | undefined;
  /** The file's version number. */
  readonly version?: number | undefined;
  /** SHA-256 of the file's bytes in hexadecimal digits. */
  readonly digest?: string | undefined;
  readonly proof: JournalProof;
}

export interface JournalPage {
  readonly entries: readonly JournalEntry[];
  /** Number of the last entry of all buckets. */
  readonly last: number;
  /** Whether more entries follow in the same direction. */
  readonly hasMore: boolean;
  /** For how many days the bucket shows its entries. */
  readonly keptDays: number;
}

export interface JournalEntriesOptions extends CallOptions {
  /**
   * Only entries after this number; they come oldest first.
   *
   * @example
   * ```ts
   * for await (const { seq, kind } of storage.journal.entries('demo', { after: 10 })) {
   *   console.log(seq, kind);
   * }
   * ```
   */
  readonly after?: number | undefined;
}

export interface JournalWatchOptions extends JournalEntriesOptions {
  /**
   * Only entries of files whose path, or path before a move, begins with this text.
   *
   * @example
   * ```ts
   * const stop = new AbortController();
   * const wanted = { after: 0, prefix: 'notes/', kinds: ['file.stored', 'file.moved'] };
   * for await (const entry of storage.journal.watch('demo', { ...wanted, signal: stop.signal })) {
   *   console.log(entry.kind, entry.path);
   *   stop.abort();
   * }
   * ```
   */
  readonly prefix?: string | undefined;
  /** Only entries of these kinds. */
  readonly kinds?: readonly string[] | undefined;
  /**
   * Milliseconds between two requests, from 100 on; 1,000 by default. While nothing changes, the
   * pauses grow up to ten times this.
   *
   * @example
   * ```ts
   * const { signal } = new AbortController();
   * const options = { after: 0, intervalMs: 5_000, signal };
   * for await (const { kind } of storage.journal.watch('demo', options)) {
   *   console.log(kind);
   *   break;
   * }
   * ```
   */
  readonly intervalMs?: number | undefined;
}

export interface JournalListOptions extends JournalEntriesOptions {
  /**
   * Only entries before this number; they come newest first, as without `after` and `before`.
   *
   * @example
   * ```ts
   * const { entries } = await storage.journal.list('demo', { before: 100 });
   * console.log(entries.length);
   * ```
   */
  readonly before?: number | undefined;
  /**
   * 1 to 5,000; default 100. A page has fewer entries if they are long or far apart in the log.
   *
   * @example
   * ```ts
   * const { entries, last } = await storage.journal.list('demo', { limit: 10 });
   * console.log(entries[0]?.kind, last);
   * ```
   */
  readonly limit?: number | undefined;
}

/** The end of a canister's chain of blocks at some time. */
export interface JournalTip {
  readonly canisterId: string;
  /** Index of the last block, from 0: the block of the entry `seq` has the index `seq` - 1. */
  readonly index: number;
  /** Hash of the last block, 64 hexadecimal digits. */
  readonly hash: string;
}

export interface JournalVerifyOptions extends CallOptions {
  /**
   * Also compares the entries that the service shows of this bucket with their blocks.
   *
   * @example
   * ```ts
   * const { tip, entries } = await storage.journal.verify({ bucket: 'demo' });
   * console.log(tip.hash, entries);
   * ```
   */
  readonly bucket?: string | undefined;
  /**
   * An earlier tip that must be part of the chain.
   *
   * @example
   * ```ts
   * const { tip } = await storage.journal.verify();
   * await storage.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/new.txt' });
   * console.log((await storage.journal.verify({ since: tip })).blocks);
   * ```
   */
  readonly since?: JournalTip | undefined;
  /**
   * Called as blocks are verified, of a number that is known from the beginning.
   *
   * @example
   * ```ts
   * await storage.journal.verify({
   *   onProgress: ({ blocks, blockCount }) => console.log(blocks, blockCount),
   * });
   * ```
   */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

export interface VerifyProgress {
  /** Verified blocks. */
  readonly blocks: number;
  /** All stored blocks. */
  readonly blockCount: number;
}

export interface VerifiedJournal {
  readonly tip: JournalTip;
  /** Index of the first stored block; the service frees old ones, see the journal's reference. */
  readonly first: number;
  /** Number of stored blocks, all of which were verified. */
  readonly blocks: number;
  /** Number of entries of the bucket, all of which match their blocks; absent without a bucket. */
  readonly entries?: number | undefined;
}
