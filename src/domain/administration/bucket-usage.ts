// Counts the files below a prefix of a bucket, and their bytes.

import { type Sizes, sizesBelow } from '../listing/file-sizes.ts';
import { authorizeList, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { areRecordsMoved } from './record-upgrade.ts';

export interface UsageRequest {
  readonly bucket: string;
  readonly apiKey: SentKey;
  /** '' matches every path. */
  readonly prefix: string | undefined;
}

export interface Usage extends Sizes {
  readonly prefix: string;
}

/**
 * Counts files and bytes below a prefix, for callers with the read permission. Refuses with
 * ServiceUnavailable while an upgrade is still counting files of an earlier version.
 */
export function getUsage(stores: Stores, call: Call, request: UsageRequest): Usage {
  const { bucket: name, apiKey, prefix: asked = '' } = request;
  const { bucket, prefix } = authorizeList(stores, call, { bucket: name, apiKey, prefix: asked });
  if (!areRecordsMoved(stores)) {
    throw new Refusal(
      'ServiceUnavailable',
      'The sizes of files that an earlier version stored are still being counted: try again soon.',
    );
  }
  return { prefix, ...sizesBelow(stores, bucket.id, prefix) };
}
