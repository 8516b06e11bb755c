// Links as the library's users see them.

import type { CallOptions, FileName, ShownPath } from './interface.ts';

export interface LinkRequest extends FileName, CallOptions {
  /** Absent: good until it is removed. */
  readonly expiresAt?: Date | undefined;
  /** Browsers save the file under this name; absent: they show it, as at its own address. */
  readonly downloadName?: string | undefined;
}

/** The address is in the answer to create() and nowhere else: whoever has it reads the file. */
export interface NewLink {
  readonly id: string;
  /**
   * Whole: that of the storage's `url`, by the actor that of the canister on the network or on this
   * machine. Of any other host only the path is known, which begins with a slash.
   */
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
}

export interface LinkRecord extends ShownPath {
  readonly id: string;
  readonly path: string;
  /** The last segment of the address. */
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  /** Principal that made the link; shown to owners who call the actor. */
  readonly maker?: string | undefined;
  /** Id of the API key that made it; shown to owners, and to keys with every permission. */
  readonly keyId?: string | undefined;
}

export interface LinkListOptions extends CallOptions {
  readonly bucket: string;
  /** Lists only the links to this file. */
  readonly path?: string | undefined;
}
