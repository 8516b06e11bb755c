// State that is only on the heap, besides secrets. An upgrade clears it, and nothing is lost.

import type { RootKeyEntry } from './root-key-entry.ts';
import type { ServiceRole } from './service-role.ts';
import type { Allowance, TokenLevels } from './token-buckets.ts';

export interface HeapState {
  /** As they are stored, once a message has read them: each key that is opened asks for them. */
  rootKeyEntries: readonly RootKeyEntry[] | undefined;
  /** As it is stored, once a message has read it. */
  role: ServiceRole | undefined;
  /** Sizes of budgets by name, as they are stored, once a message has read them. */
  readonly allowances: Map<string, Allowance>;
  /** Levels of every budget, see token-buckets.ts. */
  readonly tokens: TokenLevels;
  /** Contents that are being read by streams, and until when. */
  readonly streams: Map<number, bigint>;
}

export function createHeapState(): HeapState {
  return {
    rootKeyEntries: undefined,
    role: undefined,
    allowances: new Map(),
    tokens: new Map(),
    streams: new Map(),
  };
}
