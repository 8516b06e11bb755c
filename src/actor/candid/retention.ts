// The Candid types of retention and holds.

import { IDL } from '@dfinity/candid';
import { optionalText } from './result.ts';

/** Protection of a version. Nothing replaces or deletes it before `retainUntil`, or while held. */
export const Retention = IDL.Record({
  /** `governance` or `compliance`; absent: only a hold. */
  mode: optionalText,
  /** Nanoseconds since 1970. */
  retainUntil: IDL.Opt(IDL.Int),
  /** A legal hold, which has no time. */
  hold: IDL.Bool,
});

/** Files below `prefix` that are written from now on are retained for `days` days, 1 to 36,500. */
export const RetentionRule = IDL.Record({
  /** Absent: the whole bucket. The rule with the longest matching prefix applies. */
  prefix: IDL.Opt(IDL.Text),
  /** `governance` or `compliance`. */
  mode: IDL.Text,
  days: IDL.Nat,
});

/** Retains a version until a time. Without mode and time, the retention ends. */
export const RetentionChange = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  /** Absent: the present version. */
  version: IDL.Opt(IDL.Nat),
  mode: IDL.Opt(IDL.Text),
  /** Nanoseconds since 1970. */
  retainUntil: IDL.Opt(IDL.Int),
  /** Shortens or ends a retention in governance mode. */
  bypassGovernance: IDL.Opt(IDL.Bool),
  apiKey: IDL.Opt(IDL.Text),
});

/** Sets or removes the legal hold of a version. */
export const HoldChange = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  /** Absent: the present version. */
  version: IDL.Opt(IDL.Nat),
  hold: IDL.Bool,
  apiKey: IDL.Opt(IDL.Text),
});
