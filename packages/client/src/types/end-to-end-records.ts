// What the service keeps of an end-to-end bucket, and what its owners decide.

export interface BucketEpoch {
  readonly epoch: number;
  /** `age1…` of the epoch's identity; absent until an owner's client has published it. */
  readonly recipient?: string | undefined;
  /** ISO 8601. */
  readonly openedAt: string;
}

/** What makes a bucket end-to-end: its files are age files, made and opened by clients alone. */
export interface EndToEndRecord {
  /** Members get an identity by the network's vetKeys. */
  readonly usesVetKeys: boolean;
  /** Segments of paths are sealed by clients. */
  readonly sealsNames: boolean;
  /** Of the owners' own. */
  readonly recipients: readonly string[];
  /** Decimal digits of 64 bits: part of what identities are derived from, never given twice. */
  readonly serial: string;
  /** The newest last; new files are encrypted to its recipient. Empty without vetKeys. */
  readonly epochs: readonly BucketEpoch[];
}

export interface EndToEndSettings {
  /** True unless told. */
  readonly usesVetKeys?: boolean | undefined;
  /** False unless told. */
  readonly sealsNames?: boolean | undefined;
  /** Such as `age1…` and `age1pq1…`; replaces the list. */
  readonly recipients?: readonly string[] | undefined;
}
