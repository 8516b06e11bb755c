// The Candid types of stored chunks, copies, changes, former versions, links, API keys and public
// buckets.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';
import { Retention } from './retention.ts';
import { BucketOptions, FileRecord, TextPair, Upload } from './types.ts';

/** The upload of a chunk; `file` is present once the upload is completed. */
export const ChunkReceipt = IDL.Record({
  upload: Upload,
  file: IDL.Opt(FileRecord),
});
export const ResultChunkReceipt = resultOf(ChunkReceipt);

/**
 * A copy or a move of one file. `toBucketId`: absent for the same bucket. Absent type, tags,
 * headers and metadata are copied; a present field replaces the whole field.
 */
export const CopyRequest = IDL.Record({
  bucketId: IDL.Text,
  from: IDL.Text,
  /** Number of the version to copy; absent: the present one. */
  version: IDL.Opt(IDL.Nat),
  toBucketId: IDL.Opt(IDL.Text),
  to: IDL.Text,
  /** Entity tags, one of which the file at `to` must have. */
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  /** Entity tags, one of which the file at `from` must have. */
  ifSourceMatch: IDL.Opt(IDL.Text),
  contentType: IDL.Opt(IDL.Text),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  apiKey: IDL.Opt(IDL.Text),
  /** For owners: moves the file also while it is retained in governance mode. */
  bypassGovernance: IDL.Opt(IDL.Bool),
});

/**
 * A move of all files below a prefix to another prefix of the bucket. `cursor` is the `nextCursor`
 * of the previous call.
 */
export const PrefixMove = IDL.Record({
  bucketId: IDL.Text,
  fromPrefix: IDL.Text,
  toPrefix: IDL.Text,
  cursor: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
  /** For owners: moves also files that are retained in governance mode. */
  bypassGovernance: IDL.Opt(IDL.Bool),
});

/** A file that was not moved, and the reason. */
export const FailedMove = IDL.Record({ path: IDL.Text, error: IDL.Text });
/**
 * Number of files that this call moved, and those that it could not move. Call again with
 * `nextCursor` until `isDone`.
 */
export const PrefixMoved = IDL.Record({
  moved: IDL.Nat,
  isDone: IDL.Bool,
  nextCursor: IDL.Opt(IDL.Text),
  failed: IDL.Vec(FailedMove),
});
export const ResultPrefixMove = resultOf(PrefixMoved);

/**
 * A switch: all files below `fromPrefix` move, and up to 1,000 paths in `deletes` are deleted. They
 * need not exist. `toPrefix` may contain `fromPrefix`.
 */
export const FileSwitch = IDL.Record({
  bucketId: IDL.Text,
  fromPrefix: IDL.Text,
  toPrefix: IDL.Text,
  deletes: IDL.Opt(IDL.Vec(IDL.Text)),
  /** Digest of the list of files below `toPrefix` after the switch; any other is refused. */
  ifResult: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});
/** Numbers of files. */
export const FilesSwitched = IDL.Record({ moved: IDL.Nat, deleted: IDL.Nat });
export const ResultSwitch = resultOf(FilesSwitched);

/** A change of a file: a present field replaces the stored one, an absent field changes nothing. */
export const FileChange = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: IDL.Opt(IDL.Text),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** Versions of one path, or of all paths with a prefix; `limit` is 1 to 1,000, default 100. */
export const VersionList = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

/** A former version of a file. */
export const FormerVersion = IDL.Record({
  path: IDL.Text,
  version: IDL.Nat,
  size: IDL.Nat,
  contentType: IDL.Text,
  etag: IDL.Text,
  updatedAt: IDL.Int,
  /** When the file was replaced or deleted. */
  retiredAt: IDL.Int,
  /** When the version is erased; a held one not before its retention ends. */
  expiresAt: IDL.Int,
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  retention: IDL.Opt(Retention),
});
/** A page of former versions; the last has no `nextCursor`. */
export const VersionPage = IDL.Record({
  items: IDL.Vec(FormerVersion),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultVersions = resultOf(VersionPage);

/** The former version that becomes the file at `path` again. */
export const Restoration = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  version: IDL.Nat,
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/**
 * Erases the former versions of a path, one version of it, or those of all paths with a prefix.
 * Held versions stay. `cursor` is the `nextCursor` of the previous call.
 */
export const Erasure = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  version: IDL.Opt(IDL.Nat),
  prefix: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  /** For owners: erases also versions that are retained in governance mode. */
  bypassGovernance: IDL.Opt(IDL.Bool),
});

/** Numbers of versions that this call erased and passed over. Call again with `nextCursor`. */
export const Erased = IDL.Record({
  erased: IDL.Nat,
  /** Whether a call without the cursor would erase nothing more. */
  isDone: IDL.Bool,
  /** Versions that stay because they are held. */
  held: IDL.Opt(IDL.Nat),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultErasure = resultOf(Erased);

/** A link to one file. */
export const LinkRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  /** Nanoseconds since 1970; absent: the link does not expire. */
  expiresAt: IDL.Opt(IDL.Int),
  /** The name under which browsers save the file. */
  downloadName: IDL.Opt(IDL.Text),
  /** 32 bytes derived from a password: POST to the link returns its secret for them. */
  passwordProof: IDL.Opt(IDL.Vec(IDL.Nat8)),
  /** Absent: no limit. Updates answer the link then, and count the bytes. */
  maxDownloads: IDL.Opt(IDL.Nat),
  /** Title of a page at `url` with `&page`, which messengers show; not with a password. */
  title: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** `url` contains the secret of the link; no other answer does. */
export const NewLink = IDL.Record({
  id: IDL.Text,
  url: IDL.Text,
  expiresAt: IDL.Opt(IDL.Int),
  /** The front's page that opens end-to-end files; append the part of `url` after `/s`. */
  linkPage: IDL.Opt(IDL.Text),
  /** Fields of the link that an earlier version of the service does not know. */
  hasPassword: IDL.Opt(IDL.Bool),
  maxDownloads: IDL.Opt(IDL.Nat),
  title: IDL.Opt(IDL.Text),
});
export const ResultLink = resultOf(NewLink);

/** Links of one path, or of the bucket; `limit` is 1 to 1,000, default 100. */
export const LinkList = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

/** A link, without its secret. */
export const Link = IDL.Record({
  id: IDL.Text,
  path: IDL.Text,
  name: IDL.Text,
  createdAt: IDL.Int,
  expiresAt: IDL.Opt(IDL.Int),
  /** Principal that created the link; only for owners and keys with every permission. */
  maker: IDL.Opt(IDL.Principal),
  /** Id of the API key that created the link; for the same callers. */
  keyId: IDL.Opt(IDL.Text),
  /** Absent without one. */
  hasPassword: IDL.Opt(IDL.Bool),
  maxDownloads: IDL.Opt(IDL.Nat),
  /** Present with `maxDownloads`; a begun download counts. */
  downloadCount: IDL.Opt(IDL.Nat),
  title: IDL.Opt(IDL.Text),
});
/** A page of links; the last has no `nextCursor`. */
export const LinkPage = IDL.Record({
  items: IDL.Vec(Link),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultLinks = resultOf(LinkPage);

/** An upload link, by which browsers without a key add files: to one path, or below a prefix. */
export const UploadLinkRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  /** Nanoseconds since 1970; absent: in a day. */
  expiresAt: IDL.Opt(IDL.Int),
  /** Bytes of each file; absent: no limit besides that of every file. */
  maxFileBytes: IDL.Opt(IDL.Nat),
  /** Absent: 1; 0: no limit. */
  maxFiles: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

/** Paths with the secret of the link, which no other answer contains. */
export const NewUploadLink = IDL.Record({
  id: IDL.Text,
  /** For PUT; with a prefix, replace `{name}` by the name of the file. */
  putUrl: IDL.Text,
  /** For POST of a form. */
  formUrl: IDL.Text,
  tusUrl: IDL.Text,
  expiresAt: IDL.Int,
});
export const ResultUploadLink = resultOf(NewUploadLink);

/** `limit` is 1 to 1,000, default 100. */
export const UploadLinkList = IDL.Record({
  bucketId: IDL.Text,
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

/** An upload link, without its secret. */
export const UploadLink = IDL.Record({
  id: IDL.Text,
  path: IDL.Opt(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  createdAt: IDL.Int,
  expiresAt: IDL.Int,
  maxFileBytes: IDL.Opt(IDL.Nat),
  maxFiles: IDL.Opt(IDL.Nat),
  /** Files stored so far, if their number is limited. */
  fileCount: IDL.Opt(IDL.Nat),
  createdBy: IDL.Principal,
  /** Id of the API key that created the link. */
  keyId: IDL.Opt(IDL.Text),
});
/** A page of upload links; the last has no `nextCursor`. */
export const UploadLinkPage = IDL.Record({
  items: IDL.Vec(UploadLink),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultUploadLinks = resultOf(UploadLinkPage);

/**
 * A new key for buckets of the caller. The permissions are `read`, `write`, `delete`, `retain`,
 * `audit`, `monitor`, `upload`.
 */
export const ApiKeyRequest = IDL.Record({
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  /** Prefix of the paths that the key may use; absent: all paths. */
  prefix: IDL.Opt(IDL.Text),
  /** Nanoseconds since 1970; absent: the key does not expire. */
  expiresAt: IDL.Opt(IDL.Int),
  /**
   * Updates that the key may cause per hour, and their bytes; 0: no limit. Absent: no limit for a
   * key with `read`, else 2,000 updates and 2 GB.
   */
  updatesPerHour: IDL.Opt(IDL.Nat),
  bytesPerHour: IDL.Opt(IDL.Nat),
  /** Limits of a key with `upload` and without `write`; absent or 0: none. */
  maxFileBytes: IDL.Opt(IDL.Nat),
  maxFiles: IDL.Opt(IDL.Nat),
});
/** A new key. Only this answer contains its `secret`. */
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
  /** Budget of the key; absent: no limit. */
  updatesPerHour: IDL.Opt(IDL.Nat),
  bytesPerHour: IDL.Opt(IDL.Nat),
  /** Limits for files, and how many are stored; absent: none. */
  maxFileBytes: IDL.Opt(IDL.Nat),
  maxFiles: IDL.Opt(IDL.Nat),
  fileCount: IDL.Opt(IDL.Nat),
  /** The front's page that opens links to this canister, as in NewLink. */
  linkPage: IDL.Opt(IDL.Text),
});
export const ResultNewApiKey = resultOf(NewApiKey);
/** A key without its secret; `hint` is the beginning of the secret. */
export const ApiKey = IDL.Record({
  id: IDL.Text,
  hint: IDL.Text,
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  createdAt: IDL.Int,
  createdBy: IDL.Opt(IDL.Principal),
  expiresAt: IDL.Opt(IDL.Int),
  /** Budget of the key; absent: no limit. */
  updatesPerHour: IDL.Opt(IDL.Nat),
  bytesPerHour: IDL.Opt(IDL.Nat),
  /** Limits for files, and how many are stored; absent: none. */
  maxFileBytes: IDL.Opt(IDL.Nat),
  maxFiles: IDL.Opt(IDL.Nat),
  fileCount: IDL.Opt(IDL.Nat),
});
export const ResultApiKeys = resultOf(IDL.Vec(ApiKey));

/** A bucket that a front asks its volume to create. */
export const BucketOrder = IDL.Record({
  owner: IDL.Principal,
  bucketId: IDL.Text,
  options: IDL.Opt(BucketOptions),
  /** The volume refuses the order after this time. */
  until: IDL.Int,
});
