// The Candid types of end-to-end encrypted buckets.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/** Options of an end-to-end bucket: clients encrypt and decrypt its files, which are age files. */
export const EndToEndOptions = IDL.Record({
  /** Members get an identity that the network derives (vetKeys). Default: true. */
  usesVetKeys: IDL.Opt(IDL.Bool),
  /** Clients seal the segments of paths. Default: false. */
  sealsNames: IDL.Opt(IDL.Bool),
  /** age recipients that the owners list, such as `age1…`, at most 8. */
  recipients: IDL.Opt(IDL.Vec(IDL.Text)),
});
/** An identity of a bucket, and the time from which new files are encrypted to it. */
export const BucketEpoch = IDL.Record({
  /** Ascending number; the first is 1. */
  epoch: IDL.Nat,
  /** Public key of the identity; absent until a client of an owner publishes it. */
  recipient: IDL.Opt(IDL.Text),
  openedAt: IDL.Int,
});
/** The end-to-end mode of a bucket. */
export const EndToEnd = IDL.Record({
  usesVetKeys: IDL.Bool,
  sealsNames: IDL.Bool,
  recipients: IDL.Vec(IDL.Text),
  /** 64 bits from which identities are derived; never reused. */
  serial: IDL.Nat,
  /**
   * In ascending order. New files are encrypted to the recipient of the last epoch and to
   * `recipients`. Empty without vetKeys; lists of buckets and getBucketMode include only the last.
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
  /** The vetKey, encrypted to the transport key, 192 bytes. */
  encryptedKey: IDL.Vec(IDL.Nat8),
  /** Derived public key of this canister and context, 96 bytes. */
  publicKey: IDL.Vec(IDL.Nat8),
  recipient: IDL.Opt(IDL.Text),
  /** Name of the network's vetKD key. */
  keyName: IDL.Text,
  /**
   * The canister that asked the network for the key; absent if this one did. It puts a byte with
   * the length of this canister's id, and the id, before the context.
   */
  proxy: IDL.Opt(IDL.Principal),
});
export const ResultBucketMode = resultOf(BucketMode);
export const ResultBucketIdentity = resultOf(BucketIdentity);
