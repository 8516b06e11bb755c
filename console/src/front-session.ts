// Sessions at a front: the client of all its volumes, with end-to-end encryption. The page imports
// this file when somebody signs in.

import { xhrSender } from '../../packages/client/src/connection/xhr-sender.ts';
import { type EndToEndLayer, endToEnd } from '../../packages/client/src/end-to-end.ts';
import { fileStorage } from '../../packages/client/src/files/file-storage.ts';
import type { FolderAddress } from '../../packages/client/src/links/folder-address.ts';
import type { ServiceStorageOptions } from '../../packages/client/src/service-places.ts';
import { serviceSecrets } from '../../packages/client/src/service-secrets.ts';
import { createServiceStorage } from '../../packages/client/src/service-storage.ts';
import { folderLayer } from '../../packages/client/src/shared-folder-layer.ts';
import type { EndToEndOptions } from '../../packages/client/src/types/end-to-end.ts';
import type { StorageIdentity } from '../../packages/client/src/types/storage-identity.ts';
import { withCertifiedDownloads } from './certified-downloads.ts';
import type { OpenedService } from './opened-service.ts';
import { isLocal, type Service, serviceHost, volumeAddress, volumeIds } from './service.ts';
import { retryOptions } from './waits.ts';

interface Caller {
  readonly apiKey?: string | undefined;
  /** The folder of a link. */
  readonly folder?: FolderAddress | undefined;
  readonly identity?: StorageIdentity;
}

/** The layer without end-to-end encryption. */
const asStored: EndToEndLayer = (connection) => ({ files: fileStorage(connection) });

function openStored(front: string, { folder: _, ...caller }: Caller) {
  const options: ServiceStorageOptions = {
    ...{ front, host: serviceHost(), fetchRootKey: isLocal(), volumeIds },
    ...{ ...caller, ...retryOptions, sendBody: xhrSender },
  };
  const service = createServiceStorage({ ...options, endToEnd: asStored });
  const opened = {
    stored: withCertifiedDownloads(service),
    addressOf: async (bucket: string) => volumeAddress(await service.volumeOf(bucket)),
    volumes: async () =>
      (await volumeIds()).map((canisterId) => ({
        canisterId,
        storage: service.volume(canisterId),
      })),
  };
  return { options, opened };
}

/** A key cannot decrypt files of an end-to-end bucket, but its uploads are encrypted. */
export function openByKey(
  { frontId = '' }: Service,
  { apiKey, folder }: Caller,
  settings: EndToEndOptions,
): OpenedService {
  const { options, opened } = openStored(frontId, { apiKey });
  const layer = folder && folderLayer(folder);
  // The list of the folder's keys names the entity tags, so no record needs to be certified.
  if (layer) return { ...opened, storage: createServiceStorage({ ...options, endToEnd: layer }) };
  // Asking for a bucket's mode takes an update call of some seconds, so only uploads ask for it.
  const sealing = createServiceStorage({ ...options, endToEnd: endToEnd(settings) });
  const { upload, uploadAll } = sealing;
  return { ...opened, storage: { ...opened.stored, upload, uploadAll } };
}

export function openByIdentity(
  { frontId = '' }: Service,
  identity: StorageIdentity,
  settings: EndToEndOptions,
): OpenedService {
  const { options, opened } = openStored(frontId, { identity });
  const storage = withCertifiedDownloads(
    createServiceStorage({ ...options, endToEnd: endToEnd(settings) }),
  );
  return {
    ...opened,
    storage,
    async publishRecipient(bucket) {
      await serviceSecrets(options, settings).identity(bucket);
    },
  };
}
