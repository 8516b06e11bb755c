// The context of work on a multipart upload: the account, the concurrency and the abort signal.

import type { Account } from '../account.ts';
import type { MemoryBudget } from '../chunk-source.ts';

export interface PartWork {
  readonly account: Account;
  /** Whether the bucket is end-to-end encrypted. */
  readonly isSealed: boolean;
  /** Number of concurrent requests to the service. */
  readonly concurrency: number;
  /** The limits on chunks in memory, which all requests share. */
  readonly memory: MemoryBudget;
  readonly signal: AbortSignal;
}
