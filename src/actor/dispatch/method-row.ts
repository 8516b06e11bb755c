// A row of the table of methods, and the bounds that rows share.

import {
  batchTextBytesMax,
  deletionBytesMax,
  sealedThumbnailBytesMax,
} from '../../../packages/wire/src/limits.ts';
import type { Call } from '../../domain/shared/caller.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { requestTextBytesMax } from '../../limits.ts';
import type { ArgumentBounds } from '../messages/argument-decoder.ts';

export interface Caller {
  readonly stores: Stores;
  readonly call: Call;
}

export interface MethodRow {
  readonly bounds: ArgumentBounds;
  /**
   * `values`: the arguments as the method receives them. Ingress to a method without `admit` is
   * refused, except to http_request_update.
   */
  readonly admit?: (caller: Caller, ...values: never[]) => void;
  /**
   * Whether the method is a query that callers may also send as an update, whose reply the network
   * signs. A query cannot charge a budget, so the inspection refuses whomever `admit` refuses.
   */
  readonly isSignedQuery?: true;
  /** Whether it begins or stores an upload: while cycles are low, it is refused after `admit`. */
  readonly isUpload?: true;
  /** Whether a front has the method too; all others exist only at volumes. */
  readonly isAtFront?: true;
  /**
   * Which refusals of callers with a right count toward the budget: all, if the method's work is
   * expensive, or those of messages above `uncheckedArgumentBytesMax`.
   */
  readonly countedRefusals?: 'all' | 'large';
}

/** Up to a few names and a key. */
export const few: ArgumentBounds = { bytes: 4_096, textBytes: 4_096, values: 32 };
/** A record of names. */
export const some: ArgumentBounds = { bytes: 6_144, textBytes: 6_144, values: 48 };
/** A record with lists of names or principals. */
export const many: ArgumentBounds = { bytes: 12_288, textBytes: 10_240, values: 280 };
/** A file's fields (five of 1,024 characters, tags, metadata, its path), or 200 bucket ids. */
export const file: ArgumentBounds = { bytes: 16_384, textBytes: 14_336, values: 240 };
/** Like `file`, with the bytes as one value, which is read in place. */
export const upload: ArgumentBounds = { ...file, bytes: 2_097_152 };
/** Texts of many files, which are read after the caller's right is checked. */
export const batch: ArgumentBounds = {
  bytes: 2_097_152,
  textBytes: batchTextBytesMax,
  values: 320,
};
export const deletion: ArgumentBounds = {
  bytes: 131_072,
  textBytes: deletionBytesMax,
  values: 320,
};
/** The rules of a bucket. */
export const rules: ArgumentBounds = { bytes: 20_480, textBytes: 16_384, values: 480 };
/** A thumbnail and a few names. */
export const picture: ArgumentBounds = { ...few, bytes: sealedThumbnailBytesMax + few.bytes };
export const chunk: ArgumentBounds = { ...few, bytes: 2_097_152 };
export const request: ArgumentBounds = {
  bytes: 2_097_152,
  textBytes: requestTextBytesMax,
  values: 480,
};
