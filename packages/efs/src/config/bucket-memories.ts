// Stores the modes of buckets beside the profiles, so that a command notices that a bucket is no
// longer end-to-end, and seldom waits for an update call that returns the mode.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileBucketMemory } from '../../../client/src/node/bucket-memory.ts';
import type { BucketMemory } from '../../../client/src/types/end-to-end.ts';
import type { Configuration } from './config.ts';
import { configFolder } from './profiles.ts';

type Service = Pick<Configuration, 'canisterId' | 'url' | 'host' | 'environment'>;

function folderOf({ canisterId, url, host, environment }: Service): string {
  const name = createHash('sha256')
    .update(`${canisterId ?? url ?? host}`)
    .digest('hex');
  return join(configFolder(environment), 'buckets', name.slice(0, 32));
}

/**
 * Records that a bucket is not end-to-end. Call it after this user created or changed an ordinary
 * bucket, or removed any bucket.
 */
export function forgetMode(service: Service, bucket: string): Promise<void> {
  return bucketMemory(service).set(bucket, { recipientsDigest: 'none', signedAtMs: 0 });
}

export function bucketMemory(service: Service): BucketMemory {
  const memory = fileBucketMemory(folderOf(service));
  return {
    get: (bucket) => memory.get(bucket),
    async set(bucket, known) {
      try {
        await memory.set(bucket, known);
      } catch (error) {
        // Without a writable folder, as in some containers, the mode is not stored.
        if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      }
    },
  };
}
