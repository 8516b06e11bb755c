// The Candid types of a bucket's rules.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/**
 * A rule of a bucket. It applies to files, former versions and unfinished uploads whose path begins
 * with `prefix` and that have the tag; without these fields, to all. At least one of the last four
 * fields is present. If several rules apply, the earliest end counts.
 */
export const Rule = IDL.Record({
  /** Unique in the bucket. */
  id: IDL.Text,
  isEnabled: IDL.Bool,
  /** Compared exactly with stored paths. */
  prefix: IDL.Opt(IDL.Text),
  tag: IDL.Opt(IDL.Text),
  /** Deletes a file so many days after its last change. */
  deleteAfterDays: IDL.Opt(IDL.Nat),
  /** Keeps at most so many former versions of a file, the latest ones. */
  keepVersions: IDL.Opt(IDL.Nat),
  /** Erases a former version so many days after it was replaced or deleted. */
  eraseVersionsAfterDays: IDL.Opt(IDL.Nat),
  /** Ends an unfinished upload so many hours after it began. */
  endUploadsAfterHours: IDL.Opt(IDL.Nat),
});
export const ResultRules = resultOf(IDL.Vec(Rule));
