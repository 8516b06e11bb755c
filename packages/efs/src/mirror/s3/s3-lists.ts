// Lists of an S3 bucket: the objects under the mirror's prefix, with former versions if the mirror
// copies those.

import { objectAt, type S3Store, send } from './s3-store.ts';

export interface S3Version {
  /** Undefined if versions are not read. */
  readonly id: string | undefined;
  readonly isLatest: boolean;
}

export interface S3Listed {
  /** Oldest first. */
  readonly versions: S3Version[];
  readonly markers: { readonly id: string | undefined; readonly isLatest: boolean }[];
}

export type S3Paths = Map<string, S3Listed>;

function entryAt(paths: S3Paths, path: string): S3Listed {
  const known = paths.get(path);
  if (known !== undefined) return known;
  const entry: S3Listed = { versions: [], markers: [] };
  paths.set(path, entry);
  return entry;
}

export async function listObjects(store: S3Store): Promise<S3Paths> {
  const { sdk, place } = store;
  const { bucket, prefix } = place;
  const paths: S3Paths = new Map();
  let token: string | undefined;
  do {
    const input = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
    const command = new sdk.ListObjectsV2Command(input);
    const page = await send(store, 'list objects (s3:ListBucket)', (client, options) =>
      client.send(command, options),
    );
    for (const { Key = '' } of page.Contents ?? []) {
      entryAt(paths, Key.slice(prefix.length)).versions.push({ id: undefined, isLatest: true });
    }
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
  paths.delete('');
  return paths;
}

interface Marker {
  readonly KeyMarker: string | undefined;
  readonly VersionIdMarker: string | undefined;
}

/** Lists the versions of one path, or of all. */
export async function listVersions(store: S3Store, only?: string): Promise<S3Paths> {
  const { sdk, place } = store;
  const { Bucket, Key: Prefix } = objectAt(store, only ?? '');
  const paths: S3Paths = new Map();
  let marker: Marker | undefined = { KeyMarker: undefined, VersionIdMarker: undefined };
  while (marker !== undefined) {
    const command: InstanceType<typeof sdk.ListObjectVersionsCommand> =
      new sdk.ListObjectVersionsCommand({ Bucket, Prefix, ...marker });
    const page = await send(store, 'list versions (s3:ListBucketVersions)', (client, options) =>
      client.send(command, options),
    );
    const { Versions = [], DeleteMarkers = [] } = page;
    for (const { Key = '', VersionId, IsLatest = false } of Versions) {
      const { versions } = entryAt(paths, Key.slice(place.prefix.length));
      versions.unshift({ id: VersionId, isLatest: IsLatest });
    }
    for (const { Key = '', VersionId, IsLatest = false } of DeleteMarkers) {
      const { markers } = entryAt(paths, Key.slice(place.prefix.length));
      markers.push({ id: VersionId, isLatest: IsLatest });
    }
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    // Keys are in order, so those that only begin with the path follow it.
    const isEnd =
      !page.IsTruncated || KeyMarker === undefined || (only !== undefined && KeyMarker !== Prefix);
    marker = isEnd ? undefined : { KeyMarker, VersionIdMarker };
  }
  paths.delete('');
  if (only === undefined) return paths;
  const found = paths.get(only);
  return new Map(found === undefined ? [] : [[only, found]]);
}
