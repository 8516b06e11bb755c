// The limits that both ends of the interface know, the unit in the name: what a client has to cut,
// count and ask for. The service's own are in src/limits.ts.

// Bytes that travel in one message
/** With its envelope it fits into the 2 MiB that the network takes as ingress. */
export const singleUploadBytesMax = 2_000_000;
export const chunkBytesMax = 1_900_000;
/** Least chunk length that a session may declare; a chunk itself has at least one byte. */
export const chunkBytesMin = 65_536;
export const chunkCountMax = 10_000;
/** A gateway joins at most 1,000 parts of a file, a part being a chunk, or pieces of a stream. */
export const joinedPartsMax = 1_000;

// Many files in one call
export const batchFileCountMax = 200;
/** Tags, header fields and pairs of metadata of all of them, in a call of the actor. */
export const batchItemCountMax = 1_000;
/** UTF-8 of their paths and of all other texts. */
export const batchTextBytesMax = 524_288;
export const deletedFileCountMax = 1_000;
/** The JSON or the texts of a call that names files to be deleted. */
export const deletionBytesMax = 98_304;

// Lists
export const pageSizeMax = 50;
/** Files and folders together, of a list by cursors. */
export const folderPageDefault = 100;
export const folderPageMax = 1_000;
export const missingReportedMax = 100;
