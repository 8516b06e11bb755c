// Rules of buckets.

/**
 * A rule of a bucket, with at least one of the last four fields. It applies to paths that begin
 * with `prefix` and files with the tag; without these fields, to all. If several rules apply, the
 * earliest end counts.
 */
export interface BucketRule {
  /** Unique in the bucket. */
  readonly id: string;
  /** Default: true. */
  readonly isEnabled?: boolean | undefined;
  /** Compared exactly with stored paths, which are sealed in a bucket that seals names. */
  readonly prefix?: string | undefined;
  readonly tag?: string | undefined;
  /** Deletes a file so many days after its last change. */
  readonly deleteAfterDays?: number | undefined;
  /** Keeps at most so many former versions of a file, the latest ones. */
  readonly keepVersions?: number | undefined;
  /** Erases a former version so many days after it was replaced or deleted. */
  readonly eraseVersionsAfterDays?: number | undefined;
  /** Ends an unfinished upload so many hours after it began. */
  readonly endUploadsAfterHours?: number | undefined;
}

/** A rule as the service stores it. */
export interface StoredRule extends BucketRule {
  readonly isEnabled: boolean;
  /** '' if the rule applies to all paths. */
  readonly prefix: string;
}
