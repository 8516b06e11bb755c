// Operations whose rows do not describe the HTTP request: they report the progress of long chunks,
// take several requests, return results with an error response, or exist only as calls.

import type { StorageError } from '../storage-error.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { UploadSession } from '../types/transfers.ts';
import type { NumberedFile } from './files.ts';
import type { PathRows, TransferRows } from './operation.ts';
import type { FileMetadata, SessionName, SessionRequest } from './uploads.ts';

export interface Chunk {
  readonly index: number;
  readonly bytes: Uint8Array;
  /** The same bytes as a Blob, if the source has one. */
  readonly blob?: Blob | undefined;
  readonly digest: Uint8Array;
  /** Receives how many bytes of the request have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface ChunkUpload extends Chunk, SessionName {}

/** A chunk with the request that begins its upload. */
export interface OneRoundChunk extends Chunk, SessionRequest {
  /** Entity tag of the whole file, once it is known: the last chunk to arrive completes it. */
  readonly etag: string | undefined;
  /** Asked when the answer has only the session: whether the network must have signed it. */
  needsSession(): boolean;
}

export interface OpenRequest extends NumberedFile {
  /** The response may contain the first chunk. */
  readonly wantsFirst: boolean;
}

export interface OpenedFile {
  readonly etag: string;
  readonly size: number;
  readonly contentType: string | undefined;
  /** The length of all chunks but the last; undefined if unknown. */
  readonly chunkBytes: number | undefined;
  /** `chunkBytes` is a guess: records of version 0.1.0 lack it. */
  readonly isGuessed?: boolean;
  /** The file was opened without the key, as public files are. */
  readonly isAnonymous: boolean;
  /** Set if one version was opened by its number. */
  readonly version?: number | undefined;
  /** The number of the opened version, if the transport reads ranges by it. */
  readonly current?: number | undefined;
  /** The first chunk, if the response contained it; the reader clears it. */
  first: Uint8Array | undefined;
}

export interface PartRequest extends FileName {
  /** [start, end), not empty and at most a chunk. */
  readonly start: number;
  readonly end: number;
  /** The range is exactly one chunk. */
  readonly isChunk: boolean;
  /** The file was opened without the key. */
  readonly isAnonymous: boolean;
  readonly version?: number | undefined;
  readonly current?: number | undefined;
  /** If the transport detects another ETag, the call fails with PreconditionFailed. */
  readonly etag: string;
  /** Path of a link to the file: the part is read there, without the key. */
  readonly linkPath?: string | undefined;
  /** Receives how many of the part's bytes have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

/** One file of a batch. */
export interface BatchedFile extends Omit<FileMetadata, 'bucket' | 'sha256'> {
  readonly bytes: Uint8Array;
}

export interface FileBatch {
  readonly bucket: string;
  readonly files: readonly BatchedFile[];
}

export interface FilesRequest {
  readonly bucket: string;
  /** At most `readFileCountMax`. */
  readonly paths: readonly string[];
  /** Reads the files' thumbnails in place of their bytes. */
  readonly asThumbnails?: boolean;
}

/** A file that was read with others. */
export interface WholeFile {
  readonly etag: string;
  readonly contentType: string;
  /** The length of all chunks but the last. */
  readonly chunkBytes: number;
  readonly bytes: Uint8Array;
}

export interface TransferOperations {
  /** The record in a reply that the network signs. */
  getCertifiedFile(file: NumberedFile): FileRecord;
  openFile(file: OpenRequest): OpenedFile;
  readPart(part: PartRequest): Uint8Array;
  putChunk(chunk: ChunkUpload): undefined;
  /** Returns the file's record once the upload is completed; until then its session. */
  uploadChunk(chunk: OneRoundChunk): UploadSession | FileRecord;
  /** Returns results for the first paths, at least one, in their order. One node answers. */
  readFiles(request: FilesRequest): readonly (WholeFile | StorageError)[];
  /** Returns the results in the files' order: either all files are stored, or each has an error. */
  putFiles(batch: FileBatch): readonly (FileRecord | StorageError)[];
}

export const transferRows = {
  getCertifiedFile: {
    retry: 'repeat',
  },
  openFile: {
    retry: 'repeat',
  },
  readPart: {
    retry: 'repeat',
  },
  putChunk: {
    retry: 'repeat',
  },
  uploadChunk: {
    retry: 'repeat',
  },
  readFiles: {
    retry: 'repeat',
  },
  putFiles: {
    retry: 'compare',
  },
} satisfies TransferRows<TransferOperations>;

export const transferPaths = {
  getCertifiedFile: { seals: { path: 'path' }, opens: 'record' },
  openFile: { seals: { path: 'path' } },
  readPart: { seals: { path: 'path' } },
  putChunk: { seals: { path: 'path' } },
  uploadChunk: { isNaming: true, seals: { path: 'path' }, opens: 'record' },
  readFiles: { seals: { paths: 'batch' } },
  putFiles: { isNaming: true, seals: { files: 'batch' } },
} satisfies PathRows<TransferOperations>;
