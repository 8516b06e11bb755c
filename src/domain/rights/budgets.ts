// Budgets of the whole canister: for updates of callers who show neither a key nor a right, and for
// derivations by the network. Each is a token bucket. Queries and the inspection check a budget,
// and the update takes from it. Controllers set the sizes.

import { encodeUtf8 } from '../../lib/text.ts';
import { budgetDefaults, budgetMax } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type Allowance,
  secondsUntilTokens,
  type TokenBucket,
  takeTokens,
  tokensLeft,
} from '../shared/token-buckets.ts';

/**
 * `anonymousUpdates`: successful requests that anybody can send, such as ranges of public files.
 * `linkUpdates`: the same requests with a link's secret, so that strangers cannot use up the budget
 * of link holders. `refusals`: messages whose sender lacks the right. `derivations`: identities of
 * buckets, see identity-budget.ts.
 */
export type BudgetName = keyof typeof budgetDefaults;
export const budgetNames = Object.keys(budgetDefaults) as BudgetName[];

// 0: version 1 | burst u32 | per minute u32; in the meta map by name, absent for the default
const version = 1;

export function readBudget(stores: Stores, name: BudgetName): Allowance {
  const { allowances } = stores.heap;
  const allowance = allowances.get(name) ?? readStored(stores, name);
  allowances.set(name, allowance);
  return allowance;
}

function readStored(stores: Stores, name: BudgetName): Allowance {
  const stored = stores.meta.get(encodeUtf8(name));
  if (stored === undefined) return budgetDefaults[name];
  const reader = new RecordReader(stored, version);
  return { burst: reader.u32(), perMinute: reader.u32() };
}

export interface BudgetSizes {
  readonly burst: bigint;
  readonly perMinute: bigint;
}

export function parseBudget(name: BudgetName, { burst, perMinute }: BudgetSizes): Allowance {
  if (burst > BigInt(budgetMax) || perMinute > BigInt(budgetMax)) {
    throw new Refusal(
      'InvalidArgument',
      `burst and perMinute of ${name} must be 0 to ${budgetMax}; 0 allows no request.`,
    );
  }
  return { burst: Number(burst), perMinute: Number(perMinute) };
}

export function saveBudget(stores: Stores, name: BudgetName, allowance: Allowance): void {
  const { burst, perMinute } = allowance;
  const record = new RecordWriter(version).u32(burst).u32(perMinute).finish([]);
  stores.meta.set(encodeUtf8(name), record);
  stores.heap.allowances.set(name, allowance);
}

function bucketOf(stores: Stores, name: BudgetName): TokenBucket {
  return { name, allowance: readBudget(stores, name) };
}

/** Returns the updates that the budget allows, including fractions; negative in debt. */
export function budgetLeft(stores: Stores, name: BudgetName, nowNs: bigint): number {
  return tokensLeft(stores.heap.tokens, bucketOf(stores, name), nowNs);
}

export function isBudgetLeft(stores: Stores, name: BudgetName, nowNs: bigint): boolean {
  return budgetLeft(stores, name, nowNs) >= 1;
}

/** Takes tokens from the budget, even more than are left, see takeTokens(). */
export function spendBudget(
  stores: Stores,
  name: BudgetName,
  spent: { readonly amount?: number; readonly nowNs: bigint },
): void {
  takeTokens(stores.heap.tokens, bucketOf(stores, name), spent);
}

/** Returns the refusal of a request that needs an update while the budget is empty. */
export function spentBudget(stores: Stores, name: BudgetName, nowNs: bigint): Refusal {
  const asked = { amount: 1, nowNs };
  const seconds = secondsUntilTokens(stores.heap.tokens, bucketOf(stores, name), asked);
  const details = Number.isFinite(seconds) ? { seconds } : undefined;
  return new Refusal(
    'SlowDown',
    'Requests without an API key that the canister has to pay for, such as ranges of files, are ' +
      `limited (${name}): try again later, request the whole file, or send an API key.`,
    details,
  );
}
