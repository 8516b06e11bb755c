// How a file is shown: its entity tag, its address, and the file record of the JSON interface. A
// file's JSON is made once, when the file is committed: making fifty for a list would cost 30 M
// instructions more.

import { encodeHex } from '../../lib/hex.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import type { ShownFile } from '../shared/publication.ts';

/** Strong entity tag, with its quotes. */
export function entityTag(file: Pick<ShownFile, 'chunkCount' | 'digest'>): string {
  const suffix = file.chunkCount > 1 ? `-${file.chunkCount}` : '';
  return `"${encodeHex(file.digest)}${suffix}"`;
}

export function fileUrl(file: Pick<ShownFile, 'bucketId' | 'path'>): string {
  return `/cloud/${file.bucketId}/${file.path.split('/').map(encodeURIComponent).join('/')}`;
}

/** ISO 8601, to the millisecond. */
export function isoTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}

/**
 * The file record of the JSON interface. Its beginning, and its end from the entity tag on, are
 * found by their places in file-parts.ts: what changes here changes there.
 */
export function fileView(file: ShownFile) {
  const etag = entityTag(file).slice(1, -1);
  return {
    id: file.id,
    bucketId: file.bucketId,
    path: file.path,
    name: file.path.slice(file.path.lastIndexOf('/') + 1),
    size: file.size,
    chunkSize: file.chunkSize,
    contentType: file.contentType,
    tags: file.tags,
    // Absent if empty: most records are listed by the hundred
    metadata: file.metadata.length === 0 ? undefined : Object.fromEntries(file.metadata),
    etag,
    sha256: file.chunkCount <= 1 ? etag : undefined,
    version: file.version,
    createdAt: isoTime(file.createdAtNs),
    updatedAt: isoTime(file.updatedAtNs),
    url: fileUrl(file),
  };
}

/** UTF-8 of the file record of the JSON interface. */
export function fileJson(file: ShownFile): Uint8Array {
  return encodeUtf8(JSON.stringify(fileView(file)));
}
