// The limits that both the service and clients use, with the unit in the name. src/limits.ts has
// those that only the service uses.

// Bytes that travel in one message
/** With its envelope, a file of this size fits into the 2 MiB limit of ingress messages. */
export const singleUploadBytesMax = 2_000_000;
export const chunkBytesMax = 1_900_000;
/** Minimum chunk length that a session may declare; a chunk itself has at least one byte. */
export const chunkBytesMin = 65_536;
export const chunkCountMax = 10_000;
/**
 * A gateway joins at most 1,000 parts of a file; a part is a chunk, or the bytes of one callback of
 * a stream.
 */
export const joinedPartsMax = 1_000;

// Many files in one call
export const batchFileCountMax = 200;
/** Tags, header fields and metadata pairs of all files in one actor call. */
export const batchItemCountMax = 1_000;
/** UTF-8 bytes of all paths and other texts in one actor call. */
export const batchTextBytesMax = 524_288;
export const deletedFileCountMax = 1_000;
export const readFileCountMax = 200;
/** Bytes of the files that one call reads, with their paths and `readFileRestBytes` for each. */
export const readFilesBytesMax = chunkBytesMax;
/** Counted for each file besides its bytes and its path: type, entity tag and lengths. */
export const readFileRestBytes = 512;
/** Bytes of a thumbnail: a WebP picture of 320 pixels has 5 to 25 kB. */
export const thumbnailBytesMax = 32_768;
/** Bytes of an encrypted thumbnail: the header of eight post-quantum recipients has 14 kB. */
export const sealedThumbnailBytesMax = 49_152;
/** Bytes of the JSON or the texts of a call that lists files to delete. */
export const deletionBytesMax = 98_304;

/** Folder of a bucket where files wait for a switch; a site does not serve it. */
export const stagingFolder = '.efs-deploy/';
/** Files of an end-to-end bucket that a folder's link opens. */
export const sharedFilesMax = 5_000;
/** Files that the digest of a switch's result covers. */
export const digestedFilesMax = 20_000;

// Lists
export const pageSizeMax = 50;
/** Files and folders together, in a list by cursors. */
export const folderPageDefault = 100;
export const folderPageMax = 1_000;
export const missingReportedMax = 100;
