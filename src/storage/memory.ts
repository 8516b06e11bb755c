// The only list of stable memory ids. Never use an id again for other data, because its old content
// would be misread. Each map takes at least 8 MiB of space 0, of which only written pages use real
// memory.

export const memoryIds = {
  meta: 0,
  buckets: 1,
  apiKeys: 2,
  /** Maps of release 0.1.0, see former-records.ts. */
  formerFiles: 3,
  formerChunks: 4,
  uploads: 5,
  uploadExpirations: 6,
  reclaims: 7,
  members: 8,
} as const;

/** Spaces of raw stable memory besides Azle's own (space 0); the kernel maps them. */
export const spaceIds = {
  blobs: 1,
  index: 2,
  directory: 3,
  wrappedKeys: 4,
  labels: 5,
  /** The slots of the records are in space 7. */
  records: 6,
  /** The directory of its pages is in space 9, the last entries of its owners in space 10. */
  journal: 8,
} as const;
