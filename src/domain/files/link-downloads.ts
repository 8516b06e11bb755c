// Links with a maximum of downloads: updates count the bytes that were read, in proportion to the
// size of the file, so that parts of a file count as much as they have.

import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type DownloadLimit, findLink, type Link, storeLink } from './link-layout.ts';

const downloadsMaxMax = 2 ** 32 - 1;

/** Parses a maximum of downloads; `undefined` for none. */
export function parseDownloadsMax(sent: bigint | undefined): DownloadLimit | undefined {
  if (sent === undefined) return undefined;
  if (sent < 1n || sent > BigInt(downloadsMaxMax)) {
    throw new Refusal(
      'InvalidArgument',
      `maxDownloads is ${sent}: send 1 to ${downloadsMaxMax}, or omit it for no limit.`,
    );
  }
  return { downloadsMax: Number(sent), readBytes: 0, fileBytes: 0 };
}

/** Returns the downloads, of which a begun one counts as one. */
export function downloadsOf({ readBytes, fileBytes }: DownloadLimit): number {
  return fileBytes === 0 ? 0 : Math.ceil(readBytes / fileBytes);
}

/** Whether as many bytes were read as the maximum of downloads has. */
export function isUsedUp({ limit }: Link): boolean {
  if (limit === undefined || limit.fileBytes === 0) return false;
  return limit.readBytes >= limit.downloadsMax * limit.fileBytes;
}

/** Counts bytes that are read of a file. An empty file counts as one byte. */
export function countDownload(
  stores: Stores,
  id: string,
  read: { readonly bytes: number; readonly fileBytes: number },
): void {
  const link = findLink(stores, id);
  if (link?.limit === undefined) return;
  const { limit } = link;
  const fileBytes = Math.max(1, read.fileBytes);
  const bytes = read.fileBytes === 0 ? 1 : read.bytes;
  // A replaced file keeps the number of downloads
  const isSame = limit.fileBytes === fileBytes || limit.fileBytes === 0;
  const before = isSame ? limit.readBytes : downloadsOf(limit) * fileBytes;
  const counted = { ...link, limit: { ...limit, readBytes: before + bytes, fileBytes } };
  storeLink(stores, counted);
  // A missing link's 404 is certified
  if (isUsedUp(counted)) stores.publication.removeLink(id);
}
