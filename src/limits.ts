// The limits that only the service uses, with the unit in the name; packages/wire/src/limits.ts has
// those that clients also use. Everything that a caller can increase has a limit in one of the two
// files. Platform limits: Internet Computer interface specification and HTTP gateway specification.

import { chunkBytesMax, chunkCountMax, joinedPartsMax } from '../packages/wire/src/limits.ts';

// Names
export const filePathBytesMax = 1_024;
export const contentTypeLengthMax = 255;
export const fileTagCountMax = 20;
export const fileTagLengthMax = 64;
export const keyNameLengthMax = 64;
/** Metadata of a file: the number of pairs, and their UTF-8 bytes in total. */
export const metadataCountMax = 32;
export const metadataBytesMax = 2_048;
export const metadataNameLengthMax = 64;

// Files, requests and responses
export const fileBytesMax = chunkBytesMax * chunkCountMax;
/** Size of the largest file whose declared SHA-256 is verified: one message reads and hashes it. */
export const verifiedFileBytesMax = 10 * chunkBytesMax;
/** Length of a header field or precondition that a file or session stores. */
export const storedHeaderLengthMax = 1_024;
/** Bytes of JSON in a request. */
export const jsonBodyBytesMax = 10_240;
/** Objects and arrays in the JSON. */
export const jsonContainerCountMax = 32;
/** Items of one array, or fields of one object, in the JSON. */
export const jsonItemCountMax = 128;
export const requestHeaderCountMax = 100;
/** Length of the longest route with prefix, tag and cursor, all of them percent-encoded. */
export const requestUrlBytesMax = 5_376;
/** The longest URL that gateways accept (crate `http`, `Uri::MAX_LEN`). */
export const gatewayUrlBytesMax = 65_534;
/** Characters of the URL, the method and all header fields of a request. */
export const requestTextBytesMax = 10_240;
/** Bytes of a response's body; a query's whole reply may have 3 MiB, an update's 2 MiB. */
export const responseBodyBytesMax = 2_000_000;

/** Bytes of a stream that one query reads after an update, see domain/files/streams.ts. */
export const streamPieceBytes = 1_900_000;
export const streamBytesMax = streamPieceBytes * joinedPartsMax;
/** Time for which a stream can continue, and for which a replaced file is kept while it is read. */
export const streamLifetimeNs = 10n * 60n * 1_000_000_000n;
/** Number and total bytes of replaced files that are kept at a time. */
export const keptContentCountMax = 64;
export const keptContentBytesMax = 4_000_000_000;
/** Number of files for which the heap records that a stream reads them. */
export const knownStreamCountMax = 1_000;

// Many files in one call
/** UTF-8 bytes of the paths that a call by prefix returns, before JSON escapes. */
export const deletedPathBytesMax = 524_288;
/** Bytes and number of the header fields of a form's part. */
export const partHeadBytesMax = 8_192;
export const partFieldCountMax = 16;

// Storage
/** Plaintext bytes of one segment: the smallest amount that a read decrypts. */
export const segmentBytesMax = 65_536;

// Listings
export const pageSizeDefault = 10;
/** A page of files ends when its paths, or the records of its files, have this many bytes. */
export const listedPathBytesMax = 400_000;
export const listedRecordBytesMax = 1_000_000;
/** Bytes of a page of former versions. */
export const listedVersionBytesMax = 300_000;

// Sessions
export const openUploadCountMax = 50;
export const uploadIdleNs = 24n * 3_600n * 1_000_000_000n;
/** Time for which the record of an ended session is kept. */
export const uploadEndedNs = 24n * 3_600n * 1_000_000_000n;
export const uploadLifetimeNs = 7n * 24n * 3_600n * 1_000_000_000n;

// Keys and buckets
export const liveKeyCountMax = 100;
export const keyBucketCountMax = 100;
/** Default of keys without `read`. Limits the cost of uploads of 1 MB to 4.4 T cycles an hour. */
export const keyUpdatesPerHourDefault = 2_000;
export const keyBytesPerHourDefault = 2_000_000_000;
export const keyUpdatesPerHourMax = 1_000_000_000;
/** Certified leaves, 2.2 G instructions, for each of which a costly update counts once more. */
export const leavesPerUpdate = 20_000;
/** At least one message of the maximum size. */
export const keyBytesPerHourMin = 2_097_152;
export const bucketCountMax = 10_000;
export const memberCountMax = 32;
/** UTF-8 bytes. */
export const memberNameBytesMax = 128;
export const bucketCreatorCountMax = 100;

// End-to-end encrypted buckets
/** Number of recipients that owners list, and characters of each; a post-quantum one has 1,960. */
export const ownRecipientCountMax = 8;
export const recipientLengthMax = 2_048;
/** Epochs of one bucket, in total and within an hour. */
export const bucketEpochCountMax = 1_000;
export const epochsPerHourMax = 10;
/** Derivations of one principal; the budget `derivations` limits all principals together. */
export const derivationsPerHourMax = 10;
/**
 * Shares of that budget: the maximum of a bucket and of an owner, and the part that is reserved for
 * principals without a recent derivation.
 */
export const derivationShares = { bucket: 1 / 5, owner: 1 / 4, kept: 1 / 4 } as const;
export const hourNs = 3_600n * 1_000_000_000n;

// Arguments in Candid; src/actor/dispatch/method-table.ts has the limits of each method
/** Types that an argument declares. Their indexes must fit into one byte. */
export const candidTableLengthMax = 32;
/** Fields and alternatives of all these types. */
export const candidTablePartsMax = 128;

// Accepted ingress
/** URL and header fields of a request that changes nothing. */
export const smallArgumentBytesMax = 16_384;
/** Refusing an argument of up to this length takes no budget if the caller has a right. */
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
/** Argument bytes for which a refused message takes one token more, besides its first one. */
export const refusedBytesPerToken = 16_384;
/** The same for a request over HTTP that succeeds, for which a shared budget pays. */
export const requestBytesPerToken = 4_096;
/** Number of token buckets whose levels the heap stores; full ones have no level. */
export const tokenLevelCountMax = 1_000;

/** Wrong passwords for one link: ten at once, and ten an hour. */
export const linkTriesPerLink = { burst: 10, minutesPerTry: 6 } as const;
/** Live links to one file, and all links of a bucket. */
export const fileLinkCountMax = 16;
export const bucketLinkCountMax = 10_000;
/** The part of these links that keys and members other than owners may create. */
export const othersFileLinkCountMax = 12;
export const othersBucketLinkCountMax = 9_000;
/** Upload links of a bucket, those of callers who are not owners, and their longest life. */
export const uploadLinkCountMax = 1_000;
export const othersUploadLinkCountMax = 500;
export const uploadLinkLifeNs = 366n * 24n * 3_600n * 1_000_000_000n;
export const uploadLinkLifeDefaultNs = 24n * 3_600n * 1_000_000_000n;
/** Expired links that one message removes. */
export const endedLinksPerMessage = 20;
/**
 * Size of a site's 404.html, which answers any missing path. Hashing it takes 11 M instructions,
 * and the response to a longer request for a missing path must take less than 20 M.
 */
export const sitePageBytesMax = 65_536;
/** Number of texts below `/.well-known/`, bytes of each, and characters of its name. */
export const wellKnownCountMax = 16;
export const wellKnownBytesMax = 8_192;
export const wellKnownNameLengthMax = 128;
/** Number of volumes of a front. */
export const volumeCountMax = 16;
/** Stable memory of a full volume, of the network's 500 GiB. */
export const volumeBytesMax = 429_496_729_600;
/** Buckets that a front's volumes may be creating at the same time. */
export const reservationCountMax = 100;
/** Top-ups that a front remembers: more than 24 hours have at 16 volumes and one an hour. */
export const topUpRecordsMax = 1_000;
export const frontUrlLengthMax = 100;
/** Buckets in one report of a volume to its front. */
export const bucketsPerReport = 200;
/** Public buckets of a volume to which its front redirects; certifying one takes 2.4 M. */
export const publicAddressCountMax = 1_000;
/** Retention: rules of a bucket, and days of the longest one, a hundred years. */
export const retentionRuleCountMax = 20;
export const retentionDaysMax = 36_500;
/** Maximum number of days for which former versions are kept. */
export const keepVersionsDaysMax = 3_650;

// Reading of the journal, see domain/journal/journal-reading.ts
export const journalPageMax = 100;
/** In a query, which may take a thousand times as many instructions as an update should. */
export const journalQueryMax = 5_000;
/** Days for which a bucket shows its entries, see domain/journal/journal-retention.ts. */
export const journalDaysDefault = 90;
export const journalDaysMax = 3_650;

// Rules of a bucket, see domain/buckets/rules.ts
export const ruleCountMax = 20;
export const ruleIdLengthMax = 255;
/** UTF-8 bytes of the ids, prefixes and tags of a bucket's rules. */
export const ruleTextBytesMax = 8_192;
/** Maximum number of days of a rule, and the same time in hours. */
export const ruleDaysMax = 36_500;
export const ruleHoursMax = 24 * ruleDaysMax;
export const ruleVersionsMax = 1_000;

// Subscriptions, see domain/journal/event-delivery.ts
export const subscriptionCountMax = 8;
/** Subscriptions of all buckets. */
export const subscriptionTotalMax = 64;
/**
 * The only methods that may receive entries. An owner chooses the method, and this canister is the
 * caller: with any name, owners could use what other canisters allow this one.
 */
export const eventMethodPattern = /^efs_[A-Za-z0-9_]{1,60}$/;
/** Entries of one call, fewer if they are long, and the entries examined for it. */
export const eventsPerBatch = 100;
export const eventBytesPerBatch = 65_536;
export const eventsExaminedPerBatch = 200;
/** Subscriptions whose entries one message reads. */
export const deliveriesPerMessage = 8;
/** Turns of a subscription in a day, each with at most one call, and their cycles. */
export const eventTurnsPerDay = 1_000;
export const eventCyclesPerDay = 25_000_000_000;
/**
 * Cycles of a turn, of each entry read, of a call, of each byte sent and received, and of the most
 * expensive turn. They are more than a subnet of 13 nodes charges
 * (tests/service/event-costs.thorough.test.ts).
 */
export const eventCycles = {
  look: 30_000_000,
  entry: 1_000_000,
  call: 12_000_000,
  byte: 3_000,
  replyByte: 1_100,
  most: 2_900_000_000,
} as const;

// Work of one message
/** Former versions that one message erases: expired ones, and on request. */
export const expiredVersionsPerMessage = 20;
export const erasedVersionsPerMessage = 1_000;
/** Files that rules look at in one message: 4 M instructions for each deleted one. */
export const ruledFilesPerMessage = 250;
/** Due files that a rule passes over in a check, because they are held or damaged. */
export const rulePassedOverMax = 1_000;
/** Checks of a rule, or of a bucket's uploads, in one message: up to 8 M instructions each. */
export const ruleChecksPerMessage = 100;
/** Former versions whose expiry one message sets after a change of rules: 0.6 M each. */
export const ruledVersionsPerMessage = 500;
/** Files of a prefix that one message moves. */
export const movedFilesPerMessage = 1_000;
/** Limit of one message that moves, deletes or replaces many files, see files/bulk-work.ts. */
export const bulkLeavesPerMessage = 100_000;
/** Files that one switch moves, and its work in the same unit. */
export const switchedFilesMax = 2_000;
export const switchLeavesMax = 180_000;
/** Files of an earlier version that one message converts, and the chunks in them. */
export const upgradedFilesPerMessage = 20;
export const upgradedChunksPerMessage = 1_000;
/** Records that one message moves out of the former maps. */
export const movedRecordsPerMessage = 500;
/** Chunks whose storage one message frees: 2.5 M instructions for each full chunk. */
export const reclaimedChunksPerMessage = 32;

/** Wrapped keys and buckets that one message checks: 0.2 M instructions per key wrapped again. */
export const rotatedSlotsPerMessage = 1_000;
export const rotatedBucketsPerMessage = 200;
/** Buckets that may have two keys at the same time. */
export const rotatingBucketCountMax = 100;

/**
 * An upload needs this many cycles above the freezing reserve: an update of 2 MB takes 4.2 G, and
 * its execution reserves 40 G. Within the update, these 40 G are already deducted.
 */
export const cyclesReserve = 60_000_000_000;
