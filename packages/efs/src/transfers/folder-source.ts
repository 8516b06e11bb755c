// A folder that somebody shared by a link, as the source of a list or a download.

import type { BucketSecrets } from '../../../client/src/bucket-secrets.ts';
import { isFolderUrl } from '../../../client/src/links/folder-address.ts';
import { nodeFolderStorage } from '../../../client/src/node/end-to-end.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { Run } from '../config/run.ts';
import type { Location } from '../output/location.ts';

export interface FolderSource {
  readonly storage: Storage;
  readonly place: Location;
  /** The run with the folder's service in place of the configured one. */
  readonly run: Run;
}

/** Returns undefined if the text is not the address of a folder's link. */
export function folderSource(run: Run, text: string): FolderSource | undefined {
  if (!isFolderUrl(text)) return undefined;
  const { storage, bucket, prefix, service } = nodeFolderStorage(text);
  // Nothing of the configured service applies: a stranger's bucket may have the same name
  const secrets = async () => noSecrets;
  return { storage, place: { bucket, path: prefix }, run: { ...run, service, secrets } };
}

/** Files are compared by their times only; others are downloaded again. */
const noSecrets = { readerMode: async () => undefined } as unknown as BucketSecrets;
