// The Candid types of end-to-end encrypted buckets.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/**
 * The end-to-end mode of a bucket: only clients encrypt and decrypt its files, which are age files.
 */
export const EndToEndOptions = IDL.Record({
  /** Members get an identity by the network's vetKeys. True unless told. */
  usesVetKeys: IDL.Opt(IDL.Bool),
  /** Segments of paths are sealed by clients. False unless told. */
  sealsNames: IDL.Opt(IDL.Bool),
  /** age recipients of the owners' own, such as `age1…`, at most 8. */
  recipients: IDL.Opt(IDL.Vec(IDL.Text)),
});
/** An identity of a bucket, by the time at which it came into use. */
export const BucketEpoch = IDL.Record({
  /** From 1. */
  epoch: IDL.Nat,
  /** Public key of the identity; absent until an owner's client has published it. */
  recipient: IDL.Opt(IDL.Text),
  openedAt: IDL.Int,
});
/** How a bucket is end-to-end. */
export const EndToEnd = IDL.Record({
  usesVetKeys: IDL.Bool,
  sealsNames: IDL.Bool,
  recipients: IDL.Vec(IDL.Text),
  /** Part of what identities are derived from, of 64 bits; never given twice. */
  serial: IDL.Nat,
  /**
   * The newest last: new files are encrypted to its recipient and to `recipients`. Empty without
   * vetKeys; lists of buckets and getBucketMode have the newest only.
   */
  epochs: IDL.Vec(BucketEpoch),
});
/** The mode of a bucket, which clients need before they send a file. */
export const BucketMode = IDL.Record({
  /** Absent if the bucket is not end-to-end. */
  endToEnd: IDL.Opt(EndToEnd),
});
/** The identity of an epoch, encrypted to the caller's transport key. */
export const BucketIdentity = IDL.Record({
  epoch: IDL.Nat,
  /** The vetKey under the transport key, 192 bytes. */
  encryptedKey: IDL.Vec(IDL.Nat8),
  /** The network's, of this canister and context, 96 bytes. */
  publicKey: IDL.Vec(IDL.Nat8),
  recipient: IDL.Opt(IDL.Text),
  /** Name of the network's vetKD key. */
  keyName: IDL.Text,
});
export const ResultBucketMode = resultOf(BucketMode);
export const ResultBucketIdentity = resultOf(BucketIdentity);
