// Changes of a bucket's end-to-end mode. The mode can change only while the bucket is empty, except
// for the recipients that its owners list.

import type { Bucket } from '../buckets/buckets.ts';
import {
  type EndToEndOptions,
  findEndToEnd,
  forgetEndToEnd,
  type PlannedMode,
  planMode,
  saveEndToEnd,
} from '../buckets/end-to-end.ts';
import { parseRecipients } from '../shared/age-format.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

export interface ModeChange {
  /** Turns the mode on. In an end-to-end bucket, absent fields keep their values. */
  readonly endToEnd?: EndToEndOptions | undefined;
  readonly isEndToEnd?: boolean | undefined;
}

/**
 * Returns the mode to store: `null` to remove it, `undefined` to leave it. Refuses with
 * BucketNotEmpty a change that requires an empty bucket; changes nothing itself.
 */
export function changedMode(
  stores: Stores,
  bucket: Bucket,
  { endToEnd: options, isEndToEnd }: ModeChange,
  nowNs: bigint,
): PlannedMode | null | undefined {
  if (isEndToEnd === false) {
    if (options !== undefined) throw contradiction();
    if (!bucket.isEndToEnd) return undefined;
    requireEmpty(bucket);
    return null;
  }
  const present = findEndToEnd(stores, bucket.id);
  if (present === undefined) {
    if (options === undefined && isEndToEnd !== true) return undefined;
    requireEmpty(bucket);
    return planMode(stores, options ?? {}, nowNs);
  }
  if (options === undefined) return undefined;
  const { usesVetKeys = present.usesVetKeys, sealsNames = present.sealsNames } = options;
  const { recipients = present.recipients } = options;
  if (usesVetKeys === present.usesVetKeys && sealsNames === present.sealsNames) {
    return { ...present, recipients: parseRecipients(recipients) };
  }
  requireEmpty(bucket);
  return planMode(stores, { usesVetKeys, sealsNames, recipients }, nowNs);
}

export function saveMode(
  stores: Stores,
  bucketId: string,
  mode: PlannedMode | null | undefined,
): void {
  if (mode) saveEndToEnd(stores, bucketId, mode);
  if (mode === null) forgetEndToEnd(stores, bucketId);
}

function contradiction(): Refusal {
  return new Refusal(
    'InvalidArgument',
    'endToEnd turns end-to-end encryption on, and isEndToEnd = false turns it off: send only one.',
  );
}

/** Refuses if the bucket has files, which would stay unencrypted or become unreadable. */
function requireEmpty({ id, fileCount, versionCount, openUploadCount }: Bucket): void {
  if (fileCount + versionCount + openUploadCount === 0) return;
  throw new Refusal(
    'BucketNotEmpty',
    `Bucket ${id} has ${fileCount} files, ${versionCount} former versions and ${openUploadCount} open ` +
      'uploads. Its end-to-end mode, vetKeys and sealed names can change only while it is empty: ' +
      'create another bucket, or empty this one.',
    { files: fileCount, versions: versionCount, openUploads: openUploadCount },
  );
}
