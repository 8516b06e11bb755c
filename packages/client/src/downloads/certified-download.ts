// Downloads whose entity tag is that of a record that the network signs.

import { type Connection, perform } from '../connection/connection.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { Download, DownloadOptions } from '../types/transfers.ts';

export type DownloadFile = (name: FileName, options?: DownloadOptions) => Promise<Download>;

interface Asked {
  readonly name: FileName;
  readonly options: DownloadOptions;
  readonly download: DownloadFile;
}

/** Requests the record and opens the file at the same time; the digest verifies the bytes. */
export async function certifiedDownload(
  connection: Connection,
  { name, options, download }: Asked,
): Promise<Download> {
  const { range, verify, version, signal } = options;
  if (range !== undefined || verify === false) {
    throw new StorageError('InvalidArgument', 'certified excludes range and verify: false.');
  }
  const { bucket, path } = name;
  const [record, found] = await Promise.all([
    perform(connection, 'getCertifiedFile', { bucket, path, version }, signal),
    download(name, options),
  ]);
  if (found.etag === record.etag) return found;
  throw new StorageError('Untrusted', `A node returned another file than ${path}; try again.`, {
    isRetryable: true,
  });
}
