// Remembers the modes of one service's buckets in files.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../storage-error.ts';
import type { BucketMemory, KnownBucket } from '../types/end-to-end.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Returns a memory in a folder, which it creates if missing: one JSON file for each bucket. Use one
 * folder for each service. An unreadable file is an error, because without it a client would not
 * notice that a bucket has ceased to be end-to-end.
 *
 * @example
 * ```ts
 * import { endToEnd, fileBucketMemory } from '@encrypted-file-storage/client/node';
 *
 * const lasting = endToEnd({ memory: fileBucketMemory('buckets') });
 * ```
 */
export function fileBucketMemory(folder: string): BucketMemory {
  // Bucket ids are case-sensitive, but file names may not be.
  const fileOf = (bucket: string) =>
    join(folder, `${createHash('sha256').update(bucket).digest('hex')}.json`);
  return {
    async get(bucket) {
      const file = fileOf(bucket);
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      return text === undefined ? undefined : parsed(text, file);
    },
    set: (bucket, known) => replaceFile(fileOf(bucket), `${JSON.stringify(known)}\n`),
  };
}

function parsed(text: string, file: string): KnownBucket {
  try {
    const { recipientsDigest, signedAtMs } = JSON.parse(text) as Partial<KnownBucket>;
    if (typeof recipientsDigest === 'string' && typeof signedAtMs === 'number') {
      return { recipientsDigest, signedAtMs };
    }
  } catch {
    // The text is not JSON.
  }
  throw new StorageError('Untrusted', `${file} is damaged; remove it to ask the service again.`);
}
