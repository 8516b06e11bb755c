// The client for programs in Node: finds media types by extensions and reports the sent bytes.

import { lookup } from 'mime-types';
import type { ServiceStorageOptions } from '../service-places.ts';
import { createServiceStorage, type ServiceStorage } from '../service-storage.ts';
import { createStorage, type Storage, type StorageOptions } from '../storage.ts';
import { streamSender } from './body-sender.ts';
import { nodeEndToEnd } from './end-to-end.ts';

/**
 * Returns the client of one service, as `createStorage` does, with Node's cipher and media types.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createNodeStorage, identityFromPem } from '@encrypted-file-storage/client/node';
 *
 * const identity = identityFromPem(await readFile('identity.pem', 'utf8'));
 * const storage = createNodeStorage({
 *   host: 'http://localhost:4943',
 *   canisterId: '<canister id>',
 *   identity,
 * });
 * console.log((await storage.status()).version);
 * ```
 */
export function createNodeStorage(options: StorageOptions): Storage {
  return createStorage({ ...nodeDefaults('host' in options, options), ...options });
}

/**
 * Returns the client of a service of several volumes, as `createServiceStorage` does, with Node's
 * cipher and media types.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createNodeServiceStorage, identityFromPem } from '@encrypted-file-storage/client/node';
 *
 * const identity = identityFromPem(await readFile('identity.pem', 'utf8'));
 * const host = 'http://localhost:4943';
 * const storage = createNodeServiceStorage({ host, front: '<front id>', identity });
 * console.log(await storage.volumes.list());
 * ```
 */
export function createNodeServiceStorage(options: ServiceStorageOptions): ServiceStorage {
  return createServiceStorage({ ...nodeDefaults(true, options), ...options });
}

function nodeDefaults(isActor: boolean, { fetch }: { readonly fetch?: unknown }) {
  const layer = isActor ? { endToEnd: nodeEndToEnd() } : {};
  const sender = fetch === undefined ? { sendBody: streamSender } : {};
  return { contentTypeOf: lookup, ...sender, ...layer };
}
