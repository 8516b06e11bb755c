// The interface that both transports implement: HTTP through a gateway, and calls through the
// agent. Each method makes one attempt at one request, and throws a StorageError.

import type { StorageError } from '../storage-error.ts';
import type { BucketChange, BucketOptions, BucketRecord, WellKnownText } from '../types/buckets.ts';
import type { BucketEpoch, EndToEndRecord } from '../types/end-to-end.ts';
import type {
  CopyFileOptions,
  FileChange,
  FileName,
  FileRecord,
  MoveAllOptions,
  MovedFiles,
  RemovedFile,
  StoredHeaders,
  UserMetadata,
} from '../types/files.ts';
import type { KeyRecord, KeyRequest, NewKey } from '../types/keys.ts';
import type { LinkListOptions, LinkRecord, LinkRequest, NewLink } from '../types/links.ts';
import type {
  FilePage,
  FolderOptions,
  FolderPage,
  ListOptions,
  Usage,
  UsageOptions,
} from '../types/listings.ts';
import type { AccessChange, RootKeySource, ServiceStatus } from '../types/service.ts';
import type { UploadSession } from '../types/transfers.ts';
import type {
  EraseOptions,
  RestoreOptions,
  VersionListOptions,
  VersionPage,
} from '../types/versions.ts';
import type { Line } from './transfer-window.ts';

export type Signal = AbortSignal | undefined;

export interface FileMetadata extends FileName {
  readonly contentType: string | undefined;
  readonly tags: readonly string[];
  readonly headers: StoredHeaders;
  readonly metadata: UserMetadata;
  readonly sha256: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export interface WholeFile extends FileMetadata {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** One file of a batch. */
export interface BatchedFile extends Omit<FileMetadata, 'bucket' | 'sha256'> {
  readonly bytes: Uint8Array;
}

export interface FileBatch {
  readonly bucket: string;
  readonly files: readonly BatchedFile[];
}

/** Pass paths or a prefix; with a prefix, `cursor` continues the previous call. */
export interface Deletion {
  readonly bucket: string;
  readonly paths?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
  /** Requires exactly one path. */
  readonly ifMatch?: string | undefined;
}

export interface DeletionAnswer {
  readonly results: readonly RemovedFile[];
  /** Absent when the deletion is complete. */
  readonly nextCursor: string | undefined;
}

export interface LinksRequest extends LinkListOptions {
  readonly cursor: string | undefined;
}

export interface LinkPage {
  readonly items: readonly LinkRecord[];
  /** Absent on the last page. */
  readonly nextCursor: string | undefined;
}

export interface SessionRequest extends FileMetadata {
  /** Undefined if only the completion will state it. */
  readonly size: number | undefined;
  readonly chunkBytes: number;
  /** The same for each attempt, so that the service returns the same session. */
  readonly token: string;
}

export interface SessionName extends FileName {
  readonly uploadId: string;
}

/** Values that are known only at the end; each replaces the one given at the beginning. */
export interface Completion extends SessionName {
  readonly metadata?: UserMetadata | undefined;
  readonly sha256?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface ChunkUpload extends SessionName {
  readonly index: number;
  readonly bytes: Uint8Array;
  /** The same bytes as a Blob, if the source has one. */
  readonly blob?: Blob | undefined;
  readonly digest: Uint8Array;
  /** Receives how many bytes of the request have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface OpenedFile {
  readonly etag: string;
  readonly size: number;
  readonly contentType: string | undefined;
  /** The length of all chunks but the last; undefined if unknown. */
  readonly chunkBytes: number | undefined;
  /** The file was opened without the key, as public files are. */
  readonly isAnonymous: boolean;
  /** Set if one version was opened by its number. */
  readonly version?: number | undefined;
  /** The first chunk, if the response contained it; the reader clears it. */
  first: Uint8Array | undefined;
}

export interface PartRequest extends FileName {
  /** [start, end), not empty and at most a chunk. */
  readonly start: number;
  readonly end: number;
  /** The range is exactly one chunk. */
  readonly isChunk: boolean;
  /** As the file was opened. */
  readonly isAnonymous: boolean;
  readonly version?: number | undefined;
  /**
   * The expected ETag: the call fails with PreconditionFailed if the file has been replaced, if the
   * transport can detect it.
   */
  readonly etag: string;
  /** Path of a link to the file: the part is read there, without the key. */
  readonly linkPath?: string | undefined;
  /** Receives how many of its bytes have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

/** The service's response with an encrypted identity: see age/bucket-identity.ts. */
export interface SealedIdentity {
  readonly epoch: number;
  /** 192 bytes, encrypted to the transport key. */
  readonly encryptedKey: Uint8Array;
  /** 96 bytes: the public key of the canister and the context, not yet verified. */
  readonly publicKey: Uint8Array;
  readonly recipient?: string | undefined;
  readonly keyName: string;
}

/**
 * `endToEnd` is absent or null if the bucket is not end-to-end. Over HTTP the response lacks the
 * values that identities are derived from.
 */
export interface BucketMode {
  readonly endToEnd?:
    | EndToEndRecord
    | (Omit<EndToEndRecord, 'serial' | 'epochs'> & { readonly epoch?: BucketEpoch | undefined })
    | null
    | undefined;
  /** Absent over HTTP. */
  readonly keepVersionsDays?: number | undefined;
}

export interface PageRequest extends ListOptions {
  readonly page: number;
}

/** A copy, or a move, which has no version. */
export interface CopyRequest extends Omit<CopyFileOptions, 'signal'> {
  readonly from: FileName;
  readonly to: FileName;
}

export type PrefixMove = Omit<MoveAllOptions, 'signal'>;

/** The result of one call; repeat the call until `isDone`. */
export interface PrefixMoveAnswer extends MovedFiles {
  readonly isDone: boolean;
}

export interface VersionsRequest extends Omit<VersionListOptions, 'signal'> {
  readonly cursor: string | undefined;
  /** 1 to 1,000. */
  readonly limit: number;
}

export type Restoration = Omit<RestoreOptions, 'signal'>;
export type Erasure = Omit<EraseOptions, 'signal'>;

/** The result of one call; repeat the call until `isDone`. */
export interface ErasureAnswer {
  readonly erased: number;
  readonly isDone: boolean;
}

/** Operations of owners and controllers. */
export interface Administration {
  createBucket(id: string, options: BucketOptions): Promise<BucketRecord>;
  getBucket(id: string): Promise<BucketRecord>;
  listBuckets(page: number): Promise<{ items: readonly BucketRecord[]; hasMore: boolean }>;
  updateBucket(id: string, change: BucketChange): Promise<BucketRecord>;
  deleteBucket(id: string, options: { readonly isForced: boolean }): Promise<void>;
  /** @param transportPublicKey 48 bytes */
  getBucketIdentity(
    bucket: string,
    epoch: number,
    transportPublicKey: Uint8Array,
  ): Promise<SealedIdentity>;
  setBucketRecipient(bucket: string, epoch: number, recipient: string): Promise<BucketRecord>;
  rotateBucketIdentity(bucket: string): Promise<BucketRecord>;
  createKey(request: KeyRequest): Promise<NewKey>;
  listKeys(bucket: string): Promise<readonly KeyRecord[]>;
  revokeKey(id: string): Promise<void>;
  /** Returns the principals that may create buckets after the change. */
  updateAccess(change: AccessChange): Promise<readonly string[]>;
  rotateBucketKey(bucket: string): Promise<void>;
  rotateRootKey(source: RootKeySource | undefined): Promise<void>;
  /** Removes the text if `body` is undefined. */
  setWellKnown(text: {
    readonly name: string;
    readonly body: string | undefined;
    readonly contentType?: string | undefined;
  }): Promise<void>;
  listWellKnown(): Promise<readonly WellKnownText[]>;
}

export interface Transport {
  readonly line: Line;
  /** Sends a request of 8,192 bytes or more that a query answers, to measure the line. */
  probe(bytes: number): Promise<void>;
  /** Files up to this size are sent in one request. */
  readonly wholeFileBytesMax: number;
  /** Gateways refuse a body that takes longer to arrive. */
  readonly bodyMsMax: number;
  putFile(file: WholeFile, signal: Signal): Promise<FileRecord>;
  /** Returns the results in the files' order: all are stored, or each has its error. */
  putFiles(batch: FileBatch, signal: Signal): Promise<readonly (FileRecord | StorageError)[]>;
  startUpload(request: SessionRequest, signal: Signal): Promise<UploadSession>;
  getUpload(name: SessionName, signal: Signal): Promise<UploadSession>;
  putChunk(chunk: ChunkUpload, signal: Signal): Promise<void>;
  /** Idempotent: a repeated call returns the same record. */
  completeUpload(completion: Completion, signal: Signal): Promise<FileRecord>;
  cancelUpload(name: SessionName, signal: Signal): Promise<void>;
  /** Returns the open sessions. */
  listUploads(bucket: string, signal: Signal): Promise<readonly UploadSession[]>;
  getEndToEnd(bucket: string, signal: Signal): Promise<BucketMode>;
  openFile(
    file: FileName,
    options: {
      readonly wantsFirst: boolean;
      readonly version?: number | undefined;
      readonly signal: Signal;
    },
  ): Promise<OpenedFile>;
  readPart(part: PartRequest, signal: Signal): Promise<Uint8Array>;
  /** The address that link paths are appended to, without a final slash; '' if unknown. */
  readonly linkBase: string;
  /** Private files are downloaded through temporary links, so that responses are certified. */
  readonly readsByLinks: boolean;
  /** Returns a link whose `url` is the path below `linkBase`. */
  createLink(request: LinkRequest): Promise<NewLink>;
  listLinks(request: LinksRequest): Promise<LinkPage>;
  removeLink(bucket: string, id: string, signal: Signal): Promise<void>;
  /** Returns the record of the present version, or of `version`. */
  getFile(file: FileName, signal: Signal, version?: number | undefined): Promise<FileRecord>;
  listFiles(request: PageRequest): Promise<FilePage>;
  listFolder(request: FolderOptions): Promise<FolderPage>;
  usage(request: UsageOptions): Promise<Usage>;
  /** @param ifMatch entity tags; the file is deleted only if it has one of them */
  deleteFile(file: FileName, signal: Signal, ifMatch?: string | undefined): Promise<void>;
  deleteFiles(deletion: Deletion, signal: Signal): Promise<DeletionAnswer>;
  copyFile(request: CopyRequest, signal: Signal): Promise<FileRecord>;
  moveFile(request: CopyRequest, signal: Signal): Promise<FileRecord>;
  moveFiles(move: PrefixMove, signal: Signal): Promise<PrefixMoveAnswer>;
  changeFile(file: FileName, change: FileChange): Promise<FileRecord>;
  listVersions(request: VersionsRequest, signal: Signal): Promise<VersionPage>;
  restoreVersion(restoration: Restoration, signal: Signal): Promise<FileRecord>;
  eraseVersions(erasure: Erasure, signal: Signal): Promise<ErasureAnswer>;
  status(signal: Signal): Promise<ServiceStatus>;
  /** Absent over HTTP. */
  readonly administration: Administration | undefined;
}
