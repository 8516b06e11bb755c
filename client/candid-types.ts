// The service's Candid records as the agent's library gives and takes them.

import type { ActorMethod } from '@dfinity/agent';
import type { Principal } from '@dfinity/principal';
import type { EncryptionStatus } from './interface.ts';

export type Optional<T> = [] | [T];
export type Result<T> = { readonly ok: T } | { readonly err: string };

export interface CandidFile {
  readonly id: string;
  readonly bucketId: string;
  readonly path: string;
  readonly name: string;
  readonly size: bigint;
  readonly contentType: string;
  readonly tags: string[];
  readonly etag: string;
  readonly sha256: Optional<string>;
  readonly version: bigint;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
  readonly url: string;
  readonly chunkSize: bigint;
  readonly metadata: Optional<[name: string, value: string][]>;
}

export interface CandidVersion {
  readonly path: string;
  readonly version: bigint;
  readonly size: bigint;
  readonly contentType: string;
  readonly etag: string;
  readonly updatedAt: bigint;
  readonly retiredAt: bigint;
  readonly expiresAt: bigint;
}

export interface CandidUpload {
  readonly uploadId: string;
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: string[];
  readonly totalSize: bigint;
  readonly uploadedSize: bigint;
  readonly chunkSize: bigint;
  readonly chunkCount: bigint;
  readonly receivedChunks: bigint;
  readonly missing: bigint[];
  readonly status: string;
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
  readonly expiresAt: bigint;
  readonly fileId: Optional<string>;
  readonly isSizeKnown: boolean;
}

export interface CandidBucket {
  readonly id: string;
  readonly owner: Principal;
  readonly isPublic: boolean;
  readonly fileCount: bigint;
  readonly byteCount: bigint;
  readonly quotaBytes: Optional<bigint>;
  readonly quotaFiles: Optional<bigint>;
  readonly overheadBytes: Optional<bigint>;
  readonly openUploads: Optional<bigint>;
  readonly keepVersionsDays: Optional<bigint>;
  readonly versionCount: Optional<bigint>;
  readonly versionBytes: Optional<bigint>;
  readonly members: { principal: Principal; role: string }[];
  readonly createdAt: bigint;
  readonly updatedAt: bigint;
  readonly isSite: Optional<boolean>;
}

export interface CandidKey {
  readonly id: string;
  readonly hint: string;
  readonly name: string;
  readonly buckets: string[];
  readonly permissions: string[];
  readonly prefix: Optional<string>;
  readonly createdAt: bigint;
  readonly expiresAt: Optional<bigint>;
}

export interface CandidListedKey extends CandidKey {
  readonly createdBy: Optional<Principal>;
}

export interface CandidNewLink {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: Optional<bigint>;
}

export interface CandidLink {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly createdAt: bigint;
  readonly expiresAt: Optional<bigint>;
}

export interface CandidStatus {
  readonly version: string;
  readonly buckets: bigint;
  readonly files: bigint;
  readonly bytesStored: bigint;
  readonly stableBytes: bigint;
  readonly heapBytes: bigint;
  readonly cycles: Optional<bigint>;
  readonly anonymousUpdates: { burst: bigint; perMinute: bigint; left: bigint };
  readonly encryption: EncryptionStatus;
  readonly certified: string;
}

export interface CandidHttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
  readonly certificate_version: Optional<number>;
}

export interface CandidHttpAnswer {
  readonly status_code: number;
  readonly headers: [string, string][];
}

type Method<Parameters extends unknown[], T> = ActorMethod<Parameters, Result<T>>;

/** Structurally an actor's interface; records are typed where they are made. */
export interface ServiceActor {
  beginFileUploadWith: Method<[Record<string, unknown>], string>;
  uploadFileChunkIndexed: Method<[string, bigint, Uint8Array], bigint>;
  completeFileUpload: Method<[string, Optional<string>], string>;
  getUpload: Method<[string], CandidUpload>;
  cancelUpload: Method<[string], null>;
  listUploads: Method<[string, Optional<string>], CandidUpload[]>;
  uploadFile: Method<[Record<string, unknown>], string>;
  uploadFiles: Method<[Record<string, unknown>], Result<CandidFile>[]>;
  getFile: Method<[string, string, Optional<string>], CandidFile>;
  readFile: Method<[string, string, bigint, bigint, Optional<string>], Uint8Array>;
  listFiles: Method<
    [Record<string, unknown>],
    { items: CandidFile[]; total: bigint; nextPage: Optional<bigint> }
  >;
  listFolder: Method<
    [Record<string, unknown>],
    { items: CandidFile[]; folders: { path: string }[]; nextCursor: Optional<string> }
  >;
  getUsage: Method<[string, Optional<string>, Optional<string>], { files: bigint; bytes: bigint }>;
  deleteFile: Method<[string, string, Optional<string>], null>;
  deleteFiles: Method<
    [Record<string, unknown>],
    { results: { path: string; error: Optional<string> }[]; nextCursor: Optional<string> }
  >;
  copyFile: Method<[Record<string, unknown>], CandidFile>;
  moveFile: Method<[Record<string, unknown>], CandidFile>;
  moveFiles: Method<
    [Record<string, unknown>],
    { moved: bigint; isDone: boolean; failed: { path: string; error: string }[] }
  >;
  updateFile: Method<[Record<string, unknown>], CandidFile>;
  listVersions: Method<
    [Record<string, unknown>],
    { items: CandidVersion[]; nextCursor: Optional<string> }
  >;
  restoreVersion: Method<[Record<string, unknown>], CandidFile>;
  eraseVersions: Method<[Record<string, unknown>], { erased: bigint; isDone: boolean }>;
  createBucket: Method<[string, Optional<Record<string, unknown>>], CandidBucket>;
  getBucket: Method<[string, Optional<string>], CandidBucket>;
  listBuckets: Method<
    [Optional<bigint>, Optional<bigint>],
    { items: CandidBucket[]; hasMore: boolean }
  >;
  updateBucket: Method<[Record<string, unknown>], CandidBucket>;
  deleteBucket: Method<[string, Optional<{ force: Optional<boolean> }>], null>;
  createApiKey: Method<[Record<string, unknown>], CandidKey & { secret: string }>;
  listApiKeys: Method<[string], CandidListedKey[]>;
  revokeApiKey: Method<[string], null>;
  createLink: Method<[Record<string, unknown>], CandidNewLink>;
  listLinks: Method<
    [Record<string, unknown>],
    { items: CandidLink[]; nextCursor: Optional<string> }
  >;
  deleteLink: Method<[string, string, Optional<string>], null>;
  setWellKnown: Method<[Record<string, unknown>], null>;
  listWellKnown: Method<[], { name: string; contentType: string; body: string }[]>;
  getStatus: Method<[], CandidStatus>;
  http_request: ActorMethod<[CandidHttpRequest], CandidHttpAnswer>;
}
