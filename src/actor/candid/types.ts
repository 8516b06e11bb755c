// The Candid types of the interface, from which the .did file is generated.

import { IDL } from '@dfinity/candid';
import { EndToEnd, EndToEndOptions } from './end-to-end.ts';
import { optionalText, resultOf } from './result.ts';
import { Retention, RetentionRule } from './retention.ts';
import { ServiceRole, StorageReservation } from './service.ts';

export const ResultText = resultOf(IDL.Text);
export const ResultNat = resultOf(IDL.Nat);
export const ResultNull = resultOf(IDL.Null);

/** A chunked upload, open or ended: what has arrived and what is missing. */
export const Upload = IDL.Record({
  uploadId: IDL.Text,
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Text,
  tags: IDL.Vec(IDL.Text),
  /** Declared size in bytes; if `isSizeKnown` is false, the bytes received so far. */
  totalSize: IDL.Nat,
  uploadedSize: IDL.Nat,
  chunkSize: IDL.Nat,
  chunkCount: IDL.Nat,
  receivedChunks: IDL.Nat,
  /** The first 100 indexes of missing chunks. */
  missing: IDL.Vec(IDL.Nat),
  /** `active`, `ready` (complete, but not yet a file), `completed`, `cancelled` or `expired`. */
  status: IDL.Text,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  expiresAt: IDL.Int,
  /** Id of the file that the upload became. */
  fileId: IDL.Opt(IDL.Text),
  isSizeKnown: IDL.Bool,
});
export const ResultUpload = resultOf(Upload);
export const ResultUploads = resultOf(IDL.Vec(Upload));

/** A name and its value. */
export const TextPair = IDL.Tuple(IDL.Text, IDL.Text);
/** A file to upload in chunks. Without a type, the path's extension determines it. */
export const UploadRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Opt(IDL.Text),
  /** Bytes; absent if the sender does not know the size yet. */
  size: IDL.Opt(IDL.Nat),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  /** SHA-256 of the whole file, in hexadecimal; completion verifies it. */
  sha256: IDL.Opt(IDL.Text),
  /** Bytes of each chunk except the last. */
  chunkSize: IDL.Opt(IDL.Nat),
  /** Stored headers, such as cache-control. */
  headers: IDL.Opt(IDL.Vec(TextPair)),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  /** Entity tags, one of which the file at this path must have. */
  ifMatch: IDL.Opt(IDL.Text),
  /** Entity tags that the file at this path must not have; `*`: no file may exist. */
  ifNoneMatch: IDL.Opt(IDL.Text),
  /** 1 to 64 visible ASCII characters; a call with the token of an open upload returns its id. */
  token: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** The session to complete, and optional checks. */
export const UploadCompletion = IDL.Record({
  uploadId: IDL.Text,
  /** SHA-256 of the whole file, in hexadecimal; verified before the file is stored. */
  sha256: IDL.Opt(IDL.Text),
  /** Entity tag that the chunks give the file; verified before the file is stored. */
  etag: IDL.Opt(IDL.Text),
  /** Added to the session's metadata; replaces pairs with the same name. */
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  /** Entity tag of the present file; checked in addition to the session's own conditions. */
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** The record of a file. */
export const FileRecord = IDL.Record({
  id: IDL.Text,
  bucketId: IDL.Text,
  path: IDL.Text,
  name: IDL.Text,
  size: IDL.Nat,
  contentType: IDL.Text,
  tags: IDL.Vec(IDL.Text),
  /** Changes when the bytes change. */
  etag: IDL.Text,
  /** SHA-256 of the whole file, in hexadecimal, if known. */
  sha256: optionalText,
  version: IDL.Nat,
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  /** Path at the canister's address. */
  url: IDL.Text,
  chunkSize: IDL.Nat,
  metadata: IDL.Vec(TextPair),
  retention: IDL.Opt(Retention),
});
export const ResultFile = resultOf(FileRecord);
/** Files whose paths begin with `prefix`, in pages numbered from 1. */
export const ListFilesRequest = IDL.Record({
  bucketId: IDL.Text,
  prefix: IDL.Opt(IDL.Text),
  page: IDL.Opt(IDL.Nat),
  /** 1 to 50; default: 10. */
  pageSize: IDL.Opt(IDL.Nat),
  sort: IDL.Opt(IDL.Text),
  tag: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});
/** A page of files. */
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
/**
 * Lists the files and folders directly below `prefix`. `limit` counts both, 1 to 1,000, default
 * 100; `cursor` is the `nextCursor` of the previous page. The first page begins after the name
 * `startAfter`, which need not exist.
 */
export const ListFolderRequest = IDL.Record({
  bucketId: IDL.Text,
  prefix: IDL.Opt(IDL.Text),
  /** `/`; absent: all files below the prefix. */
  delimiter: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  sort: IDL.Opt(IDL.Text),
  tag: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
  startAfter: IDL.Opt(IDL.Text),
});
/** A folder; its path is the common prefix of the paths in it. */
export const Folder = IDL.Record({
  path: IDL.Text,
});
/** A page of files and folders, by name; the last has no `nextCursor`. */
export const FolderPage = IDL.Record({
  items: IDL.Vec(FileRecord),
  folders: IDL.Vec(Folder),
  nextCursor: IDL.Opt(IDL.Text),
  prefix: IDL.Text,
  delimiter: IDL.Text,
});
export const ResultFolderPage = resultOf(FolderPage);
/** Number of files, and their total bytes. */
export const Usage = IDL.Record({ files: IDL.Nat, bytes: IDL.Nat });
export const ResultUsage = resultOf(Usage);
export const ResultBytes = resultOf(IDL.Vec(IDL.Nat8));
/** A whole file, at most 1,900,000 bytes. */
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
  metadata: IDL.Opt(IDL.Vec(TextPair)),
});

/** One of the files of a call. Without a type, the path's extension determines it. */
export const BatchedFile = IDL.Record({
  path: IDL.Text,
  contentType: IDL.Opt(IDL.Text),
  bytes: IDL.Vec(IDL.Nat8),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  sha256: IDL.Opt(IDL.Text),
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
});
/** At most 200 files with 2,000,000 bytes in total. */
export const FileBatch = IDL.Record({
  bucketId: IDL.Text,
  files: IDL.Vec(BatchedFile),
  apiKey: IDL.Opt(IDL.Text),
});
/** The result for one file: its record, or the error. */
export const StoredFile = IDL.Variant({ ok: FileRecord, err: IDL.Text });
export const ResultFiles = resultOf(IDL.Vec(StoredFile));
/**
 * Either up to 1,000 paths or a prefix; only a prefix can have a cursor. `ifMatch` requires exactly
 * one path and lists entity tags, one of which the file must have.
 */
export const FileDeletion = IDL.Record({
  bucketId: IDL.Text,
  paths: IDL.Opt(IDL.Vec(IDL.Text)),
  prefix: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  ifMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
  /** For owners: deletes also files that are retained in governance mode. */
  bypassGovernance: IDL.Opt(IDL.Bool),
});
/** A deleted file, or the error that prevented its deletion. */
export const DeletedPath = IDL.Record({
  path: IDL.Text,
  error: IDL.Opt(IDL.Text),
});
/** If `nextCursor` is present, more files are below the prefix: call again with it. */
export const Deletion = IDL.Record({
  results: IDL.Vec(DeletedPath),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultDeletion = resultOf(Deletion);

/**
 * A principal that may use a bucket, as `reader`, `writer` or `owner`. In `addMembers`, an absent
 * name keeps the present one, and an empty one removes it.
 */
export const Member = IDL.Record({
  principal: IDL.Principal,
  role: IDL.Text,
  name: IDL.Opt(IDL.Text),
});
/** A bucket. Quotas and sizes are bytes; without a quota the bucket is unlimited. */
export const Bucket = IDL.Record({
  id: IDL.Text,
  owner: IDL.Principal,
  isPublic: IDL.Bool,
  fileCount: IDL.Nat,
  byteCount: IDL.Nat,
  quotaBytes: IDL.Opt(IDL.Nat),
  quotaFiles: IDL.Opt(IDL.Nat),
  /** Bytes that files and links take besides the contents; they count toward `quotaBytes`. */
  overheadBytes: IDL.Nat,
  /** Days for which former versions are stored; 0: they are not stored. */
  keepVersionsDays: IDL.Nat,
  versionCount: IDL.Nat,
  versionBytes: IDL.Nat,
  openUploads: IDL.Nat,
  members: IDL.Vec(Member),
  createdAt: IDL.Int,
  updatedAt: IDL.Int,
  isSite: IDL.Bool,
  /** Absent: clients do not encrypt its files. */
  endToEnd: IDL.Opt(EndToEnd),
  /** The caller's role: reader, writer or owner. Absent without a role, and for API keys. */
  callerRole: IDL.Opt(IDL.Text),
  /** Absent: new files get no retention. */
  retention: IDL.Opt(IDL.Vec(RetentionRule)),
  /** Everybody may list its files, without a key and by queries only. */
  isListed: IDL.Bool,
});
export const ResultBucket = resultOf(Bucket);
/** A page of buckets. */
export const BucketList = IDL.Record({
  items: IDL.Vec(Bucket),
  page: IDL.Nat,
  pageSize: IDL.Nat,
  total: IDL.Nat,
  pages: IDL.Nat,
  hasMore: IDL.Bool,
});
export const ResultBuckets = resultOf(BucketList);
/** Settings of a new bucket; by default it is private and has no quotas. */
export const BucketOptions = IDL.Record({
  isPublic: IDL.Opt(IDL.Bool),
  quotaBytes: IDL.Opt(IDL.Nat),
  quotaFiles: IDL.Opt(IDL.Nat),
  keepVersionsDays: IDL.Opt(IDL.Nat),
  isSite: IDL.Opt(IDL.Bool),
  endToEnd: IDL.Opt(EndToEndOptions),
  retention: IDL.Opt(IDL.Vec(RetentionRule)),
  isListed: IDL.Opt(IDL.Bool),
});
/** `force`: cancels open uploads. */
export const BucketDeletion = IDL.Record({ force: IDL.Opt(IDL.Bool) });
/** A change of a bucket. An absent field changes nothing; a quota of 0 removes the quota. */
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
  /**
   * Makes an empty bucket end-to-end encrypted. In an end-to-end bucket, `recipients` can replace
   * the list at any time; the other fields are fixed while it has files, former versions or open
   * uploads.
   */
  endToEnd: IDL.Opt(EndToEndOptions),
  /** False: ends the end-to-end encryption of an empty bucket. */
  isEndToEnd: IDL.Opt(IDL.Bool),
  /** Replaces all rules, at most 20; stored files keep their retention. */
  retention: IDL.Opt(IDL.Vec(RetentionRule)),
  /** Lets everybody list the files of a public bucket. Making it private sets this to false. */
  isListed: IDL.Opt(IDL.Bool),
});
/** A budget of updates: the maximum at once, and the refill per minute. */
export const Budget = IDL.Record({
  burst: IDL.Nat,
  perMinute: IDL.Nat,
});
/**
 * A change of the principals besides controllers that may create buckets, and of the budgets of
 * the whole canister.
 */
export const AccessChange = IDL.Record({
  allow: IDL.Opt(IDL.Vec(IDL.Principal)),
  disallow: IDL.Opt(IDL.Vec(IDL.Principal)),
  /** Successful requests without a key, such as ranges of public files. */
  anonymousUpdates: IDL.Opt(Budget),
  /** Successful requests with a link's secret. */
  linkUpdates: IDL.Opt(Budget),
  /**
   * Calls and requests that are refused because their sender lacks the right. Each takes 1, and 1
   * more for each 16,384 bytes of its argument.
   */
  refusals: IDL.Opt(Budget),
  /** Identities that the network derives for end-to-end buckets, 26 billion cycles each. */
  derivations: IDL.Opt(Budget),
});
export const ResultPrincipals = resultOf(IDL.Vec(IDL.Principal));

/**
 * Up to 8,192 bytes of UTF-8. Default type: text/plain for ic-domains and names that end in .txt,
 * else application/json.
 */
export const WellKnownContent = IDL.Record({
  contentType: IDL.Opt(IDL.Text),
  body: IDL.Text,
});
/** A text at `/.well-known/{name}`; absent content removes it. */
export const WellKnownChange = IDL.Record({
  /** One or two segments of letters, digits, `-`, `.`, `_` and `~`. */
  name: IDL.Text,
  content: IDL.Opt(WellKnownContent),
});
/** A text at `/.well-known/{name}`. */
export const WellKnownText = IDL.Record({
  name: IDL.Text,
  contentType: IDL.Text,
  body: IDL.Text,
});
export const ResultWellKnown = resultOf(IDL.Vec(WellKnownText));

/** A budget, and the part of it that is left now. */
export const BudgetLeft = IDL.Record({
  burst: IDL.Nat,
  perMinute: IDL.Nat,
  left: IDL.Nat,
});
/** Source of the root key, and whether the key is available. */
export const Encryption = IDL.Record({
  /** `vetkd` or `stored`. */
  rootKey: IDL.Text,
  keyName: IDL.Text,
  /** The canister that asks the network for the key; absent if this one does. */
  proxy: IDL.Opt(IDL.Principal),
  isKeyPresent: IDL.Bool,
  isRotating: IDL.Bool,
});
/** The public state of the service. */
export const Status = IDL.Record({
  version: IDL.Text,
  buckets: IDL.Nat,
  files: IDL.Nat,
  bytesStored: IDL.Nat,
  stableBytes: IDL.Nat,
  heapBytes: IDL.Nat,
  /** Only for controllers and owners of buckets. */
  cycles: IDL.Opt(IDL.Nat),
  /** False where the subnet charges nothing, such as on a cloud engine: 0 cycles are normal. */
  chargesCycles: IDL.Opt(IDL.Bool),
  /** For those who see the cycles. Absent at fronts, and before an update after an upgrade. */
  storageReservation: IDL.Opt(StorageReservation),
  anonymousUpdates: BudgetLeft,
  /** The other budgets, see AccessChange. */
  linkUpdates: IDL.Opt(BudgetLeft),
  refusals: IDL.Opt(BudgetLeft),
  derivations: IDL.Opt(BudgetLeft),
  encryption: Encryption,
  certified: IDL.Text,
  role: IDL.Opt(ServiceRole),
});
export const ResultStatus = resultOf(Status);
