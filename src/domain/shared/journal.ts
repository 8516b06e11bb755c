// Entries of the journal for changes that the domain makes. The domain reports what has changed;
// the actor adds who did it and when, and storage chains the entries.

/** By number; a number never changes its meaning, because the chain contains it. */
export const entryKinds = [
  'file.stored',
  'file.deleted',
  'file.moved',
  'file.changed',
  'file.restored',
  'version.erased',
  'link.created',
  'link.removed',
  'key.created',
  'key.revoked',
  'member.changed',
  'bucket.created',
  'bucket.changed',
  'bucket.deleted',
  'hold.changed',
  'journal.redacted',
  'thumbnail.changed',
] as const;

export type EntryKind = (typeof entryKinds)[number];

export interface Change {
  readonly kind: EntryKind;
  /**
   * The changed thing: the path of a file, followed by NUL and its former path after a move, or by
   * NUL and a link's id; the id of a key; a member's principal in hexadecimal digits, NUL and the
   * new role, none if removed; names of changed settings of a bucket, with NUL between them;
   * numbers of redacted entries, with NUL between them.
   */
  readonly subject: string;
  /** The file's version number; absent: 0. */
  readonly version?: number;
  /** SHA-256 of the file's bytes, 32 bytes. */
  readonly digest?: Uint8Array;
}

export interface Journal {
  /** Appends an entry for a change in the bucket, in the message that makes the change. */
  note(bucketId: string, change: Change): void;
}
