// The representation of a file: its entity tag, its address, and its record in the JSON interface.
// The JSON is made once, at commit: making fifty for a list would cost 30 M more instructions.

import { encodeHex } from '../../lib/hex.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import type { ShownFile, ShownThumbnail } from '../shared/publication.ts';
import type { Retention } from '../shared/retention.ts';

/** Returns the strong entity tag with its quotes. */
export function entityTag(file: Pick<ShownFile, 'chunkCount' | 'digest'>): string {
  const suffix = file.chunkCount > 1 ? `-${file.chunkCount}` : '';
  return `"${encodeHex(file.digest)}${suffix}"`;
}

export function fileUrl(file: Pick<ShownFile, 'bucketId' | 'path'>): string {
  return `/cloud/${file.bucketId}/${file.path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Formats a time by ISO 8601, to the millisecond. */
export function isoTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}

/** Absent fields are omitted: a hold alone has no mode and no time. */
export function retentionView({ mode, untilNs, hasHold }: Retention) {
  return { mode, retainUntil: mode && isoTime(untilNs), hold: hasHold };
}

function thumbnailView({ size, contentType }: ShownThumbnail) {
  return { size, contentType };
}

/**
 * Returns the file record of the JSON interface. file-parts.ts finds fields in it by their
 * positions: change both together.
 */
export function fileView(file: ShownFile) {
  const etag = entityTag(file).slice(1, -1);
  const createdAt = isoTime(file.createdAtNs);
  return {
    id: file.id,
    bucketId: file.bucketId,
    path: file.path,
    name: file.path.slice(file.path.lastIndexOf('/') + 1),
    size: file.size,
    chunkSize: file.chunkSize,
    contentType: file.contentType,
    tags: file.tags,
    // Absent if empty, because lists contain records by the hundred
    metadata: file.metadata.length === 0 ? undefined : Object.fromEntries(file.metadata),
    retention: file.retention && retentionView(file.retention),
    thumbnail: file.thumbnail && thumbnailView(file.thumbnail),
    etag,
    sha256: file.chunkCount <= 1 ? etag : undefined,
    version: file.version,
    createdAt,
    updatedAt: file.updatedAtNs === file.createdAtNs ? createdAt : isoTime(file.updatedAtNs),
    url: fileUrl(file),
  };
}

/** Returns UTF-8 of the file record of the JSON interface. */
export function fileJson(file: ShownFile): Uint8Array {
  return encodeUtf8(JSON.stringify(fileView(file)));
}
