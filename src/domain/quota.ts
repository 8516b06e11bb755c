// The quota of a bucket: how many bytes it may hold, open uploads included. An open upload counts
// with its announced size from its beginning, so that a completion never fails for want of room.

import { Refusal } from './refusal.ts';

/** What a quota is about; a bucket's record. */
export interface Holdings {
  readonly id: string;
  readonly byteCount: number;
  readonly openUploadByteCount: number;
  /** Absent: unlimited. */
  readonly quotaBytes?: number | undefined;
}

/** Bytes of the files and of the open uploads of a bucket. */
export function heldBytes(bucket: Holdings): number {
  return bucket.byteCount + bucket.openUploadByteCount;
}

/**
 * Refuses with QuotaExceeded when the bucket cannot take so many bytes more; changes nothing. A
 * replacement in one step counts the new size less the old one. What makes a bucket no fuller
 * passes always, even when its quota has been lowered below what it holds.
 */
export function checkQuota(bucket: Holdings, additionalBytes: number): void {
  const { quotaBytes } = bucket;
  const held = heldBytes(bucket);
  if (quotaBytes === undefined || additionalBytes <= 0 || held + additionalBytes <= quotaBytes) {
    return;
  }
  throw new Refusal(
    'QuotaExceeded',
    `Bucket ${bucket.id} may hold ${quotaBytes} bytes and holds ${held}, open uploads included: ` +
      `${additionalBytes} more do not fit. Delete files, or cancel uploads.`,
    { limit: quotaBytes, held, additional: additionalBytes },
  );
}
