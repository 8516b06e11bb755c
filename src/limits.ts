// Every limit of the service, the unit in its name. Whatever a caller can grow is bounded here.
// Platform limits: Internet Computer interface specification and HTTP gateway specification.

// Names
export const bucketIdLengthMax = 64;
export const filePathBytesMax = 1_024;
export const contentTypeLengthMax = 255;
export const fileTagCountMax = 20;
export const fileTagLengthMax = 64;
export const keyNameLengthMax = 64;

// Bytes that travel in one message
/** The network takes ingress envelopes of up to 2 MiB, headers and signature included. */
export const ingressEnvelopeBytesMax = 2_097_152;
export const singleUploadBytesMax = 2_000_000;
export const chunkBytesMax = 1_900_000;
/** A gateway joins at most 1,000 parts, and a part is a chunk. */
export const chunkCountMax = 1_000;
export const fileBytesMax = chunkBytesMax * chunkCountMax;
export const requestHeaderCountMax = 128;
/** What one answer carries of a body; a query's whole reply may have 3 MiB, an update's 2 MiB. */
export const responseBodyBytesMax = 2_000_000;

// Storage
/** Plaintext of one segment: what a read has to open at the least. */
export const segmentBytesMax = 65_536;

// Sessions
export const openUploadCountMax = 50;
export const uploadIdleNs = 24n * 3_600n * 1_000_000_000n;
export const uploadLifetimeNs = 7n * 24n * 3_600n * 1_000_000_000n;
export const missingReportedMax = 100;

// Keys and buckets
export const liveKeyCountMax = 100;
export const keyBucketCountMax = 100;
export const bucketCountMax = 10_000;

// Work of one message
/** Chunks whose storage one message gives back. */
export const reclaimedChunksPerMessage = 64;
