// Sessions at a volume without a front: files are read and written as they are stored. The page
// imports this file when somebody signs in.

import { xhrSender } from '../../packages/client/src/connection/xhr-sender.ts';
import { createStorage, type StorageOptions } from '../../packages/client/src/storage.ts';
import type { StorageIdentity } from '../../packages/client/src/types/storage-identity.ts';
import { withCertifiedDownloads } from './certified-downloads.ts';
import type { OpenedService } from './opened-service.ts';
import { isLocal, type Service, serviceHost } from './service.ts';
import { retryOptions } from './waits.ts';

const common = { ...retryOptions, sendBody: xhrSender };

/** Reads over HTTP and writes by actor calls. */
export function openByKey(service: Service, apiKey: string): OpenedService {
  const { url, canisterId } = service;
  return open(service, { url, canisterId, apiKey, ...common });
}

export function openByIdentity(service: Service, identity: StorageIdentity): OpenedService {
  const { url: linkUrl, canisterId } = service;
  const host = serviceHost();
  const options = { host, canisterId, identity, fetchRootKey: isLocal(), linkUrl };
  return open(service, { ...options, ...common });
}

function open({ canisterId, url }: Service, options: StorageOptions): OpenedService {
  const storage = withCertifiedDownloads(createStorage(options));
  const volume = { canisterId, storage };
  return { storage, stored: storage, addressOf: async () => url, volumes: async () => [volume] };
}
