// The one list of stable memory ids. An id is never used again for anything else: what it held
// would be read as something that it is not. Each map takes at least 8 MiB of space 0, of which
// only what is written to lies in real memory.

export const memoryIds = {
  meta: 0,
  buckets: 1,
  apiKeys: 2,
  files: 3,
  chunks: 4,
  uploads: 5,
  uploadExpirations: 6,
  reclaims: 7,
  members: 8,
} as const;

/** Spaces of raw stable memory beside Azle's own (which is space 0): the kernel maps them. */
export const spaceIds = {
  blobs: 1,
  index: 2,
  directory: 3,
  wrappedKeys: 4,
  labels: 5,
  sizes: 6,
} as const;
