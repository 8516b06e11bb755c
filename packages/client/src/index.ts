// The entry point of the package, for browsers and Node: see README.md.

export type { Buckets, Keys, WellKnown } from './administration/buckets-and-keys.ts';
export type { Access, Rotation } from './administration/creators-and-rotation.ts';
export type { Journal } from './administration/journal.ts';
export type { BucketRules } from './administration/rules.ts';
export type { Subscriptions } from './administration/subscriptions.ts';
export { browserIdentityStore } from './age/browser-identity-store.ts';
export { type DigestedFile, filesDigest } from './bytes/files-digest.ts';
export type { UploadInput, UploadSource } from './bytes/upload-source.ts';
export type { RetryNotice, RetryPolicy } from './connection/retry.ts';
export { xhrSender } from './connection/xhr-sender.ts';
export { type EndToEndLayer, endToEnd } from './end-to-end.ts';
export type { FileStorage } from './files/file-storage.ts';
export { makeThumbnail } from './files/make-thumbnail.ts';
export type { RetentionGroup } from './files/retention.ts';
export type { Thumbnails } from './files/thumbnails.ts';
export type { ErasedVersions, Versions } from './files/versions.ts';
export { createHttpStorage, type HttpStorageOptions } from './http-storage.ts';
export type { Links } from './links/links.ts';
export type { UploadLinks } from './links/upload-links.ts';
export { openFolderLink } from './open-folder-link.ts';
export { type LinkOptions, needsPassword, openLink, unlockLink } from './open-link.ts';
export type { FolderLinkOptions } from './opened-folder.ts';
export type { ServiceStorageOptions } from './service-places.ts';
export { createServiceStorage, type ServiceStorage, type Volumes } from './service-storage.ts';
export type { TopUps } from './service-top-ups.ts';
export {
  type ActorStorageOptions,
  createStorage,
  type Storage,
  type StorageOptions,
  type UrlStorageOptions,
} from './storage.ts';
export { isStorageError, StorageError } from './storage-error.ts';
export type * from './types/buckets.ts';
export type * from './types/call-options.ts';
export type {
  BucketEpoch,
  BucketMemory,
  EndToEndOptions,
  EndToEndRecord,
  EndToEndSettings,
  IdentityStore,
  KnownBucket,
  RecipientsChange,
  SegmentCipher,
} from './types/end-to-end.ts';
export type * from './types/files.ts';
export type * from './types/folder-links.ts';
export type * from './types/journal.ts';
export type * from './types/keys.ts';
export type * from './types/links.ts';
export type * from './types/listings.ts';
export type * from './types/retention.ts';
export type * from './types/rules.ts';
export type * from './types/service.ts';
export type { StorageIdentity } from './types/storage-identity.ts';
export type * from './types/subscriptions.ts';
export type * from './types/thumbnails.ts';
export type * from './types/top-ups.ts';
export type * from './types/transfers.ts';
export type * from './types/upload-links.ts';
export type * from './types/versions.ts';
export type {
  CompletionOptions,
  PartOptions,
  SessionOptions,
  SessionRef,
  Uploads,
  WrittenPart,
} from './uploads/uploads.ts';
