// The Candid types of copies, changes, former versions and links.

import { IDL } from '@dfinity/candid';
import { resultOf } from './result.ts';
import { TextPair } from './types.ts';

/**
 * A copy or a move of one file. `toBucketId`: the same bucket where it is absent. Type, tags,
 * headers and metadata come along where they are absent; what is there takes the place of the whole
 * field.
 */
export const CopyRequest = IDL.Record({
  bucketId: IDL.Text,
  from: IDL.Text,
  /** One of the file's versions, by its number, to copy it. */
  version: IDL.Opt(IDL.Nat),
  toBucketId: IDL.Opt(IDL.Text),
  to: IDL.Text,
  /** Entity tags that what is at `to` must have. */
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  /** Entity tags, of which what is at `from` must have one. */
  ifSourceMatch: IDL.Opt(IDL.Text),
  contentType: IDL.Opt(IDL.Text),
  tags: IDL.Opt(IDL.Vec(IDL.Text)),
  headers: IDL.Opt(IDL.Vec(TextPair)),
  metadata: IDL.Opt(IDL.Vec(TextPair)),
  apiKey: IDL.Opt(IDL.Text),
});

/** All files below a prefix of a bucket, to another prefix. */
export const PrefixMove = IDL.Record({
  bucketId: IDL.Text,
  fromPrefix: IDL.Text,
  toPrefix: IDL.Text,
  apiKey: IDL.Opt(IDL.Text),
});

/** A file that stayed, and why. */
export const FailedMove = IDL.Record({ path: IDL.Text, error: IDL.Text });
/** Files that were moved by this call. Until `isDone`, call again. */
export const PrefixMoved = IDL.Record({
  moved: IDL.Nat,
  isDone: IDL.Bool,
  failed: IDL.Vec(FailedMove),
});
export const ResultPrefixMove = resultOf(PrefixMoved);

/**
 * A change of a file's properties. An absent field stays; a present one replaces the whole field.
 */
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

/** Versions of one path, or of all paths with a prefix; `limit` is 1 to 1,000, by default 100. */
export const VersionList = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

/** A version that a file no longer is. */
export const FormerVersion = IDL.Record({
  path: IDL.Text,
  version: IDL.Nat,
  size: IDL.Nat,
  contentType: IDL.Text,
  etag: IDL.Text,
  updatedAt: IDL.Int,
  /** When it was replaced or deleted. */
  retiredAt: IDL.Int,
  /** When it goes for good. */
  expiresAt: IDL.Int,
  metadata: IDL.Opt(IDL.Vec(TextPair)),
});
/** A page of former versions; the last has no `nextCursor`. */
export const VersionPage = IDL.Record({
  items: IDL.Vec(FormerVersion),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultVersions = resultOf(VersionPage);

/** The former version that the file at `path` is to be again. */
export const Restoration = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  version: IDL.Nat,
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** Erases the former versions of a path, one version of it, or those of all paths with a prefix. */
export const Erasure = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  version: IDL.Opt(IDL.Nat),
  prefix: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** Versions that this call erased. Until `isDone`, call again. */
export const Erased = IDL.Record({ erased: IDL.Nat, isDone: IDL.Bool });
export const ResultErasure = resultOf(Erased);

/** A link to one file. */
export const LinkRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  /** Nanoseconds since 1970; absent: never. */
  expiresAt: IDL.Opt(IDL.Int),
  /** The name under which browsers save the file. */
  downloadName: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** `url` has the secret of the link; nothing shows it again. */
export const NewLink = IDL.Record({
  id: IDL.Text,
  url: IDL.Text,
  expiresAt: IDL.Opt(IDL.Int),
});
export const ResultLink = resultOf(NewLink);

/** Links of one path, or of the bucket; `limit` is 1 to 1,000, 100 unless told. */
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
  /** Principal that made the link: shown to owners, and to keys with every permission. */
  maker: IDL.Opt(IDL.Principal),
  /** Id of the API key that made the link: shown to the same callers. */
  keyId: IDL.Opt(IDL.Text),
});
/** A page of links; the last has no `nextCursor`. */
export const LinkPage = IDL.Record({
  items: IDL.Vec(Link),
  nextCursor: IDL.Opt(IDL.Text),
});
export const ResultLinks = resultOf(LinkPage);

/** A new key: `read`, `write` and `delete` are what it may do in those buckets of the caller. */
export const ApiKeyRequest = IDL.Record({
  name: IDL.Text,
  buckets: IDL.Vec(IDL.Text),
  permissions: IDL.Vec(IDL.Text),
  /** Paths that it is for; all of them without one. */
  prefix: IDL.Opt(IDL.Text),
  /** Nanoseconds since 1970; absent: never. */
  expiresAt: IDL.Opt(IDL.Int),
  /**
   * Updates that the key may cause an hour, and bytes in them; 0: no limit. Absent: no limit for a
   * key with `read`, else 2,000 updates and 2 GB.
   */
  updatesPerHour: IDL.Opt(IDL.Nat),
  bytesPerHour: IDL.Opt(IDL.Nat),
});
/** A new key. Its `secret` is in this answer and nowhere else. */
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
});
export const ResultNewApiKey = resultOf(NewApiKey);
/** A key, without its secret; `hint` is how the secret begins. */
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
});
export const ResultApiKeys = resultOf(IDL.Vec(ApiKey));
