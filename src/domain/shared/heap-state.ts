// State that is only on the heap, besides secrets. An upgrade clears it without losing information.

import type { RootKeyEntry } from './root-key-entry.ts';
import type { ServiceRole } from './service-role.ts';
import type { Allowance, TokenLevels } from './token-buckets.ts';

/** Ids of buckets in bytewise order: greater than `after`, up to `through` or to the end. */
export interface IdRange {
  /** '' precedes all ids. */
  readonly after: string;
  readonly through: string | undefined;
}

/** Ids to be reported in this round of reports and in the next one. */
export interface UnreportedIds {
  readonly present: IdRange;
  readonly next: IdRange | undefined;
}

/** The check of a bucket's rules that is under way, see administration/rule-work.ts. */
export interface RulePass {
  readonly bucketId: string;
  /** Index of the next rule. */
  readonly rule: number;
  /** Number of the rule's oldest files that could not be deleted. */
  readonly skipped: number;
  /** The earliest time at which the rules before have work again; undefined for none. */
  readonly checkAtNs: bigint | undefined;
}

export interface HeapState {
  /** The stored entries, after a message has read them; decrypting any key needs them. */
  rootKeyEntries: readonly RootKeyEntry[] | undefined;
  /** The stored role, after a message has read it. */
  role: ServiceRole | undefined;
  /** Ids of buckets that the volume has to report to its front, see buckets/public-buckets.ts. */
  unreported: UnreportedIds | undefined;
  /** When a front's volume last rejected a call, by its id: at most one entry for each volume. */
  readonly rejections: Map<string, bigint>;
  /** Stored sizes of budgets by name, after a message has read them. */
  readonly allowances: Map<string, Allowance>;
  /** Levels of every budget, see token-buckets.ts. */
  readonly tokens: TokenLevels;
  /** Contents that streams are reading, and the end of each stream. */
  readonly streams: Map<number, bigint>;
  /** Id of the API key that the present message has used. */
  usedKeyId: string | undefined;
  /** Key from which upkeep seeks the next maker of links to check; absent for the first one. */
  nextMaker: Uint8Array | undefined;
  rulePass: RulePass | undefined;
  /** Whether a renewal of files has begun that no timer knows, see files/renewal-progress.ts. */
  hasNewRenewal: boolean;
  /** Buckets with a subscription that waits for the next entry: as many as subscriptions. */
  readonly listeningBuckets: Set<string>;
  /** Buckets that got an entry while they were listening. */
  readonly wokenBuckets: Set<string>;
}

export function createHeapState(): HeapState {
  return {
    rootKeyEntries: undefined,
    role: undefined,
    unreported: undefined,
    rejections: new Map(),
    allowances: new Map(),
    tokens: new Map(),
    streams: new Map(),
    usedKeyId: undefined,
    nextMaker: undefined,
    rulePass: undefined,
    hasNewRenewal: false,
    listeningBuckets: new Set(),
    wokenBuckets: new Set(),
  };
}
