// In whose name an upload in parts is worked at, how much at a time, and until when.

import type { Account } from '../account.ts';
import type { ChunkRoom } from '../chunk-source.ts';

export interface PartWork {
  readonly account: Account;
  /** Its bucket is end-to-end. */
  readonly isSealed: boolean;
  /** Requests at a time to the service. */
  readonly concurrency: number;
  /** The memory for chunks that all requests share. */
  readonly room: ChunkRoom;
  readonly signal: AbortSignal;
}
