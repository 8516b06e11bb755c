// The client for programs in Node: the same storage, with media types by the path's extension.

import { lookup } from 'mime-types';
import { createStorage, type Storage, type StorageOptions } from '../storage.ts';
import { nodeEndToEnd } from './end-to-end.ts';

export function createNodeStorage(options: StorageOptions): Storage {
  const isActor = 'host' in options;
  const layer = isActor ? { endToEnd: nodeEndToEnd() } : {};
  return createStorage({ contentTypeOf: lookup, ...layer, ...options });
}
