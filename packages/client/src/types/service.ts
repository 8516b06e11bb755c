// The service as a whole: its status, and the changes that controllers make.

/** A limit on update calls for the whole service (a token bucket). */
export interface Budget {
  /** Updates that are available at once after a quiet time. */
  readonly burst: number;
  /** Updates that become available each minute. */
  readonly perMinute: number;
}

export interface EncryptionStatus {
  /** The source of the root key. */
  readonly rootKey: string;
  readonly keyName: string;
  /** The canister that asks the network for the key; absent if the service itself does. */
  readonly proxy?: string | undefined;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
}

export interface BudgetStatus extends Budget {
  /** Updates that are available now. */
  readonly left: number;
}

/** The code of a canister, as a certificate of the network names it. */
export interface ServiceCode {
  /** SHA-256 of the module as it was installed, in hexadecimal. */
  readonly moduleHash: string;
  /** The principals that may replace the code. */
  readonly controllers: readonly string[];
  /** The commit that the module names as its source; undefined if it names none. */
  readonly commit: string | undefined;
}

/** A volume of a service, as its front knows it. */
export interface ServiceVolume {
  readonly canisterId: string;
  /** `open`, `closed`, `full`, or `unknown` until it has reported all its buckets. */
  readonly state: string;
  /** Time of its last report. */
  readonly reportedAt?: string | undefined;
  /** Stable memory in bytes, at the last report. */
  readonly stableBytes: number;
  /** The volume is full with this much stable memory. */
  readonly limitBytes: number;
  /**
   * Cycles that the network keeps for the price of the volume's growth, because its subnet has
   * little room; the volume is full then.
   */
  readonly reservedCycles: number;
}

/**
 * Remembers the volumes of a service's buckets. A wrong volume is noticed at the next call and
 * replaced.
 */
export interface VolumeMemory {
  get(bucket: string): Promise<string | undefined>;
  set(bucket: string, volume: string): Promise<void>;
  delete(bucket: string): Promise<void>;
}

export interface VolumeChange {
  /** A closed volume gets no new buckets. */
  readonly isClosed?: boolean | undefined;
  /** Stable memory with which the volume is full: up to 429,496,729,600, the default. */
  readonly limitBytes?: number | undefined;
}

/** Cycles that the network keeps for a canister's growth, because its subnet has little room. */
export interface StorageReservation {
  readonly reservedCycles: number;
  /** The canister cannot grow if the network had to keep more: a setting of the canister. */
  readonly limitCycles: number;
  /** When the canister asked the network. */
  readonly readAt: string;
}

/** Services of version 0.1.0 report no budgets. */
export interface ServiceStatus {
  readonly version: string;
  readonly buckets: number;
  readonly files: number;
  readonly bytesStored: number;
  readonly stableBytes: number;
  readonly heapBytes: number;
  /** Reported only to controllers and owners of buckets. */
  readonly cycles?: number | undefined;
  /** False where the subnet charges nothing, such as on a cloud engine: 0 cycles are normal. */
  readonly chargesCycles?: boolean | undefined;
  /**
   * Reported like `cycles`, by services of one canister, once an update has followed the latest
   * upgrade.
   */
  readonly storageReservation?: StorageReservation | undefined;
  /** The budget of requests without a key, such as ranges of public files. */
  readonly anonymousUpdates?: BudgetStatus | undefined;
  /** The budget of the same requests by links. */
  readonly linkUpdates?: BudgetStatus | undefined;
  /** The budget of refused messages. */
  readonly refusals?: BudgetStatus | undefined;
  /** The budget of derivations of identities of end-to-end buckets. */
  readonly derivations?: BudgetStatus | undefined;
  readonly encryption: EncryptionStatus;
  readonly certified: string;
}

export interface AccessChange {
  /** Principals that may create buckets from now on. */
  readonly allow?: readonly string[] | undefined;
  /**
   * Principals that may no longer create buckets; their buckets stay.
   *
   * @example
   * ```ts
   * await storage.access.update({ disallow: ['<their principal>'] });
   * ```
   */
  readonly disallow?: readonly string[] | undefined;
  /**
   * Limits requests without a key that succeed and cost an update, such as ranges.
   *
   * @example
   * ```ts
   * await storage.access.update({
   *   anonymousUpdates: { burst: 300, perMinute: 20 },
   *   linkUpdates: { burst: 300, perMinute: 20 },
   *   refusals: { burst: 1_200, perMinute: 6 },
   *   derivations: { burst: 200, perMinute: 3 },
   * });
   * ```
   */
  readonly anonymousUpdates?: Budget | undefined;
  /** Limits the same requests by links. */
  readonly linkUpdates?: Budget | undefined;
  /** Limits refused calls and requests of callers who have no right to what they ask for. */
  readonly refusals?: Budget | undefined;
  /** Limits derivations of identities of end-to-end buckets: 26 billion cycles each. */
  readonly derivations?: Budget | undefined;
}

/**
 * The source of a root key: stored in the canister, or derived by vetKD from a named key. `proxy`:
 * the canister that asks the network, which a cloud engine needs; `null` for none. By default the
 * present key's, or the one of the variable PROXY_CANISTER_ID.
 *
 * @example
 * ```ts
 * while ((await storage.status()).encryption.isRotating) {
 *   await new Promise((resolve) => setTimeout(resolve, 1_000));
 * }
 * const { keyName } = (await storage.status()).encryption;
 * await storage.rotation.root({ vetkd: keyName, proxy: null });
 * ```
 */
export type RootKeySource =
  | 'stored'
  | { readonly vetkd: string; readonly proxy?: string | null | undefined };
