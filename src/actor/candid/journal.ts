// The Candid types of the journal. Those of `icrc3_` methods are subtypes of ICRC-3's, which have
// values of more kinds, and archives.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

const Blob = IDL.Vec(IDL.Nat8);
/** One object for the type, as the client's table of types has it once. */
const optionalBlob = IDL.Opt(Blob);

/** The author of a change: the id of an API key, or the canister itself, as when a link expires. */
export const JournalActor = IDL.Variant({
  canister: IDL.Null,
  principal: IDL.Principal,
  apiKey: IDL.Text,
});

/**
 * The parts of the commitment in the block: SHA-256(detailsSalt, details, subjectHash), whose last
 * part is SHA-256(subjectSalt, subject). A redacted entry has only the hash of its subject.
 */
export const EntryProof = IDL.Record({
  detailsSalt: Blob,
  subjectSalt: optionalBlob,
  subjectHash: optionalBlob,
});

/** An entry of the journal. Its block has the index `seq` - 1. */
export const JournalEntry = IDL.Record({
  /** From 1, without gaps in the canister. */
  seq: IDL.Nat,
  /** Nanoseconds since 1970. */
  at: IDL.Int,
  kind: IDL.Text,
  by: JournalActor,
  /**
   * The changed thing, such as a file's path; after a move, NUL and the former path follow. Empty
   * in a redacted entry.
   */
  subject: IDL.Text,
  /** The file's version number. */
  version: IDL.Opt(IDL.Nat),
  /** SHA-256 of the file's bytes in hexadecimal digits. */
  digest: IDL.Opt(IDL.Text),
  proof: EntryProof,
});

/**
 * Entries of one bucket after the entry `after`, the oldest first, or before `before`, the newest
 * first; by default the newest. `limit` is 100 by default and at most, but 5,000 in a query.
 * Callers without a role in the bucket send a key with the permission `audit`.
 */
export const JournalRequest = IDL.Record({
  bucketId: IDL.Text,
  apiKey: IDL.Opt(IDL.Text),
  after: IDL.Opt(IDL.Nat),
  before: IDL.Opt(IDL.Nat),
  limit: IDL.Opt(IDL.Nat),
});

/**
 * `last` is the number of the last entry of all buckets, `keptDays` the number of days for which
 * the bucket shows its entries.
 */
export const JournalPage = IDL.Record({
  entries: IDL.Vec(JournalEntry),
  last: IDL.Nat,
  hasMore: IDL.Bool,
  keptDays: IDL.Nat,
});
export const ResultJournalPage = resultOf(JournalPage);

/** A number of entries, or of days. */
export const ResultCount = resultOf(IDL.Nat);

/** A range of blocks by index, from 0. */
export const BlockRange = IDL.Record({ start: IDL.Nat, length: IDL.Nat });

/** A value of ICRC-3. */
export const BlockValue = IDL.Variant({ Text: IDL.Text, Nat: IDL.Nat, Blob });
/** A name and a value. */
export const BlockField = IDL.Tuple(IDL.Text, BlockValue);
/** A block of ICRC-3. Its map has `btype`, `ts`, `entry`, and `phash` except in the first block. */
export const JournalBlock = IDL.Record({
  id: IDL.Nat,
  block: IDL.Variant({ Map: IDL.Vec(BlockField) }),
});
/** A page of blocks; `log_length` is the number of all blocks. No block is archived elsewhere. */
export const JournalBlocks = IDL.Record({
  log_length: IDL.Nat,
  blocks: IDL.Vec(JournalBlock),
  archived_blocks: IDL.Vec(IDL.Empty),
});

/** A certificate and the hash tree with `last_block_index` and `last_block_hash`, in CBOR. */
export const TipCertificate = IDL.Record({ certificate: Blob, hash_tree: Blob });
/** A type of blocks, and the page that describes it. */
export const BlockType = IDL.Record({ block_type: IDL.Text, url: IDL.Text });
