// Stores identities of buckets in files that only their owner can read.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IdentityStore } from '../types/end-to-end.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Returns a store in a folder, which it creates if missing: one file of 48 bytes with mode 0600 for
 * each identity.
 *
 * @example
 * ```ts
 * import { endToEnd, fileIdentityStore } from '@encrypted-file-storage/client/node';
 *
 * const layer = endToEnd({ store: fileIdentityStore('identities') });
 * ```
 */
export function fileIdentityStore(folder: string): IdentityStore {
  return {
    async get(name) {
      try {
        return new Uint8Array(await readFile(join(folder, name)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    set: (name, secret) => replaceFile(join(folder, name), secret),
  };
}
