// The entry point for Node: ../index.ts, media types, files on disk, and identities of PEM files.

export * from '../index.ts';
export { fileBucketMemory } from './bucket-memory.ts';
export {
  nodeEndToEnd as endToEnd,
  openNodeFolderLink as openFolderLink,
  openNodeLink as openLink,
} from './end-to-end.ts';
export { type FileSource, openFileSource } from './file-source.ts';
export { identityFromPem, type KeyKind, type PemIdentity } from './identity.ts';
export { fileIdentityStore } from './identity-store.ts';
export { createNodeServiceStorage, createNodeStorage } from './storage.ts';
