// The service of a session: its storages, and the canisters that store its files.

import type { Storage } from '../../packages/client/src/storage.ts';

/** The service of a session. */
export interface OpenedService {
  readonly storage: Storage;
  /** Reads and writes files as they are stored, without end-to-end encryption. */
  readonly stored: Storage;
  /** Returns the address of the canister that stores the bucket. */
  addressOf(bucket: string): Promise<string>;
  volumes(): Promise<readonly Volume[]>;
  /**
   * Publishes the recipient of an end-to-end bucket's newest epoch if missing. Only for an owner's
   * identity at a front, because without a front the page offers no end-to-end encryption.
   */
  publishRecipient?(bucket: string): Promise<void>;
}

/** A canister that stores files. */
export interface Volume {
  readonly canisterId: string;
  readonly storage: Storage;
}
