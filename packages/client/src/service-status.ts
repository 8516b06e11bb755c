// What a service tells of itself.

export interface EncryptionStatus {
  /** Where the root key comes from. */
  readonly rootKey: string;
  readonly keyName: string;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
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
   * What requests without a key may make the canister pay for, and what is left of it now. Absent
   * from services of version 0.1.0.
   */
  readonly anonymousUpdates?:
    | { readonly burst: number; readonly perMinute: number; readonly left: number }
    | undefined;
  readonly encryption: EncryptionStatus;
  readonly certified: string;
}
