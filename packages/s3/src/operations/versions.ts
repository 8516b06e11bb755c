// ListObjectVersions: objects and the former versions that the bucket stores. A deleted object has
// only former versions, and no delete marker.

import { isOfSharedList } from '../../../client/src/links/folder-address.ts';
import { xmlAnswer } from '../answer.ts';
import { keyOfPath } from '../keys.ts';
import { compareNames, groupOf, listPage } from '../listing.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { factsShown } from '../stored-object.ts';
import { idOfVersion, parseVersionId } from '../version-id.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { isOpenedIn, owner } from './common.ts';
import { type Asked, askedOf } from './listings.ts';

export const versionRoutes: Readonly<Record<string, Route>> = {
  'GET bucket?versions': {
    run: listObjectVersions,
    parameters: [
      ...['prefix', 'delimiter', 'key-marker', 'version-id-marker', 'max-keys'],
      'encoding-type',
    ],
  },
};

interface Listed {
  /** A key, or a common prefix. */
  readonly name: string;
  readonly version?: {
    readonly number: number;
    readonly id: string;
    readonly isLatest: boolean;
    readonly modified: string;
    readonly etag: string;
    readonly size: number;
  };
}

/** Maximum number of former versions that one request reads. */
const walkedMax = 20_000;

async function listObjectVersions(operation: Operation) {
  const asked = askedOf(operation);
  const { query } = operation.request;
  const keyMarker = query.get('key-marker') ?? '';
  const idMarker = query.get('version-id-marker');
  if (idMarker !== undefined && keyMarker === '') {
    throw new S3Error('InvalidArgument', 'version-id-marker needs a key-marker.');
  }
  const limit = Math.max(1, asked.limit);
  const behind = parseVersionId(idMarker || undefined)?.number ?? 0;
  const isBehind = ({ name, version }: Listed) =>
    compareNames(name, keyMarker) > 0 ||
    (name === keyMarker && idMarker !== undefined && (version?.number ?? 0) < behind);
  const former = await formerOf(operation, asked);
  const present = await presentOf(operation, { asked, keyMarker, idMarker });
  // Former versions whose names follow this page of present objects belong to a later page.
  const known = (name: string) => !present.next || compareNames(name, present.next) <= 0;
  const all = [...present.names, ...former.filter(({ name }) => known(name))].filter(isBehind);
  const sorted = distinct(all.sort(inOrder), asked.delimiter !== '');
  const shown = asked.limit === 0 ? [] : sorted.slice(0, limit);
  const isTruncated = asked.limit > 0 && (sorted.length > limit || present.next !== undefined);
  return xmlAnswer(
    writeXml('ListVersionsResult', {
      ...headOf(asked, shown, isTruncated),
      KeyMarker: asked.naming.text(keyMarker),
      VersionIdMarker: idMarker ?? '',
    }),
  );
}

function headOf(asked: Asked, shown: readonly Listed[], isTruncated: boolean): Elements {
  const { bucket, prefix, delimiter, limit } = asked;
  const { encoding, text } = asked.naming;
  const last = isTruncated ? shown.at(-1) : undefined;
  return {
    Name: bucket,
    Prefix: text(prefix),
    Delimiter: delimiter === '' ? undefined : text(delimiter),
    MaxKeys: limit,
    EncodingType: encoding,
    IsTruncated: isTruncated,
    NextKeyMarker: last && text(last.name),
    NextVersionIdMarker: last?.version?.id,
    Version: shown.flatMap(({ name, version }) => {
      if (version === undefined) return [];
      return {
        Key: text(name),
        VersionId: version.id,
        IsLatest: version.isLatest,
        LastModified: version.modified,
        ETag: `"${version.etag}"`,
        Size: version.size,
        StorageClass: 'STANDARD',
        Owner: owner,
      };
    }),
    CommonPrefixes: shown.flatMap(({ name, version }) =>
      version === undefined ? [{ Prefix: text(name) }] : [],
    ),
  };
}

/** Sorts by name, the newest version first. */
function inOrder(one: Listed, other: Listed): number {
  return (
    compareNames(one.name, other.name) || (other.version?.number ?? 0) - (one.version?.number ?? 0)
  );
}

/** Both lists can contain a common prefix. */
function distinct(sorted: readonly Listed[], isGrouped: boolean): readonly Listed[] {
  if (!isGrouped) return sorted;
  return sorted.filter(
    ({ name, version }, index) => version !== undefined || sorted[index - 1]?.name !== name,
  );
}

async function formerOf({ account, signal }: Operation, asked: Asked): Promise<Listed[]> {
  const { bucket, prefix, delimiter } = asked;
  const former: Listed[] = [];
  const isEndToEnd = await isOpenedIn(account, bucket);
  for await (const version of account.storage.versions.list({ bucket, prefix, signal })) {
    if (former.length === walkedMax) {
      throw new S3Error(
        'NotImplemented',
        `The prefix has more than ${walkedMax} former versions: use efs versions ls.`,
      );
    }
    if (isEndToEnd && isOfSharedList(version.path)) continue;
    const { version: number, updatedAt: modified } = version;
    const id = idOfVersion(version);
    const { etag, size } = factsShown(version);
    const name = keyOfPath(version.path);
    const listed = { name, version: { number, id, isLatest: false, modified, etag, size } };
    former.push(groupOf(listed, prefix, delimiter));
  }
  return former;
}

interface Markers {
  readonly asked: Asked;
  readonly keyMarker: string;
  readonly idMarker: string | undefined;
}

/**
 * Lists present objects after the key marker; the object at the marker can only have former
 * versions left.
 */
async function presentOf({ account, signal }: Operation, { asked, keyMarker }: Markers) {
  const limit = Math.max(1, asked.limit);
  const page = await listPage(account, { ...asked, limit, after: keyMarker, signal });
  const names = page.names.map(({ name, object }): Listed => {
    if (object === undefined) return { name };
    const { etag, size, modified, record } = object;
    return {
      name,
      version: {
        ...{ number: record.version, id: idOfVersion(record), isLatest: true },
        ...{ modified: modified.toISOString(), etag, size },
      },
    };
  });
  return { names, next: page.next };
}
