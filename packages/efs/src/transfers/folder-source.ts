// A folder that somebody shared by a link, as the source of a list or a download.

import { isFolderUrl } from '../../../client/src/links/folder-address.ts';
import { nodeFolderStorage } from '../../../client/src/node/end-to-end.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { FolderRun } from '../config/run.ts';
import type { Location } from '../output/location.ts';

export interface FolderSource {
  readonly storage: Storage;
  readonly place: Location;
  /** Has nothing of the configured service: a stranger's bucket may have the same name. */
  readonly run: FolderRun;
}

/** Returns undefined if the text is not the address of a folder's link. */
export function folderSource(
  { signal, isQuiet }: FolderRun,
  text: string,
): FolderSource | undefined {
  if (!isFolderUrl(text)) return undefined;
  const { storage, bucket, prefix, service } = nodeFolderStorage(text);
  const run = { service, signal, isQuiet, secrets: async () => undefined };
  return { storage, place: { bucket, path: prefix }, run };
}
