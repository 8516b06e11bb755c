// What a service tells of itself.

/** A budget of update calls for the whole service. */
export interface Budget {
  /** Updates at once, after a quiet time. */
  readonly burst: number;
  /** How many come back each minute. */
  readonly perMinute: number;
}

export interface EncryptionStatus {
  /** Where the root key comes from. */
  readonly rootKey: string;
  readonly keyName: string;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
}

export interface BudgetStatus extends Budget {
  /** Updates that are left now. */
  readonly left: number;
}

export interface ServiceStatus {
  readonly version: string;
  readonly buckets: number;
  readonly files: number;
  readonly bytesStored: number;
  readonly stableBytes: number;
  readonly heapBytes: number;
  /** For controllers and owners of buckets alone. */
  readonly cycles?: number | undefined;
  /**
   * The budget of requests without a key, such as ranges of public files; absent from a service of
   * version 0.1.0, as the other budgets are.
   */
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
