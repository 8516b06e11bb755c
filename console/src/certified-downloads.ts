// Downloads that are compared with records that the network signs.

import type { Storage } from '../../packages/client/src/storage.ts';
import type { Download, DownloadOptions } from '../../packages/client/src/types/transfers.ts';

/** Returns the storage with certified downloads, unless a caller declines. */
export function withCertifiedDownloads<T extends Storage>(storage: T): T {
  const { download, versions } = storage;
  return {
    ...storage,
    download: certified(download),
    versions: { ...versions, download: certified(versions.download) },
  };
}

function certified<Name>(download: (name: Name, options?: DownloadOptions) => Promise<Download>) {
  return (name: Name, options?: DownloadOptions) => download(name, { certified: true, ...options });
}
