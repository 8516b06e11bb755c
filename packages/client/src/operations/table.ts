// The table of operations, from which the HTTP, lazy and sealing transports are made.
// ARCHITECTURE.md describes how to add an operation.

import { type FileOperations, filePaths, fileRows } from './files.ts';
import { type LinkOperations, linkPaths, linkRows } from './links.ts';
import { type ListingOperations, listingPaths, listingRows } from './listings.ts';
import type { ArgumentOf, PathRows, ResultOf, Rows, TransferRows } from './operation.ts';
import { type RetentionOperations, retentionPaths, retentionRows } from './retention.ts';
import { type ServiceOperations, servicePaths, serviceRows } from './service.ts';
import { type ThumbnailOperations, thumbnailPaths, thumbnailRows } from './thumbnails.ts';
import { type TransferOperations, transferPaths, transferRows } from './transfers.ts';
import { type UploadLinkOperations, uploadLinkPaths, uploadLinkRows } from './upload-links.ts';
import { type UploadOperations, uploadPaths, uploadRows } from './uploads.ts';
import { type VersionOperations, versionPaths, versionRows } from './versions.ts';

/** Operations whose HTTP request and response are in their rows. */
export interface DescribedOperations
  extends FileOperations,
    LinkOperations,
    UploadLinkOperations,
    ListingOperations,
    RetentionOperations,
    ServiceOperations,
    ThumbnailOperations,
    UploadOperations,
    VersionOperations {}

export interface Operations extends DescribedOperations, TransferOperations {}

/** The operations as methods of a transport. Each call makes one attempt at one request. */
export type Calls<Of> = {
  readonly [Name in keyof Of]: (
    argument: ArgumentOf<Of[Name]>,
    signal: AbortSignal | undefined,
  ) => Promise<ResultOf<Of[Name]>>;
};

export type Call = (argument: unknown, signal: AbortSignal | undefined) => Promise<unknown>;

/** Makes a call from each row; a table that lacks a row does not compile. */
export function callsOf<Of, Row>(
  rows: Readonly<Record<keyof Of, Row>>,
  make: (row: Row, name: string) => Call,
): Calls<Of> {
  const entries = Object.entries<Row>(rows).map(([name, row]) => [name, make(row, name)]);
  return Object.fromEntries(entries);
}

export const describedRows = {
  ...fileRows,
  ...linkRows,
  ...uploadLinkRows,
  ...listingRows,
  ...retentionRows,
  ...serviceRows,
  ...thumbnailRows,
  ...uploadRows,
  ...versionRows,
} satisfies Rows<DescribedOperations>;

export const operationRows = {
  ...describedRows,
  ...transferRows,
} satisfies TransferRows<Operations>;

/** A function, because bundlers do not drop unused constants that spread others. */
export function pathRows(): PathRows<Operations> {
  return {
    ...filePaths,
    ...linkPaths,
    ...uploadLinkPaths,
    ...listingPaths,
    ...retentionPaths,
    ...servicePaths,
    ...thumbnailPaths,
    ...transferPaths,
    ...uploadPaths,
    ...versionPaths,
  };
}
