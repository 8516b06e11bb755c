// One interface for both ways to the service: HTTP through a gateway, and calls through the agent.
// Each method is one attempt at one request, and throws a StorageError.

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

/** One of a batch. */
export interface BatchedFile extends Omit<FileMetadata, 'bucket' | 'sha256'> {
  readonly bytes: Uint8Array;
}

export interface FileBatch {
  readonly bucket: string;
  readonly files: readonly BatchedFile[];
}

/** Either paths or a prefix; a cursor is what a call by that prefix has given. */
export interface Deletion {
  readonly bucket: string;
  readonly paths?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
  /** With exactly one path. */
  readonly ifMatch?: string | undefined;
}

export interface DeletionAnswer {
  readonly results: readonly RemovedFile[];
  /** Absent when nothing is left. */
  readonly nextCursor: string | undefined;
}

export interface LinksRequest extends LinkListOptions {
  readonly cursor: string | undefined;
}

export interface LinkPage {
  readonly items: readonly LinkRecord[];
  /** Absent at the end. */
  readonly nextCursor: string | undefined;
}

export interface SessionRequest extends FileMetadata {
  /** Undefined: completion tells it. */
  readonly size: number | undefined;
  readonly chunkBytes: number;
  /** The same for each attempt: the service then answers all of them with one session. */
  readonly token: string;
}

export interface SessionName extends FileName {
  readonly uploadId: string;
}

/** What is told at the end only, beside or in place of what was told at the beginning. */
export interface Completion extends SessionName {
  readonly metadata?: UserMetadata | undefined;
  readonly sha256?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

export interface ChunkUpload extends SessionName {
  readonly index: number;
  readonly bytes: Uint8Array;
  /** The bytes once more, where the source has them so. */
  readonly blob?: Blob | undefined;
  readonly digest: Uint8Array;
  /** Receives how many bytes of the request have been sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface OpenedFile {
  readonly etag: string;
  readonly size: number;
  readonly contentType: string | undefined;
  /** Of all its chunks but the last; undefined when it cannot be told. */
  readonly chunkBytes: number | undefined;
  /** It is read without the key, as public files are. */
  readonly isAnonymous: boolean;
  /** It is one of the file's versions, which is read by its number. */
  readonly version?: number | undefined;
  /** The bytes of the first chunk, when they came along, until they are given on. */
  first: Uint8Array | undefined;
}

export interface PartRequest extends FileName {
  /** [start, end), not empty and at most a chunk. */
  readonly start: number;
  readonly end: number;
  /** It begins where a chunk begins, and ends with it. */
  readonly isChunk: boolean;
  /** As it was opened. */
  readonly isAnonymous: boolean;
  readonly version?: number | undefined;
  /** PreconditionFailed if the file is another one by now, where the way of transport can tell. */
  readonly etag: string;
  /** Of a link to the file, below the service's address: it is read there, without the key. */
  readonly linkPath?: string | undefined;
  /** Receives how many of its bytes have arrived. */
  readonly onReceived?: ((bytes: number) => void) | undefined;
}

/** What the service answers of an identity: see age/bucket-identity.ts. */
export interface SealedIdentity {
  readonly epoch: number;
  /** 192 bytes, for who made the transport key. */
  readonly encryptedKey: Uint8Array;
  /** 96 bytes: of the canister and the context, by its own word. */
  readonly publicKey: Uint8Array;
  readonly recipient?: string | undefined;
  readonly keyName: string;
}

/** Nothing of a bucket that is not end-to-end. Over HTTP nothing of what identities are made of. */
export interface ToldMode {
  readonly endToEnd?:
    | EndToEndRecord
    | (Omit<EndToEndRecord, 'serial' | 'epochs'> & { readonly epoch?: BucketEpoch | undefined })
    | null
    | undefined;
  /** Over HTTP it is not told. */
  readonly keepVersionsDays?: number | undefined;
}

export interface PageRequest extends ListOptions {
  readonly page: number;
}

/** Of a move without a version. */
export interface CopyRequest extends Omit<CopyFileOptions, 'signal'> {
  readonly from: FileName;
  readonly to: FileName;
}

export type PrefixMove = Omit<MoveAllOptions, 'signal'>;

/** Of one call; once more until it is done. */
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

/** Of one call; once more until it is done. */
export interface ErasureAnswer {
  readonly erased: number;
  readonly isDone: boolean;
}

/** What only owners and controllers do. */
export interface Management {
  createBucket(id: string, options: BucketOptions): Promise<BucketRecord>;
  getBucket(id: string): Promise<BucketRecord>;
  listBuckets(page: number): Promise<{ items: readonly BucketRecord[]; hasMore: boolean }>;
  updateBucket(id: string, change: BucketChange): Promise<BucketRecord>;
  deleteBucket(id: string, options: { readonly isForced: boolean }): Promise<void>;
  /** The transport key has 48 bytes. */
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
  /** Principals that may create buckets after it. */
  updateAccess(change: AccessChange): Promise<readonly string[]>;
  rotateBucketKey(bucket: string): Promise<void>;
  rotateRootKey(source: RootKeySource | undefined): Promise<void>;
  /** Without a body the text goes. */
  setWellKnown(text: {
    readonly name: string;
    readonly body: string | undefined;
    readonly contentType?: string | undefined;
  }): Promise<void>;
  listWellKnown(): Promise<readonly WellKnownText[]>;
}

export interface Transport {
  readonly line: Line;
  /** Sends so many bytes, 8,192 or more, to be answered by a query: to measure the line. */
  probe(bytes: number): Promise<void>;
  /** Files up to here go in one request. */
  readonly wholeFileBytesMax: number;
  /** Gateways refuse a body that takes longer. */
  readonly bodyMsMax: number;
  putFile(file: WholeFile, signal: Signal): Promise<FileRecord>;
  /** In the order of the files; all are stored, or each has its error. */
  putFiles(batch: FileBatch, signal: Signal): Promise<readonly (FileRecord | StorageError)[]>;
  startUpload(request: SessionRequest, signal: Signal): Promise<UploadSession>;
  getUpload(name: SessionName, signal: Signal): Promise<UploadSession>;
  putChunk(chunk: ChunkUpload, signal: Signal): Promise<void>;
  /** Repeated, it answers as the first time. */
  completeUpload(completion: Completion, signal: Signal): Promise<FileRecord>;
  cancelUpload(name: SessionName, signal: Signal): Promise<void>;
  /** The open ones. */
  listUploads(bucket: string, signal: Signal): Promise<readonly UploadSession[]>;
  getEndToEnd(bucket: string, signal: Signal): Promise<ToldMode>;
  openFile(
    file: FileName,
    options: {
      readonly wantsFirst: boolean;
      readonly version?: number | undefined;
      readonly signal: Signal;
    },
  ): Promise<OpenedFile>;
  readPart(part: PartRequest, signal: Signal): Promise<Uint8Array>;
  /** Where links are, without a slash at its end; '' where that is not known. */
  readonly linkBase: string;
  /** Files are read through links: then what a key opens comes certified. */
  readonly readsByLinks: boolean;
  /** The url is the path below `linkBase`. */
  createLink(request: LinkRequest): Promise<NewLink>;
  listLinks(request: LinksRequest): Promise<LinkPage>;
  removeLink(bucket: string, id: string, signal: Signal): Promise<void>;
  /** With a version the record of that one. */
  getFile(file: FileName, signal: Signal, version?: number | undefined): Promise<FileRecord>;
  listFiles(request: PageRequest): Promise<FilePage>;
  listFolder(request: FolderOptions): Promise<FolderPage>;
  usage(request: UsageOptions): Promise<Usage>;
  /** With `ifMatch` only while the file has one of these entity tags. */
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
  /** Absent where it is not offered. */
  readonly management: Management | undefined;
}
