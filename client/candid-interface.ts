// The service's Candid interface as the agent's library takes it: the methods that the client
// calls, as candid/file_storage.did has them.

import { IDL } from '@dfinity/candid';

const { Text, Nat, Int, Bool, Null } = IDL;
const optionalText = IDL.Opt(Text);
const query = ['query'];

/** Names and values. */
const pairs = IDL.Vec(IDL.Tuple(Text, Text));

export function resultOf(ok: IDL.Type): IDL.Type {
  return IDL.Variant({ ok, err: Text });
}

const fileRecord = IDL.Record({
  id: Text,
  bucketId: Text,
  path: Text,
  name: Text,
  size: Nat,
  contentType: Text,
  tags: IDL.Vec(Text),
  etag: Text,
  sha256: optionalText,
  version: Nat,
  createdAt: Int,
  updatedAt: Int,
  url: Text,
  chunkSize: Nat,
  // Absent from version 0.1.0
  metadata: IDL.Opt(pairs),
});

const uploadRecord = IDL.Record({
  uploadId: Text,
  bucketId: Text,
  path: Text,
  contentType: Text,
  tags: IDL.Vec(Text),
  totalSize: Nat,
  uploadedSize: Nat,
  chunkSize: Nat,
  chunkCount: Nat,
  receivedChunks: Nat,
  missing: IDL.Vec(Nat),
  status: Text,
  createdAt: Int,
  updatedAt: Int,
  expiresAt: Int,
  fileId: optionalText,
  isSizeKnown: Bool,
});

/** What both ways of beginning an upload take. */
const destination = {
  bucketId: Text,
  path: Text,
  tags: IDL.Opt(IDL.Vec(Text)),
  sha256: optionalText,
  ifMatch: optionalText,
  ifNoneMatch: optionalText,
  apiKey: optionalText,
};

const uploadRequest = IDL.Record({
  ...destination,
  contentType: optionalText,
  size: IDL.Opt(Nat),
  chunkSize: IDL.Opt(Nat),
  headers: IDL.Opt(pairs),
  metadata: IDL.Opt(pairs),
});

const wholeFile = IDL.Record({ ...destination, contentType: Text, bytes: IDL.Vec(IDL.Nat8) });

const batchedFile = IDL.Record({
  path: Text,
  contentType: optionalText,
  bytes: IDL.Vec(IDL.Nat8),
  tags: IDL.Opt(IDL.Vec(Text)),
  headers: IDL.Opt(pairs),
  sha256: optionalText,
  ifMatch: optionalText,
  ifNoneMatch: optionalText,
});

const fileBatch = IDL.Record({ bucketId: Text, files: IDL.Vec(batchedFile), apiKey: optionalText });

const deletionRequest = IDL.Record({
  bucketId: Text,
  paths: IDL.Opt(IDL.Vec(Text)),
  prefix: optionalText,
  cursor: optionalText,
  apiKey: optionalText,
});

const deletionAnswer = IDL.Record({
  results: IDL.Vec(IDL.Record({ path: Text, error: optionalText })),
  nextCursor: optionalText,
});

const copyRequest = IDL.Record({
  bucketId: Text,
  from: Text,
  toBucketId: optionalText,
  to: Text,
  ifMatch: optionalText,
  ifNoneMatch: optionalText,
  apiKey: optionalText,
});

const prefixMove = IDL.Record({
  bucketId: Text,
  fromPrefix: Text,
  toPrefix: Text,
  apiKey: optionalText,
});

const prefixMoved = IDL.Record({
  moved: Nat,
  isDone: Bool,
  failed: IDL.Vec(IDL.Record({ path: Text, error: Text })),
});

const fileChange = IDL.Record({
  bucketId: Text,
  path: Text,
  contentType: optionalText,
  tags: IDL.Opt(IDL.Vec(Text)),
  headers: IDL.Opt(pairs),
  metadata: IDL.Opt(pairs),
  ifMatch: optionalText,
  ifNoneMatch: optionalText,
  apiKey: optionalText,
});

const versionList = IDL.Record({
  bucketId: Text,
  path: optionalText,
  prefix: optionalText,
  cursor: optionalText,
  limit: IDL.Opt(Nat),
  apiKey: optionalText,
});

const version = IDL.Record({
  path: Text,
  version: Nat,
  size: Nat,
  contentType: Text,
  etag: Text,
  updatedAt: Int,
  retiredAt: Int,
  expiresAt: Int,
});

const versionPage = IDL.Record({ items: IDL.Vec(version), nextCursor: optionalText });

const restoration = IDL.Record({
  bucketId: Text,
  path: Text,
  version: Nat,
  ifMatch: optionalText,
  ifNoneMatch: optionalText,
  apiKey: optionalText,
});

const erasure = IDL.Record({
  bucketId: Text,
  path: optionalText,
  version: IDL.Opt(Nat),
  prefix: optionalText,
  apiKey: optionalText,
});

const listRequest = IDL.Record({
  bucketId: Text,
  prefix: optionalText,
  page: IDL.Opt(Nat),
  pageSize: IDL.Opt(Nat),
  sort: optionalText,
  tag: optionalText,
  apiKey: optionalText,
});

const filePage = IDL.Record({
  items: IDL.Vec(fileRecord),
  total: Nat,
  nextPage: IDL.Opt(Nat),
});

const folderRequest = IDL.Record({
  bucketId: Text,
  prefix: optionalText,
  delimiter: optionalText,
  cursor: optionalText,
  limit: IDL.Opt(Nat),
  sort: optionalText,
  tag: optionalText,
  apiKey: optionalText,
});

const folderPage = IDL.Record({
  items: IDL.Vec(fileRecord),
  folders: IDL.Vec(IDL.Record({ path: Text })),
  nextCursor: optionalText,
});

const usageRecord = IDL.Record({ files: Nat, bytes: Nat });

const members = IDL.Vec(IDL.Record({ principal: IDL.Principal, role: Text }));

const bucketRecord = IDL.Record({
  id: Text,
  owner: IDL.Principal,
  isPublic: Bool,
  fileCount: Nat,
  byteCount: Nat,
  quotaBytes: IDL.Opt(Nat),
  quotaFiles: IDL.Opt(Nat),
  // Absent from version 0.1.0
  overheadBytes: IDL.Opt(Nat),
  openUploads: IDL.Opt(Nat),
  keepVersionsDays: IDL.Opt(Nat),
  versionCount: IDL.Opt(Nat),
  versionBytes: IDL.Opt(Nat),
  members,
  createdAt: Int,
  updatedAt: Int,
  // Absent from version 0.1.0
  isSite: IDL.Opt(Bool),
});

const bucketOptions = {
  isPublic: IDL.Opt(Bool),
  quotaBytes: IDL.Opt(Nat),
  quotaFiles: IDL.Opt(Nat),
  keepVersionsDays: IDL.Opt(Nat),
  isSite: IDL.Opt(Bool),
};

const bucketChange = IDL.Record({
  bucketId: Text,
  ...bucketOptions,
  owner: IDL.Opt(IDL.Principal),
  addMembers: IDL.Opt(members),
  removeMembers: IDL.Opt(IDL.Vec(IDL.Principal)),
});

const keyFields = {
  id: Text,
  hint: Text,
  name: Text,
  buckets: IDL.Vec(Text),
  permissions: IDL.Vec(Text),
  prefix: optionalText,
  createdAt: Int,
  expiresAt: IDL.Opt(Int),
};

const listedKey = IDL.Record({ ...keyFields, createdBy: IDL.Opt(IDL.Principal) });

const keyRequest = IDL.Record({
  name: Text,
  buckets: IDL.Vec(Text),
  permissions: IDL.Vec(Text),
  prefix: optionalText,
  expiresAt: IDL.Opt(Int),
});

const linkRequest = IDL.Record({
  bucketId: Text,
  path: Text,
  expiresAt: IDL.Opt(Int),
  downloadName: optionalText,
  apiKey: optionalText,
});

const newLink = IDL.Record({ id: Text, url: Text, expiresAt: IDL.Opt(Int) });

const linkList = IDL.Record({
  bucketId: Text,
  path: optionalText,
  cursor: optionalText,
  limit: IDL.Opt(Nat),
  apiKey: optionalText,
});

const linkRecord = IDL.Record({
  id: Text,
  path: Text,
  name: Text,
  createdAt: Int,
  expiresAt: IDL.Opt(Int),
});

const linkPage = IDL.Record({ items: IDL.Vec(linkRecord), nextCursor: optionalText });

const statusRecord = IDL.Record({
  version: Text,
  buckets: Nat,
  files: Nat,
  bytesStored: Nat,
  stableBytes: Nat,
  heapBytes: Nat,
  cycles: IDL.Opt(Nat),
  anonymousUpdates: IDL.Record({ burst: Nat, perMinute: Nat, left: Nat }),
  encryption: IDL.Record({ rootKey: Text, keyName: Text, isKeyPresent: Bool, isRotating: Bool }),
  certified: Text,
});

const wellKnownText = IDL.Record({ name: Text, contentType: Text, body: Text });
const wellKnownChange = IDL.Record({
  name: Text,
  content: IDL.Opt(IDL.Record({ contentType: optionalText, body: Text })),
});

const bytes = IDL.Vec(IDL.Nat8);

const httpRequest = IDL.Record({
  method: Text,
  url: Text,
  headers: pairs,
  body: bytes,
  certificate_version: IDL.Opt(IDL.Nat16),
});

/** Without its body. */
const httpAnswer = IDL.Record({ status_code: IDL.Nat16, headers: pairs });

const bucketPage = IDL.Record({ items: IDL.Vec(bucketRecord), hasMore: Bool });
const newKey = IDL.Record({ ...keyFields, secret: Text });

function method(
  parameters: [] | [IDL.Type, ...IDL.Type[]],
  ok: IDL.Type,
  annotations: string[] = [],
) {
  return IDL.Func(parameters, [resultOf(ok)], annotations);
}

export function serviceInterface(): IDL.ServiceClass {
  return IDL.Service({
    beginFileUploadWith: method([uploadRequest], Text),
    uploadFileChunkIndexed: method([Text, Nat, bytes], Nat),
    completeFileUpload: method([Text, optionalText], Text),
    getUpload: method([Text], uploadRecord, query),
    cancelUpload: method([Text], Null),
    listUploads: method([Text, optionalText], IDL.Vec(uploadRecord), query),
    uploadFile: method([wholeFile], Text),
    uploadFiles: method([fileBatch], IDL.Vec(resultOf(fileRecord))),
    getFile: method([Text, Text, optionalText], fileRecord, query),
    readFile: method([Text, Text, Nat, Nat, optionalText], bytes, query),
    listFiles: method([listRequest], filePage, query),
    listFolder: method([folderRequest], folderPage, query),
    getUsage: method([Text, optionalText, optionalText], usageRecord, query),
    deleteFile: method([Text, Text, optionalText], Null),
    deleteFiles: method([deletionRequest], deletionAnswer),
    copyFile: method([copyRequest], fileRecord),
    moveFile: method([copyRequest], fileRecord),
    moveFiles: method([prefixMove], prefixMoved),
    updateFile: method([fileChange], fileRecord),
    listVersions: method([versionList], versionPage, query),
    restoreVersion: method([restoration], fileRecord),
    eraseVersions: method([erasure], IDL.Record({ erased: Nat, isDone: Bool })),
    createBucket: method([Text, IDL.Opt(IDL.Record(bucketOptions))], bucketRecord),
    getBucket: method([Text, optionalText], bucketRecord, query),
    listBuckets: method([IDL.Opt(Nat), IDL.Opt(Nat)], bucketPage, query),
    updateBucket: method([bucketChange], bucketRecord),
    deleteBucket: method([Text, IDL.Opt(IDL.Record({ force: IDL.Opt(Bool) }))], Null),
    createApiKey: method([keyRequest], newKey),
    listApiKeys: method([Text], IDL.Vec(listedKey), query),
    revokeApiKey: method([Text], Null),
    createLink: method([linkRequest], newLink),
    listLinks: method([linkList], linkPage, query),
    deleteLink: method([Text, Text, optionalText], Null),
    setWellKnown: method([wellKnownChange], Null),
    listWellKnown: method([], IDL.Vec(wellKnownText), query),
    getStatus: method([], statusRecord, query),
    http_request: IDL.Func([httpRequest], [httpAnswer], query),
  });
}
