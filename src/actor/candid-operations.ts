// The Candid types of copies, changes, former versions and links.

import { IDL } from '@dfinity/candid';
import { TextPair } from './candid.ts';
import { resultOf } from './candid-result.ts';

/** `toBucketId`: the same one where it is absent. */
export const CopyRequest = IDL.Record({
  bucketId: IDL.Text,
  from: IDL.Text,
  toBucketId: IDL.Opt(IDL.Text),
  to: IDL.Text,
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

export const PrefixMove = IDL.Record({
  bucketId: IDL.Text,
  fromPrefix: IDL.Text,
  toPrefix: IDL.Text,
  apiKey: IDL.Opt(IDL.Text),
});

export const ResultPrefixMove = resultOf(
  IDL.Record({
    moved: IDL.Nat,
    isDone: IDL.Bool,
    failed: IDL.Vec(IDL.Record({ path: IDL.Text, error: IDL.Text })),
  }),
);

/** What is absent stays; what is there takes the place of the whole field. */
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

export const VersionList = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  prefix: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

export const ResultVersions = resultOf(
  IDL.Record({
    items: IDL.Vec(
      IDL.Record({
        path: IDL.Text,
        version: IDL.Nat,
        size: IDL.Nat,
        contentType: IDL.Text,
        etag: IDL.Text,
        updatedAt: IDL.Int,
        retiredAt: IDL.Int,
        expiresAt: IDL.Int,
      }),
    ),
    nextCursor: IDL.Opt(IDL.Text),
  }),
);

export const Restoration = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  version: IDL.Nat,
  ifMatch: IDL.Opt(IDL.Text),
  ifNoneMatch: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

/** Of a path, or one version of it; else of all that begin with the prefix. */
export const Erasure = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  version: IDL.Opt(IDL.Nat),
  prefix: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

export const ResultErasure = resultOf(IDL.Record({ erased: IDL.Nat, isDone: IDL.Bool }));

export const LinkRequest = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  expiresAt: IDL.Opt(IDL.Int),
  downloadName: IDL.Opt(IDL.Text),
  apiKey: IDL.Opt(IDL.Text),
});

export const ResultLink = resultOf(
  IDL.Record({ id: IDL.Text, url: IDL.Text, expiresAt: IDL.Opt(IDL.Int) }),
);

export const LinkList = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Opt(IDL.Text),
  cursor: IDL.Opt(IDL.Text),
  limit: IDL.Opt(IDL.Nat),
  apiKey: IDL.Opt(IDL.Text),
});

export const ResultLinks = resultOf(
  IDL.Record({
    items: IDL.Vec(
      IDL.Record({
        id: IDL.Text,
        path: IDL.Text,
        name: IDL.Text,
        createdAt: IDL.Int,
        expiresAt: IDL.Opt(IDL.Int),
      }),
    ),
    nextCursor: IDL.Opt(IDL.Text),
  }),
);
