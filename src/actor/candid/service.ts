// Candid types for the roles of canisters in a service, and for a front's volumes.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';

/** The network's vetKD key of that name, asked by a proxy canister, or by this one without it. */
export const VetKeySource = IDL.Record({ keyName: IDL.Text, proxy: IDL.Opt(IDL.Principal) });
/**
 * Source of the root key: the network's vetKD key of that name, or stable memory. `vetkd` goes by
 * the present key's proxy, or the one that PROXY_CANISTER_ID names.
 */
export const RootKeySource = IDL.Variant({
  vetkd: IDL.Text,
  stored: IDL.Null,
  vetkdBy: VetKeySource,
});
/** The settings of a volume: its front, if the service has one. */
export const VolumeArgument = IDL.Record({ front: IDL.Opt(IDL.Principal) });
/** The canister's role in a service: a volume stores files, a front serves the console. */
export const RoleArgument = IDL.Variant({ volume: VolumeArgument, front: IDL.Null });
/** The argument of install and upgrade. */
export const Settings = IDL.Record({
  rootKey: IDL.Opt(RootKeySource),
  role: IDL.Opt(RoleArgument),
});
/** A volume's front; `url` is its origin, by default `https://<front>.icp.net`. */
export const FrontSetting = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
/** A volume of a front. */
export const Volume = IDL.Record({
  canisterId: IDL.Principal,
  /** `open`, `closed`, `full`, or `unknown` until it has reported all its buckets. */
  state: IDL.Text,
  /** Time of its last report. */
  reportedAt: IDL.Opt(IDL.Int),
  buckets: IDL.Nat,
  stableBytes: IDL.Nat,
  limitBytes: IDL.Nat,
  /** Cycles that the network keeps for the price of its growth; the volume is full then. */
  reservedCycles: IDL.Nat,
});
export const ResultVolumes = resultOf(IDL.Vec(Volume));
/** A proof of a front's list of volumes, the value at the label `volumes`. */
export const VolumeProof = IDL.Record({
  /** The certificate of the canister's certified data, which is the root of `tree`. */
  certificate: IDL.Vec(IDL.Nat8),
  tree: IDL.Vec(IDL.Nat8),
});
export const ResultVolumeProof = resultOf(VolumeProof);
/** Role of a volume: its front, if the service has one. */
export const VolumeRole = IDL.Record({ front: IDL.Opt(FrontSetting) });
/** Role of a front: its volumes. */
export const FrontRole = IDL.Record({ volumes: IDL.Vec(IDL.Principal) });
/** The canister's role in its service. */
export const ServiceRole = IDL.Variant({ volume: VolumeRole, front: FrontRole });

/** The rest of a volume's report; `others` are its buckets in the range that are not public. */
export const VolumeFigures = IDL.Record({
  others: IDL.Vec(IDL.Text),
  /** When the volume read its buckets, by its clock. */
  at: IDL.Int,
  stableBytes: IDL.Nat,
  /** Cycles that the volume can spend before it freezes. */
  cycles: IDL.Nat,
  /** Cycles that the network keeps for the price of its growth, on a subnet with little room. */
  reservedCycles: IDL.Nat,
});
/** A volume's report to its front: `buckets` are all its public buckets in a range of ids. */
export const PublicBucketReport = IDL.Record({
  /** The volume's own origin at a gateway, such as `https://<volume>.icp.net`. */
  origin: IDL.Text,
  /** The range begins after this id; empty: with the first one. */
  after: IDL.Text,
  /** The last id of the range; null: the range has no end. */
  through: IDL.Opt(IDL.Text),
  /** At most 200 together with `others`. */
  buckets: IDL.Vec(IDL.Text),
  /** Absent in reports of version 0.2.0. */
  state: IDL.Opt(VolumeFigures),
});

/** When a front tops up its volumes; in cycles that can be spent before a canister freezes. */
export const TopUpLimits = IDL.Record({
  /** A volume with fewer cycles is topped up, at most once an hour. */
  volumeMinimum: IDL.Nat,
  /** The cycles of a volume after a top-up. */
  volumeTarget: IDL.Nat,
  /** The maximum for all volumes together within 24 hours; 0 ends these top-ups. */
  daily: IDL.Nat,
  /** The maximum for each volume within 24 hours. */
  dailyPerVolume: IDL.Nat,
  /** The front keeps this many cycles. */
  frontMinimum: IDL.Nat,
});
export const ResultTopUpLimits = resultOf(TopUpLimits);
/** A change of those limits. An absent field changes nothing. */
export const TopUpChange = IDL.Record({
  volumeMinimum: IDL.Opt(IDL.Nat),
  volumeTarget: IDL.Opt(IDL.Nat),
  daily: IDL.Opt(IDL.Nat),
  dailyPerVolume: IDL.Opt(IDL.Nat),
  frontMinimum: IDL.Opt(IDL.Nat),
});
/** Cycles that a front has sent to a volume. */
export const TopUp = IDL.Record({
  at: IDL.Int,
  volume: IDL.Principal,
  cycles: IDL.Nat,
  /** `limits`, or `request` of a controller, which does not count for the limits. */
  cause: IDL.Text,
});
/** The cycles of a volume as its front knows them. */
export const VolumeCycles = IDL.Record({
  volume: IDL.Principal,
  /** Null: the volume has not reported them. */
  cycles: IDL.Opt(IDL.Nat),
  reportedAt: IDL.Opt(IDL.Int),
});
/** The top-ups of a front, and the cycles that it and its volumes can spend. */
export const TopUps = IDL.Record({
  /** Null: no controller has set any, so that volumes are topped up only on request. */
  limits: IDL.Opt(TopUpLimits),
  frontCycles: IDL.Nat,
  volumes: IDL.Vec(VolumeCycles),
  /** The last 100, the newest first. */
  last: IDL.Vec(TopUp),
});
export const ResultTopUps = resultOf(TopUps);
/** When each bucket was created; null: there is no such bucket. */
export const ResultTimes = resultOf(IDL.Vec(IDL.Opt(IDL.Int)));
/** A change of a volume in a front's list. An absent field changes nothing. */
export const VolumeChange = IDL.Record({
  volume: IDL.Principal,
  /** A closed volume gets no new buckets. */
  isClosed: IDL.Opt(IDL.Bool),
  /** A volume with this much stable memory gets no new buckets; by default 400 GiB. */
  limitBytes: IDL.Opt(IDL.Nat),
});

/**
 * Cycles that the network keeps for the canister's growth, because its subnet has little room, and
 * the limit of its settings for them. `readAt`: when the canister asked, in nanoseconds since 1970.
 */
export const StorageReservation = IDL.Record({
  reservedCycles: IDL.Nat,
  limitCycles: IDL.Nat,
  readAt: IDL.Int,
});
