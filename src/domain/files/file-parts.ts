// Fields of a stored file record, as views of its bytes: a list of fifty files cannot afford to
// decode and encode texts. Depends on the layouts of the record (file-layout.ts) and of the end of
// its JSON (file-view.ts).

import { emptyBytes } from '../../lib/bytes.ts';
import { decodeUtf8 } from '../../lib/text.ts';
import { noStoredHeaders } from '../shared/stored-headers.ts';
import {
  hasThumbnail,
  isRetained,
  jsonEnd,
  jsonStart,
  retentionTexts,
  thumbnailTexts,
} from './file-layout.ts';

export interface StoredName {
  readonly bucketId: Uint8Array;
  readonly path: Uint8Array;
}

/** Texts are UTF-8. */
export interface FileParts extends StoredName {
  readonly id: Uint8Array;
  readonly name: Uint8Array;
  readonly contentType: Uint8Array;
  readonly tags: readonly Uint8Array[];
  /** Name, value, name, value … */
  readonly metadata: readonly Uint8Array[];
  readonly etag: Uint8Array;
  /** Whether the entity tag is the SHA-256 of the file. */
  readonly isDigest: boolean;
  readonly url: Uint8Array;
  readonly size: number;
  readonly chunkSize: number;
  readonly version: number;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly retention?: RetentionParts | undefined;
}

export interface RetentionParts {
  /** Empty without a mode. */
  readonly mode: Uint8Array;
  readonly untilNs: bigint;
  readonly hasHold: boolean;
}

const quote = 0x22;
const slash = 0x2f;
const idAt = '{"id":"'.length;
const idBytes = 16;
const timeBytes = '2000-01-01T00:00:00.000Z'.length;
/** Bytes from the end of the entity tag to the address, without the digits of the version. */
const bytesAfterTag = '","version":,"createdAt":"","updatedAt":"","url":"'.length + 2 * timeBytes;

export function fileParts(bytes: Uint8Array, { bucketId, path }: StoredName): FileParts {
  // A record of a list begins anywhere, where typed arrays cannot begin
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const idStart = jsonStart(bytes) + idAt;
  const end = jsonEnd(bytes);
  const digestBytes = bytes[1] ?? 0;
  const chunkCount = view.getFloat64(72, true);
  const version = view.getFloat64(80, true);
  const urlStart = bytes.lastIndexOf(quote, end - 3) + 1;
  const etagEnd = urlStart - bytesAfterTag - `${version}`.length;
  const etagBytes = 2 * digestBytes + (chunkCount <= 1 ? 0 : 1 + `${chunkCount}`.length);
  const typeEnd = bytes.indexOf(0, end);
  const notes = readNotes(bytes, typeEnd + 1);
  return {
    bucketId,
    path,
    id: bytes.subarray(idStart, idStart + idBytes),
    name: path.subarray(path.lastIndexOf(slash) + 1),
    contentType: bytes.subarray(end, typeEnd),
    tags: notes.tags,
    metadata: notes.metadata,
    etag: bytes.subarray(etagEnd - etagBytes, etagEnd),
    // A record with an empty digest does not show a digest.
    isDigest: chunkCount <= 1 && digestBytes > 0,
    url: bytes.subarray(urlStart, end - 2),
    size: view.getFloat64(56, true),
    chunkSize: view.getFloat64(64, true),
    version,
    createdAtNs: view.getBigUint64(16, true),
    updatedAtNs: view.getBigUint64(24, true),
    retention: notes.retention,
  };
}

interface Notes {
  readonly tags: readonly Uint8Array[];
  /** Name, value, name, value … */
  readonly metadata: readonly Uint8Array[];
  readonly retention: RetentionParts | undefined;
}

/** `secondText`: the offset of the text after the type. Skips the stored headers. */
function readNotes(bytes: Uint8Array, secondText: number): Notes {
  let start = secondText;
  for (let index = noStoredHeaders.length; index > 1; index--) {
    start = bytes.indexOf(0, start) + 1;
  }
  const texts: Uint8Array[] = [];
  for (let end = bytes.indexOf(0, start); end >= 0; ) {
    const next = bytes.indexOf(0, end + 1);
    texts.push(next < 0 ? bytes.subarray(end + 1) : bytes.subarray(end + 1, next));
    end = next;
  }
  const retention = isRetained(bytes) ? takeRetention(texts) : undefined;
  if (hasThumbnail(bytes)) texts.splice(-thumbnailTexts);
  const tagCount = bytes[3] ?? 0;
  if (tagCount === texts.length) return { tags: texts, metadata: [], retention };
  return { tags: texts.slice(0, tagCount), metadata: texts.slice(tagCount), retention };
}

/** Removes the last texts of a record with a retention, and returns what they say. */
function takeRetention(texts: Uint8Array[]): RetentionParts {
  const [mode = emptyBytes, until = emptyBytes, hold = emptyBytes] = texts.splice(-retentionTexts);
  // A list does not check seals, so a damaged record can have any texts here
  const digits = decodeUtf8(until) ?? '';
  const untilNs = /^\d{1,20}$/.test(digits) ? BigInt(digits) : 0n;
  return { mode, untilNs, hasHold: hold.length > 0 };
}
