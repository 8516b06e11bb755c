// The actor methods that the tests call, as a client writes them from the .did file. Each agent has
// its own copy of the Candid library, which is a parameter.

import type { IDL } from '@dfinity/candid';

export interface UploadActor {
  beginFileUpload(
    bucketId: string,
    path: string,
    contentType: string,
    size: bigint,
    apiKey: [] | [string],
  ): Promise<{ ok?: string; err?: string }>;
  beginFileUploadWith(request: {
    bucketId: string;
    path: string;
    contentType: [] | [string];
    /** A plain nat, as before it became an option: earlier callers must still work. */
    size: bigint;
    tags: [] | [string[]];
    sha256: [] | [string];
    chunkSize: [] | [bigint];
    headers: [] | [[string, string][]];
    ifMatch: [] | [string];
    ifNoneMatch: [] | [string];
    apiKey: [] | [string];
  }): Promise<{ ok?: string; err?: string }>;
  uploadFileChunkIndexed(
    uploadId: string,
    chunkIndex: bigint,
    bytes: Uint8Array,
  ): Promise<{ ok?: bigint; err?: string }>;
  completeFileUpload(
    uploadId: string,
    apiKey: [] | [string],
  ): Promise<{ ok?: string; err?: string }>;
  getUpload(uploadId: string): Promise<{ ok?: UploadRecord; err?: string }>;
  cancelUpload(uploadId: string): Promise<{ ok?: null; err?: string }>;
  uploadFile(upload: FileUpload): Promise<{ ok?: string; err?: string }>;
  getFile(
    bucketId: string,
    path: string,
    apiKey: [] | [string],
  ): Promise<{ ok?: FileRecord; err?: string }>;
  readFile(
    bucketId: string,
    path: string,
    offset: bigint,
    length: bigint,
    apiKey: [] | [string],
  ): Promise<{ ok?: Uint8Array; err?: string }>;
  deleteFile(
    bucketId: string,
    path: string,
    apiKey: [] | [string],
  ): Promise<{ ok?: null; err?: string }>;
  createBucket(bucketId: string): Promise<{ ok?: { id: string }; err?: string }>;
  createApiKey(request: {
    name: string;
    buckets: string[];
    permissions: string[];
    expiresAt: [] | [bigint];
  }): Promise<{ ok?: { id: string; secret: string; hint: string }; err?: string }>;
}

export interface FileUpload {
  bucketId: string;
  path: string;
  contentType: string;
  bytes: Uint8Array;
  tags: [] | [string[]];
  sha256: [] | [string];
  ifMatch: [] | [string];
  ifNoneMatch: [] | [string];
  apiKey: [] | [string];
}

export interface FileRecord {
  id: string;
  path: string;
  size: bigint;
  tags: string[];
  etag: string;
  sha256: [] | [string];
  version: bigint;
  updatedAt: bigint;
  url: string;
}

export interface UploadRecord {
  uploadId: string;
  path: string;
  status: string;
  totalSize: bigint;
  uploadedSize: bigint;
  chunkSize: bigint;
  chunkCount: bigint;
  receivedChunks: bigint;
  missing: bigint[];
  expiresAt: bigint;
  fileId: [] | [string];
}

export function uploadInterface(idl: typeof IDL): IDL.ServiceClass {
  const resultOf = (ok: IDL.Type) => idl.Variant({ ok, err: idl.Text });
  const Upload = idl.Record({
    uploadId: idl.Text,
    bucketId: idl.Text,
    path: idl.Text,
    contentType: idl.Text,
    tags: idl.Vec(idl.Text),
    totalSize: idl.Nat,
    uploadedSize: idl.Nat,
    chunkSize: idl.Nat,
    chunkCount: idl.Nat,
    receivedChunks: idl.Nat,
    missing: idl.Vec(idl.Nat),
    status: idl.Text,
    createdAt: idl.Int,
    updatedAt: idl.Int,
    expiresAt: idl.Int,
    fileId: idl.Opt(idl.Text),
  });
  const KeyRequest = idl.Record({
    name: idl.Text,
    buckets: idl.Vec(idl.Text),
    permissions: idl.Vec(idl.Text),
    expiresAt: idl.Opt(idl.Int),
  });
  const NewKey = idl.Record({ id: idl.Text, secret: idl.Text, hint: idl.Text });
  const apiKey = idl.Opt(idl.Text);
  const FileRecord = idl.Record({
    id: idl.Text,
    path: idl.Text,
    size: idl.Nat,
    tags: idl.Vec(idl.Text),
    etag: idl.Text,
    sha256: idl.Opt(idl.Text),
    version: idl.Nat,
    updatedAt: idl.Int,
    url: idl.Text,
  });
  const FileUpload = idl.Record({
    bucketId: idl.Text,
    path: idl.Text,
    contentType: idl.Text,
    bytes: idl.Vec(idl.Nat8),
    tags: idl.Opt(idl.Vec(idl.Text)),
    sha256: idl.Opt(idl.Text),
    ifMatch: idl.Opt(idl.Text),
    ifNoneMatch: idl.Opt(idl.Text),
    apiKey,
  });
  return idl.Service({
    beginFileUpload: idl.Func(
      [idl.Text, idl.Text, idl.Text, idl.Nat, apiKey],
      [resultOf(idl.Text)],
    ),
    beginFileUploadWith: idl.Func(
      [
        idl.Record({
          bucketId: idl.Text,
          path: idl.Text,
          contentType: apiKey,
          size: idl.Nat,
          tags: idl.Opt(idl.Vec(idl.Text)),
          sha256: apiKey,
          chunkSize: idl.Opt(idl.Nat),
          headers: idl.Opt(idl.Vec(idl.Tuple(idl.Text, idl.Text))),
          ifMatch: apiKey,
          ifNoneMatch: apiKey,
          apiKey,
        }),
      ],
      [resultOf(idl.Text)],
    ),
    uploadFileChunkIndexed: idl.Func([idl.Text, idl.Nat, idl.Vec(idl.Nat8)], [resultOf(idl.Nat)]),
    completeFileUpload: idl.Func([idl.Text, apiKey], [resultOf(idl.Text)]),
    getUpload: idl.Func([idl.Text], [resultOf(Upload)], ['query']),
    cancelUpload: idl.Func([idl.Text], [resultOf(idl.Null)]),
    uploadFile: idl.Func([FileUpload], [resultOf(idl.Text)]),
    getFile: idl.Func([idl.Text, idl.Text, apiKey], [resultOf(FileRecord)], ['query']),
    readFile: idl.Func(
      [idl.Text, idl.Text, idl.Nat, idl.Nat, apiKey],
      [resultOf(idl.Vec(idl.Nat8))],
      ['query'],
    ),
    deleteFile: idl.Func([idl.Text, idl.Text, apiKey], [resultOf(idl.Null)]),
    createBucket: idl.Func([idl.Text], [resultOf(idl.Record({ id: idl.Text }))]),
    createApiKey: idl.Func([KeyRequest], [resultOf(NewKey)]),
    rotateBucketKey: idl.Func([idl.Text], [resultOf(idl.Null)]),
    rotateRootKey: idl.Func(
      [idl.Opt(idl.Variant({ vetkd: idl.Text, stored: idl.Null }))],
      [resultOf(idl.Null)],
    ),
  });
}
