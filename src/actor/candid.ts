// The Candid types of the interface; the .did file is made from them.

import { IDL } from '@dfinity/candid';
import { resultOf } from './candid-result.ts';

export const ResultText = resultOf(IDL.Text);
export const ResultNat = resultOf(IDL.Nat);
export const ResultNull = resultOf(IDL.Null);

export const Upload = IDL.Record({
  uploadId: IDL.Text,
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  tags: IDL.Vec(IDL.Text),
  totalSize: IDL.Nat,
  uploadedSize: IDL.Nat,
  chunkSize: IDL.Nat,
  chunkCount: IDL.Nat,
  receivedChunks: IDL.Nat,
  missing: IDL.Vec(IDL.Nat),
  status: IDL.Text,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  expiresAt: IDL.Int,
  fileId: IDL.Opt(IDL.Text),
  isSizeKnown: IDL.Bool,
});
export const ResultUpload = resultOf(Upload);
export const ResultUploads = resultOf(IDL.Vec(Upload));

export const TextPair = IDL.Tuple(IDL.Text, IDL.Text);
export const UploadRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Opt(IDL.Text),
  size: IDL.Opt(IDL.Nat),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  sha256: IDL.Opt(IDL.Text),
  chunkSize: IDL.Opt(IDL.Nat),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

export const FileRecord = IDL.Record({
  id: IDL.Text,
  bucketId: IDL.Text,
  path: IDL.Text,
  name: IDL.Text,
  size: IDL.Nat,
  contentType: IDL.Text,
  tags: IDL.Vec(IDL.Text),
  etag: IDL.Text,
  sha256: IDL.Opt(IDL.Text),
  version: IDL.Nat,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  url: IDL.Text,
  chunkSize: IDL.Nat,
  metadata: IDL.Vec(TextPair),
});
export const ResultFile = resultOf(FileRecord);
export const ListFilesRequest = IDL.Record({
  bucketId: IDL.Text,
  prefix: IDL.Opt(IDL.Text),
  page: IDL.Opt(IDL.Nat),
  pageSize: IDL.Opt(IDL.Nat),
  sort: IDL.Opt(IDL.Text),
  tag: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});
export const FileList = IDL.Record({
  items: IDL.Vec(FileRecord),
  page: IDL.Nat,
  pageSize: IDL.Nat,
  total: IDL.Nat,
  pages: IDL.Nat,
  hasMore: IDL.Bool,
  nextPage: IDL.Opt(IDL.Nat),
  prefix: IDL.Text,
  sort: IDL.Text,
});

export const ResultFileList = resultOf(FileList);
/** Folders and cursors: `limit` counts files and folders together, 1 to 1,000, 100 unless told. */
export const ListFolderRequest = IDL.Record({
  bucketId: IDL.Text,
  prefix: IDL.Opt(IDL.Text),
  delimiter: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  sort: IDL.Opt(IDL.Text),
  tag: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});
export const ResultFolderPage = resultOf(
  IDL.Record({
    items: IDL.Vec(FileRecord),
    folders: IDL.Vec(IDL.Record({ path: IDL.Text })),
    nextCursor: IDL.Opt(IDL.Text),
    prefix: IDL.Text,
    delimiter: IDL.Text,
  }),
);
export const ResultUsage = resultOf(IDL.Record({ files: IDL.Nat, bytes: IDL.Nat }));
export const ResultBytes = resultOf(IDL.Vec(IDL.Nat8));
export const FileUpload = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  bytes: IDL.Vec(IDL.Nat8),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  sha256: IDL.Opt(IDL.Text),
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** Of many that one call brings. */
export const BatchedFile = IDL.Record({
  path: IDL.Text,
  contentType: IDL.Opt(IDL.Text),
  bytes: IDL.Vec(IDL.Nat8),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  sha256: IDL.Opt(IDL.Text),
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
});
export const FileBatch = IDL.Record({
  bucketId: IDL.Text,
  files: IDL.Vec(BatchedFile),
  apiKey: IDL.Opt(IDL.Text),
});
/** In the order of the files. */
export const ResultFiles = resultOf(IDL.Vec(IDL.Variant({ ok: FileRecord, err: IDL.Text })));
/** Either paths or a prefix; a cursor goes with a prefix. */
export const FileDeletion = IDL.Record({
  bucketId: IDL.Text,
  paths: IDL.Opt(IDL.Vec(IDL.Text)),
  prefix: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});
export const ResultDeletion = resultOf(
  IDL.Record({
    results: IDL.Vec(IDL.Record({ path: IDL.Text, error: IDL.Opt(IDL.Text) })),
    nextCursor: IDL.Opt(IDL.Text),
  }),
);

const Member = IDL.Record({ principal: IDL.Principal, role: IDL.Text });
export const Bucket = IDL.Record({
  id: IDL.Text,
  owner: IDL.Principal,
  isPublic: IDL.Bool,
  fileCount: IDL.Nat,
  byteCount: IDL.Nat,
  quotaBytes: IDL.Opt(IDL.Nat),
  quotaFiles: IDL.Opt(IDL.Nat),
  overheadBytes: IDL.Nat,
  keepVersionsDays: IDL.Nat,
  versionCount: IDL.Nat,
  versionBytes: IDL.Nat,
  openUploads: IDL.Nat,
  members: IDL.Vec(Member),
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  isSite: IDL.Bool,
});
export const ResultBucket = resultOf(Bucket);
export const ResultBuckets = resultOf(
  IDL.Record({
    items: IDL.Vec(Bucket),
    page: IDL.Nat,
    pageSize: IDL.Nat,
    total: IDL.Nat,
    pages: IDL.Nat,
    hasMore: IDL.Bool,
  }),
);
/** What a new bucket is to be; private and without quotas where it says nothing. */
export const BucketOptions = IDL.Record({
  isPublic: IDL.Opt(IDL.Bool),
  quotaBytes: IDL.Opt(IDL.Nat),
  quotaFiles: IDL.Opt(IDL.Nat),
  keepVersionsDays: IDL.Opt(IDL.Nat),
  isSite: IDL.Opt(IDL.Bool),
});
/** `force`: open uploads are cancelled. */
export const BucketDeletion = IDL.Record({ force: IDL.Opt(IDL.Bool) });
export const BucketChange = IDL.Record({
  bucketId: IDL.Text,
  isPublic: IDL.Opt(IDL.Bool),
  quotaBytes: IDL.Opt(IDL.Nat),
  quotaFiles: IDL.Opt(IDL.Nat),
  keepVersionsDays: IDL.Opt(IDL.Nat),
  owner: IDL.Opt(IDL.Principal),
  addMembers: IDL.Opt(IDL.Vec(Member)),
  removeMembers: IDL.Opt(IDL.Vec(IDL.Principal)),
  isSite: IDL.Opt(IDL.Bool),
});
export const AccessChange = IDL.Record({
  allow: IDL.Opt(IDL.Vec(IDL.Principal)),
  disallow: IDL.Opt(IDL.Vec(IDL.Principal)),
  anonymousUpdates: IDL.Opt(IDL.Record({ burst: IDL.Nat, perMinute: IDL.Nat })),
});
export const ResultPrincipals = resultOf(IDL.Vec(IDL.Principal));

/** A text at `/.well-known/{name}`; without content it goes. */
export const WellKnownChange = IDL.Record({
  name: IDL.Text,
  content: IDL.Opt(IDL.Record({ contentType: IDL.Opt(IDL.Text), body: IDL.Text })),
});
export const ResultWellKnown = resultOf(
  IDL.Vec(IDL.Record({ name: IDL.Text, contentType: IDL.Text, body: IDL.Text })),
);

/** Where the root key comes from: the network's vetKD key of that name, or stable memory. */
export const RootKeySource = IDL.Variant({ vetkd: IDL.Text, stored: IDL.Null });
/** The argument of install and upgrade. */
export const Settings = IDL.Record({ rootKey: IDL.Opt(RootKeySource) });

export const ApiKeyRequest = IDL.Record({
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  expiresAt: IDL.Opt(IDL.Int),
});
export const NewApiKey = IDL.Record({
  id: IDL.Text,
  secret: IDL.Text,
  hint: IDL.Text,
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  createdAt: IDL.Int,
  expiresAt: IDL.Opt(IDL.Int),
});
export const ResultNewApiKey = resultOf(NewApiKey);
export const ResultApiKeys = resultOf(
  IDL.Vec(
    IDL.Record({
      id: IDL.Text,
      hint: IDL.Text,
      name: IDL.Text,
      buckets: IDL.Vec(IDL.Text),
      permissions: IDL.Vec(IDL.Text),
      prefix: IDL.Opt(IDL.Text),
      createdAt: IDL.Int,
      createdBy: IDL.Opt(IDL.Principal),
      expiresAt: IDL.Opt(IDL.Int),
    }),
  ),
);

export const ResultStatus = resultOf(
  IDL.Record({
    version: IDL.Text,
    buckets: IDL.Nat,
    files: IDL.Nat,
    bytesStored: IDL.Nat,
    stableBytes: IDL.Nat,
    heapBytes: IDL.Nat,
    cycles: IDL.Opt(IDL.Nat),
    anonymousUpdates: IDL.Record({ burst: IDL.Nat, perMinute: IDL.Nat, left: IDL.Nat }),
    encryption: IDL.Record({
      rootKey: IDL.Text,
      keyName: IDL.Text,
      isKeyPresent: IDL.Bool,
      isRotating: IDL.Bool,
    }),
    certified: IDL.Text,
  }),
);

// HTTP gateway specification, "The canister HTTP interface"
export const HttpRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
  certificate_version: IDL.Opt(IDL.Nat16),
});
export const HttpUpdateRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
});
/** Opens what is left of a body, see domain/files/streams.ts. */
export const StreamingToken = IDL.Record({ token: IDL.Vec(IDL.Nat8) });
export const StreamingResponse = IDL.Record({
  body: IDL.Vec(IDL.Nat8),
  token: IDL.Opt(StreamingToken),
});
export const StreamingStrategy = IDL.Variant({
  Callback: IDL.Record({
    callback: IDL.Func([StreamingToken], [StreamingResponse], ['query']),
    token: StreamingToken,
  }),
});
export const HttpResponse = IDL.Record({
  status_code: IDL.Nat16,
  headers: IDL.Vec(TextPair),
  body: IDL.Vec(IDL.Nat8),
  upgrade: IDL.Opt(IDL.Bool),
  streaming_strategy: IDL.Opt(StreamingStrategy),
});
