// The entrance for programs in Node: all of the other one, media types by the path's extension,
// files of the disk, identities of PEM files.

export * from '../index.ts';
export { nodeEndToEnd as endToEnd, openNodeLink as openLink } from './end-to-end.ts';
export { type FileSource, openFileSource } from './file-source.ts';
export { identityFromPem, type KeyKind, type PemIdentity } from './identity.ts';
export { fileIdentityStore } from './identity-store.ts';
export { createNodeStorage } from './storage.ts';
