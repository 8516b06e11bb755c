// The client for programs in Node: finds media types by extensions and reports the sent bytes.

import { lookup } from 'mime-types';
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
  const isActor = 'host' in options;
  const layer = isActor ? { endToEnd: nodeEndToEnd() } : {};
  const sender = options.fetch === undefined ? { sendBody: streamSender } : {};
  return createStorage({ contentTypeOf: lookup, ...sender, ...layer, ...options });
}
