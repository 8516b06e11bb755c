// A file as an object of S3. The S3 server stores its facts about an object in the file's metadata,
// besides the user's own, under names that begin with `s3.`.

import type { FileRecord, StoredHeaders } from '../../client/src/types/files.ts';
import { storedHeaderNames } from '../../wire/src/stored-headers.ts';
import { keyOfPath } from './keys.ts';
import { S3Error } from './s3-error.ts';

/** The prefix of names reserved for the server, which users cannot use. */
export const ownPrefix = 's3.';

/** Facts about an object that the S3 server stores in the record; absent ones are undefined. */
export interface OwnFacts {
  /** MD5 in hexadecimal; for several parts with `-` and their number. */
  readonly etag?: string | undefined;
  /** `CRC64NVME base64`, followed by how the parts are combined, if they are. */
  readonly checksum?: string | undefined;
  /** Number of bytes within an age file. */
  readonly size?: number | undefined;
  /** The length of each uploaded part except the last, if they had one length. */
  readonly partBytes?: number | undefined;
  /** The checksum of each part in base64, separated by commas; absent if they do not fit. */
  readonly partSums?: string | undefined;
  readonly expires?: string | undefined;
  readonly headers?: StoredHeaders | undefined;
}

export interface StoredObject {
  readonly record: FileRecord;
  readonly key: string;
  /** Without quotes. */
  readonly etag: string;
  readonly size: number;
  readonly contentType: string;
  readonly modified: Date;
  readonly own: OwnFacts;
  /** The number for reading a former version; undefined for the present one. */
  readonly version?: number | undefined;
  /** The user's metadata. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The type of an object stored without one, as in S3. */
export const unknownType = 'binary/octet-stream';

export function objectOf(record: FileRecord): StoredObject {
  const pairs = Object.entries(record.metadata ?? {});
  const users = pairs.filter(([name]) => !name.startsWith(ownPrefix));
  return {
    record,
    key: keyOfPath(record.path),
    ...factsShown(record),
    contentType: record.contentType,
    modified: new Date(record.updatedAt),
    metadata: Object.fromEntries(users),
  };
}

/** Returns the facts that lists show of an object or a former version. */
export function factsShown({
  etag,
  size,
  metadata = {},
}: Pick<FileRecord, 'etag' | 'size' | 'metadata'>) {
  const own = ownFactsOf(metadata);
  return { own, etag: own.etag ?? substituteEtag(etag), size: own.size ?? size };
}

/**
 * Returns the entity tag of a file that this server did not store, or whose MD5 must stay secret:
 * its shortened SHA-256 and the number of its chunks. The `-` shows clients that it is not an MD5.
 */
function substituteEtag(etag: string): string {
  const [digest = '', chunks = '1'] = etag.split('-');
  return `${digest.slice(0, 32)}-${chunks}`;
}

function ownFactsOf(metadata: Readonly<Record<string, string>>): OwnFacts {
  const read = (name: string) => metadata[ownPrefix + name];
  // Anybody who writes files can store any text here: an invalid number counts as absent.
  const number = (name: string) => {
    const text = read(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const headers = storedHeaderNames.flatMap((name) => {
    const value = read(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    etag: read('etag'),
    checksum: read('checksum'),
    size: number('size'),
    partBytes: number('part') || undefined,
    partSums: read('sums'),
    expires: read('Expires'),
    headers: Object.fromEntries(headers),
  };
}

const pairsMax = 32;
const bytesMax = 2_048;

/** Returns the metadata of a record; throws MetadataTooLarge. */
export function metadataOf(
  own: OwnFacts,
  users: Readonly<Record<string, string>>,
): Record<string, string> {
  const { etag, checksum, size, partBytes: part, partSums: sums, expires, headers } = own;
  const named = { etag, checksum, size, part, sums, Expires: expires, ...headers };
  const pairs = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [[ownPrefix + name, String(value)] as const],
  );
  const metadata = { ...users, ...Object.fromEntries(pairs) };
  const all = Object.entries(metadata);
  const bytes = Buffer.byteLength(all.flat().join(''));
  if (all.length <= pairsMax && bytes <= bytesMax) return metadata;
  throw new S3Error(
    'MetadataTooLarge',
    `An object has at most ${pairsMax} pairs of metadata and ${bytesMax} bytes of UTF-8 in them, ` +
      `including the S3 server's own; this one would have ${all.length} with ${bytes} bytes.`,
  );
}
