// The client for programs in Node: the same storage, with media types by the path's
// extension and uploads whose bytes are counted as they are sent.

import { lookup } from 'mime-types';
import { createStorage, type Storage, type StorageOptions } from '../storage.ts';
import { streamSender } from './body-sender.ts';
import { nodeEndToEnd } from './end-to-end.ts';

export function createNodeStorage(options: StorageOptions): Storage {
  const isActor = 'host' in options;
  const layer = isActor ? { endToEnd: nodeEndToEnd() } : {};
  const sender = options.fetch === undefined ? { sendBody: streamSender } : {};
  return createStorage({ contentTypeOf: lookup, ...sender, ...layer, ...options });
}
