// Subscriptions of canisters to the journal of a bucket.

/** The part of the entries that a subscriber receives. */
export interface SubscriptionSelection {
  /**
   * Only entries about paths that begin with it, compared exactly with stored paths, which are
   * sealed in a bucket that seals names. '' for all entries, also those without a path.
   */
  readonly prefix?: string | undefined;
  /** Such as `file.stored`; an empty list for all kinds. */
  readonly kinds?: readonly string[] | undefined;
}

export interface SubscriptionRequest extends SubscriptionSelection {
  /** The subscriber. */
  readonly canisterId: string;
  /** The method that receives the entries; its name begins with `efs_`. */
  readonly method: string;
  /** Delivers the entries after that one, 0 for all; by default only later ones. */
  readonly after?: number | undefined;
}

/** Absent fields stay. */
export interface SubscriptionChange extends SubscriptionSelection {
  /** False resumes a paused subscription, and tries again at once. */
  readonly isPaused?: boolean | undefined;
}

/** A subscription as the service stores it, and how its deliveries go. */
export interface Subscription {
  readonly id: number;
  readonly canisterId: string;
  readonly method: string;
  /** '' without a prefix. */
  readonly prefix: string;
  /** Empty: all kinds. */
  readonly kinds: readonly string[];
  /** ISO 8601, as all times. */
  readonly createdAt: string;
  /** All entries up to that number have been acknowledged or do not match. */
  readonly cursor: number;
  /** Present while deliveries fail: the time of the first failure. */
  readonly failingSince?: string | undefined;
  /** Text of the last failure. */
  readonly error?: string | undefined;
  /** Present if it is paused: by an owner, or after deliveries have failed for a day. */
  readonly pausedAt?: string | undefined;
  /** Present if the bounds of the day let the next delivery wait until then. */
  readonly waitsUntil?: string | undefined;
  /** Cycles that deliveries have taken today (UTC). */
  readonly cyclesToday: number;
}
