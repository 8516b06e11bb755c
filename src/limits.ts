// Every limit of the service, the unit in its name; those that its clients have to know too are in
// packages/wire/src/limits.ts. Whatever a caller can grow is bounded in one of the two.
// Platform limits: Internet Computer interface specification and HTTP gateway specification.

import { chunkBytesMax, chunkCountMax, joinedPartsMax } from '../packages/wire/src/limits.ts';

// Names
export const filePathBytesMax = 1_024;
export const contentTypeLengthMax = 255;
export const fileTagCountMax = 20;
export const fileTagLengthMax = 64;
export const keyNameLengthMax = 64;
/** Pairs that users note with a file; bytes of UTF-8 of all of them. */
export const metadataCountMax = 32;
export const metadataBytesMax = 2_048;
export const metadataNameLengthMax = 64;

// Bytes that travel in one message
export const fileBytesMax = chunkBytesMax * chunkCountMax;
/** Files whose declared SHA-256 is verified: one message reads and hashes them. */
export const verifiedFileBytesMax = 10 * chunkBytesMax;
/** Length of a header field or precondition that is stored with a file or a session. */
export const storedHeaderLengthMax = 1_024;
/** JSON of a request. */
export const jsonBodyBytesMax = 10_240;
/** Objects and arrays in it. */
export const jsonContainerCountMax = 32;
/** Items that one of them lists. */
export const jsonItemCountMax = 128;
export const requestHeaderCountMax = 100;
/** The longest prefix and tag, percent-encoded, and the longest cursor, in the longest route. */
export const requestUrlBytesMax = 5_376;
/** Gateways take no longer URL (crate `http`, `Uri::MAX_LEN`). */
export const gatewayUrlBytesMax = 65_534;
/** The URL, the method and all header fields of a request. */
export const requestTextBytesMax = 10_240;
/** Bytes of a body in one response; a query's whole reply may have 3 MiB, an update's 2 MiB. */
export const responseBodyBytesMax = 2_000_000;

/**
 * Bytes of one streamed piece, which a query reads after an update, see domain/files/streams.ts.
 */
export const streamPieceBytes = 1_900_000;
export const streamBytesMax = streamPieceBytes * joinedPartsMax;
/** For how long a stream may be read on, and a replaced file that is being read is kept. */
export const streamLifetimeNs = 10n * 60n * 1_000_000_000n;
/** Replaced files that are kept at a time, and their bytes in all. */
export const keptContentCountMax = 64;
export const keptContentBytesMax = 4_000_000_000;
/** Files that are known to be read by streams. */
export const knownStreamCountMax = 1_000;

// Many files in one call
/** UTF-8 bytes of the paths that one call by prefix returns, before they are escaped. */
export const deletedPathBytesMax = 524_288;
/** The header fields of a part of a form, and how many they are. */
export const partHeadBytesMax = 8_192;
export const partFieldCountMax = 16;

// Storage
/** Plaintext of one segment: what a read has to open at the least. */
export const segmentBytesMax = 65_536;

// Listings
export const pageSizeDefault = 10;
/** Such a page ends where the paths on it, or the records of its files, have so many bytes. */
export const listedPathBytesMax = 400_000;
export const listedRecordBytesMax = 1_000_000;
/** Bytes of a page of former versions. */
export const listedVersionBytesMax = 300_000;

// Sessions
export const openUploadCountMax = 50;
export const uploadIdleNs = 24n * 3_600n * 1_000_000_000n;
/** For how long the record of a session that has ended answers. */
export const uploadEndedNs = 24n * 3_600n * 1_000_000_000n;
export const uploadLifetimeNs = 7n * 24n * 3_600n * 1_000_000_000n;

// Keys and buckets
export const liveKeyCountMax = 100;
export const keyBucketCountMax = 100;
/** Default of keys without `read`. Uploads of 1 MB cost at most 4.4 T cycles an hour within it. */
export const keyUpdatesPerHourDefault = 2_000;
export const keyBytesPerHourDefault = 2_000_000_000;
export const keyUpdatesPerHourMax = 1_000_000_000;
/** The largest message fits. */
export const keyBytesPerHourMin = 2_097_152;
export const bucketCountMax = 10_000;
export const memberCountMax = 32;
export const bucketCreatorCountMax = 100;

// End-to-end encrypted buckets
/** age recipients that owners list, and the characters of each: a post-quantum one has 1,960. */
export const ownRecipientCountMax = 8;
export const recipientLengthMax = 2_048;
/** Epochs of one bucket, in all and within an hour. */
export const bucketEpochCountMax = 1_000;
export const epochsPerHourMax = 10;
/** For one principal; the budget `derivations` is for all of them together. */
export const derivationsPerHourMax = 10;
/** Parts of that budget: a bucket's, an owner's, and one for whoever derived nothing lately. */
export const derivationShares = { bucket: 1 / 5, owner: 1 / 4, kept: 1 / 4 } as const;
export const hourNs = 3_600n * 1_000_000_000n;

// Arguments in Candid; of each method: src/actor/dispatch/method-table.ts
/** Types that an argument declares. Each has to fit into one byte. */
export const candidTableLengthMax = 32;
/** Fields and alternatives of all of them. */
export const candidTablePartsMax = 128;

// Ingress that is let in
/** URL and header fields of a request that changes nothing. */
export const smallArgumentBytesMax = 16_384;
/**
 * Arguments up to this length need no budget to be refused, if the caller has a right to the call.
 */
export const uncheckedArgumentBytesMax = 4_096;

// Budgets of the whole canister, see domain/rights/budgets.ts
export const budgetDefaults = {
  anonymousUpdates: { burst: 300, perMinute: 20 },
  linkUpdates: { burst: 300, perMinute: 20 },
  refusals: { burst: 1_200, perMinute: 6 },
  /** 26 G cycles each: 5.2 T at once, then 4.7 T an hour. */
  derivations: { burst: 200, perMinute: 3 },
} as const;
/** Highest burst and perMinute that a controller may set. */
export const budgetMax = 1_000_000;
/** A refused message takes a token and another one for each of so many bytes of its argument. */
export const refusedBytesPerToken = 16_384;
/** Token buckets that are not full: each API key or owner may have one of its own. */
export const tokenLevelCountMax = 1_000;

/** Live links to one file, and links of a bucket. */
export const fileLinkCountMax = 16;
export const bucketLinkCountMax = 10_000;
/** Links of these that keys and members other than owners may create: the rest is for owners. */
export const othersFileLinkCountMax = 12;
export const othersBucketLinkCountMax = 9_000;
/** Links that one message takes away when they are over. */
export const endedLinksPerMessage = 20;
/** Links whose leaves one message brings to the present addresses after an upgrade. */
export const movedLinksPerMessage = 200;
/**
 * Size of a site's 404.html, which answers any missing path: 11 M instructions, and the response to
 * a longer request for a missing path must take less than 20 M.
 */
export const sitePageBytesMax = 65_536;
/** Texts below `/.well-known/`, the bytes of each, and the characters of its name. */
export const wellKnownCountMax = 16;
export const wellKnownBytesMax = 8_192;
export const wellKnownNameLengthMax = 128;
/** Volumes of a front. */
export const volumeCountMax = 16;
export const frontUrlLengthMax = 100;
/** For how many days former versions of files may be kept. */
export const keepVersionsDaysMax = 3_650;

// Work of one message
/** Former versions that one message erases when their time is over, or for somebody. */
export const expiredVersionsPerMessage = 20;
export const erasedVersionsPerMessage = 1_000;
/** Files of a prefix that one message moves. */
export const movedFilesPerMessage = 1_000;
/** Work of one message that moves or deletes many files, see files/bulk-work.ts. */
export const bulkLeavesPerMessage = 100_000;
/** Files of an earlier version that one message brings to the present one, and chunks of them. */
export const upgradedFilesPerMessage = 20;
export const upgradedChunksPerMessage = 1_000;
/** Files whose sizes one message puts into the index of sizes. */
export const sizedFilesPerMessage = 500;
/** Chunks whose storage one message gives back: 2.5 M instructions each when they are full. */
export const reclaimedChunksPerMessage = 32;

/** Wrapped keys that one message looks at, and buckets: 0.2 M instructions for each rewrapped. */
export const rotatedSlotsPerMessage = 1_000;
export const rotatedBucketsPerMessage = 200;
/** Buckets that have two keys at a time. */
export const rotatingBucketCountMax = 100;

/**
 * No upload with fewer cycles above the freezing reserve: an update of 2 MB takes 4.2 G, and its
 * execution 40 G in advance. The update itself finds these 40 G taken already.
 */
export const cyclesReserve = 60_000_000_000;
