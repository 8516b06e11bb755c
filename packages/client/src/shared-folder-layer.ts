// The layer for a shared folder of an end-to-end bucket: plain names and contents, by the list of
// file keys that the link's address opens.

import { type Connection, perform } from './connection/connection.ts';
import { onDemand } from './connection/on-demand.ts';
import { certifiedBy } from './downloads/certified-by.ts';
import type { FileDownloads } from './downloads/download-all.ts';
import type { EndToEndLayer } from './end-to-end.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { lazyTransfers } from './files/lazy-transfers.ts';
import { type FolderAddress, sharedListFolder } from './links/folder-address.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import type { SegmentCipher } from './types/end-to-end.ts';
import type { FileRecord } from './types/files.ts';

/** Returns undefined if the bucket is not end-to-end. The list is read with the first call. */
export function folderLayer(
  { sealed, ...address }: FolderAddress,
  cipher?: SegmentCipher,
): EndToEndLayer | undefined {
  if (sealed === undefined) return undefined;
  return (outer) => {
    const load = onDemand(async () => {
      const { openSharedFolder } = await import('./age/shared-folder.ts');
      return openSharedFolder(outer, { ...address, sealed }, cipher);
    });
    const names = async () => (await load()).names;
    const connection = { ...outer, transport: sealingTransport(outer.transport, names) };
    return { files: reading(connection, load) };
  };
}

/** Also lists of other links, whose names this link does not open. */
function isOfLists(path: string): boolean {
  return `/${path}`.includes(`/${sharedListFolder}`);
}

type Load = () => Promise<import('./age/shared-folder.ts').SharedFolderKeys>;

function reading(connection: Connection, load: Load): FileStorage {
  const files = fileStorage(connection);
  const transfers = lazyTransfers(connection);
  const open: FileDownloads['open'] = async (name, options, file) =>
    (await load()).open(connection, name, { file, options });
  const download = certifiedBy(connection, async (name, options = {}) => {
    const { bucket, path } = name;
    const wantsFirst = options.range === undefined;
    const request = { bucket, path, version: options.version, wantsFirst };
    return open(name, options, await perform(connection, 'openFile', request, options.signal));
  });
  const shown = async (records: readonly FileRecord[]) => {
    const keys = await load();
    return records.filter(({ path }) => !isOfLists(path)).map((one) => keys.marked(one));
  };
  return {
    ...files,
    download,
    downloadAll: (all, options) => transfers.downloadAll(all, options, { download, open }),
    stat: async (name, options) => (await load()).marked(await files.stat(name, options)),
    async listFolder(options) {
      const page = await files.listFolder(options);
      const folders = page.folders.filter(({ path }) => !isOfLists(path));
      return { ...page, items: await shown(page.items), folders };
    },
    async *list(options) {
      for await (const record of files.list(options)) yield* await shown([record]);
    },
  };
}
