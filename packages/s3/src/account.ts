// What the door needs of those who ask: the client library in their name.

import type { BucketSecrets } from '../../client/src/bucket-secrets.ts';
import type { Storage } from '../../client/src/storage.ts';

export interface Account {
  readonly storage: Storage;
  /** Whether buckets are end-to-end, and how long what is in their files is. */
  readonly secrets: Pick<BucketSecrets, 'mode' | 'plainSize'>;
  /** Who cannot list buckets, such as an API key, may have been told some. */
  readonly buckets?: readonly string[] | undefined;
}
