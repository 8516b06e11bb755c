// The entrance of the package, for browsers and Node: see README.md.

export type { Access, Rotation } from './administration.ts';
export { browserIdentityStore } from './age/browser-identity-store.ts';
export type { IdentityStore } from './age/identity-store.ts';
export { type EndToEndLayer, endToEnd } from './end-to-end.ts';
export type { EndToEndOptions } from './end-to-end-options.ts';
export type * from './end-to-end-records.ts';
export type { FileStorage } from './file-storage.ts';
export { createHttpStorage, type HttpStorageOptions } from './http-storage.ts';
export type * from './interface.ts';
export type { Links } from './links.ts';
export type { Buckets, Keys, WellKnown } from './management.ts';
export { type LinkOptions, openLink } from './open-link.ts';
export type * from './operations.ts';
export type { RetryNotice, RetryPolicy } from './retry.ts';
export type * from './service-status.ts';
export {
  type ActorStorageOptions,
  createStorage,
  type Storage,
  type StorageOptions,
} from './storage.ts';
export { isStorageError, StorageError } from './storage-error.ts';
export type { StorageIdentity } from './storage-identity.ts';
export type { UploadInput, UploadSource } from './upload-source.ts';
export type {
  CompletionOptions,
  PartOptions,
  SessionOptions,
  SessionRef,
  Uploads,
  WrittenPart,
} from './uploads.ts';
export { xhrSender } from './xhr-sender.ts';
