// A file as an object of S3. The S3 server stores its facts of an object in the file's metadata,
// beside the user's own, under names that begin with `s3.`.

import type { FileRecord, StoredHeaders } from '../../client/src/types/files.ts';
import { storedHeaderNames } from '../../wire/src/stored-headers.ts';
import { keyOfPath } from './keys.ts';
import { S3Error } from './s3-error.ts';

/** The prefix of names reserved for the server: no user's name begins with it. */
export const ownPrefix = 's3.';

/** Facts of the record, without absent ones. */
export interface OwnFacts {
  /** MD5 in hexadecimal, of several parts with `-` and their number. */
  readonly etag?: string | undefined;
  /** `CRC64NVME base64`, and behind it how it is made of the parts, if it is. */
  readonly checksum?: string | undefined;
  /** Bytes within an age file. */
  readonly size?: number | undefined;
  /** The length of each uploaded part but the last, if they had one length. */
  readonly partBytes?: number | undefined;
  /** The checksum of each part in base64, with commas between; absent where they do not fit. */
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
  /** By which it is read: of a former version alone. */
  readonly version?: number | undefined;
  /** The user's own. */
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
 * The entity tag of a file that this server did not store, or whose MD5 must stay secret: its
 * SHA-256, shortened, and the number of its chunks. Because of its `-` no client takes it for an
 * MD5.
 */
function substituteEtag(etag: string): string {
  const [digest = '', chunks = '1'] = etag.split('-');
  return `${digest.slice(0, 32)}-${chunks}`;
}

function ownFactsOf(metadata: Readonly<Record<string, string>>): OwnFacts {
  const read = (name: string) => metadata[ownPrefix + name];
  // Writers of files may store anything here: an invalid number of bytes counts as absent.
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

/** The metadata of a record; throws MetadataTooLarge. */
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
