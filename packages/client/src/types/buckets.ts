// Buckets, their members, and texts at `/.well-known/`.

import type { EndToEndRecord, EndToEndSettings } from './end-to-end.ts';
import type { RetentionRule } from './retention.ts';

export interface BucketMember {
  readonly principal: string;
  /** `reader`, `writer` or `owner`. */
  readonly role: string;
  /**
   * A name of at most 128 bytes of UTF-8 that owners chose. In `addMembers`, an absent name keeps
   * the present one, and '' removes it.
   */
  readonly name?: string | undefined;
}

export interface BucketRecord {
  readonly id: string;
  readonly owner: string;
  readonly isPublic: boolean;
  /** The bucket is served as a site while it is public. */
  readonly isSite: boolean;
  /** Everybody may list its files, without a key. False in answers of earlier services. */
  readonly isListed: boolean;
  readonly fileCount: number;
  readonly byteCount: number;
  /** Bytes that the files occupy beyond their contents; they count towards the quota. */
  readonly overheadBytes: number;
  readonly openUploads: number;
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
  /** Days for which former versions are stored; 0 stores none. */
  readonly keepVersionsDays: number;
  readonly versionCount: number;
  /** Bytes of the quota that former versions use. */
  readonly versionBytes: number;
  /** Shown to owners; empty for others. */
  readonly members: readonly BucketMember[];
  /**
   * The caller's role: `reader`, `writer` or `owner`. Absent without a role, for API keys, and in
   * answers of earlier services.
   */
  readonly callerRole?: string | undefined;
  /** Absent if the bucket is not end-to-end encrypted. */
  readonly endToEnd?: EndToEndRecord | undefined;
  /** Absent if new files get no retention. */
  readonly retention?: readonly RetentionRule[] | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface BucketOptions {
  readonly isPublic?: boolean | undefined;
  /**
   * Serves a public bucket as a site: a folder serves its index.html, a missing path serves
   * 404.html, and each site has a separate origin, in which scripts run.
   *
   * @example
   * ```ts
   * await storage.buckets.create('pages', { isPublic: true, isSite: true, quotaFiles: 1_000 });
   * ```
   */
  readonly isSite?: boolean | undefined;
  /**
   * Lets everybody list the files of a public bucket: paths, sizes, times, tags and metadata.
   * Refused for private and end-to-end buckets; making a bucket private ends it.
   *
   * @example
   * ```ts
   * await storage.buckets.create('gallery', { isPublic: true, isListed: true });
   * await storage.buckets.update('gallery', { isListed: false });
   * ```
   */
  readonly isListed?: boolean | undefined;
  /** 0 removes the quota. */
  readonly quotaBytes?: number | undefined;
  readonly quotaFiles?: number | undefined;
  /** Up to 3,650; 0 stores no former versions. */
  readonly keepVersionsDays?: number | undefined;
  /**
   * Makes the bucket end-to-end encrypted: clients encrypt files before they send them. Except for
   * recipients, the settings can change only while the bucket is empty.
   */
  readonly endToEnd?: EndToEndSettings | undefined;
  /**
   * Retention of files that are written from now on: at most 20 rules, which replace the present
   * ones. An empty list removes them; stored files keep their retention.
   *
   * @example
   * ```ts
   * const retention = [{ mode: 'governance', days: 30, prefix: 'invoices/' }] as const;
   * await storage.buckets.create('books', { retention });
   * ```
   */
  readonly retention?: readonly RetentionRule[] | undefined;
}

export interface BucketChange extends BucketOptions {
  /**
   * False ends end-to-end encryption; the bucket must be empty.
   *
   * @example
   * ```ts
   * await storage.buckets.create('plain', { endToEnd: {} });
   * await storage.buckets.update('plain', { isEndToEnd: false });
   * ```
   */
  readonly isEndToEnd?: boolean | undefined;
  /**
   * Principal of the new owner.
   *
   * @example
   * ```ts
   * await storage.buckets.create('theirs');
   * await storage.buckets.update('theirs', { owner: '<their principal>' });
   * ```
   */
  readonly owner?: string | undefined;
  /**
   * @example
   * ```ts
   * const principal = '<their principal>';
   * const ada = { principal, role: 'reader', name: 'Ada' };
   * await storage.buckets.update('demo', { addMembers: [ada] });
   * await storage.buckets.update('demo', { removeMembers: [principal] });
   * ```
   */
  readonly addMembers?: readonly BucketMember[] | undefined;
  readonly removeMembers?: readonly string[] | undefined;
}

/** A text that the service serves at `/.well-known/{name}`. */
export interface WellKnownText {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}
