// The hourly budget of an API key for updates and for their bytes. Keys without `read` are intended
// for drop boxes, whose users the owner may not know, so they have a budget by default. The levels
// are on the heap, so an upgrade fills every budget.

import { keyBytesPerHourMin, keyUpdatesPerHourMax, leavesPerUpdate } from '../../limits.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { secondsUntilTokens, type TokenBucket, takeTokens } from '../shared/token-buckets.ts';
import {
  type ApiKey,
  defaultKeyBudget,
  findKey,
  type KeyBudget,
  keyId,
  type Permission,
} from './api-keys.ts';

export interface SentBudget {
  /** 0n: no limit; absent: the default. */
  readonly updatesPerHour?: bigint | undefined;
  readonly bytesPerHour?: bigint | undefined;
}

/** Parses the limits; refuses values out of range; absent ones get the permissions' default. */
export function parseKeyBudget(sent: SentBudget, granted: readonly Permission[]): KeyBudget {
  const { updatesPerHour, bytesPerHour } = sent;
  const usual = defaultKeyBudget(granted);
  if (updatesPerHour !== undefined && updatesPerHour > BigInt(keyUpdatesPerHourMax)) {
    throw new Refusal(
      'InvalidArgument',
      `updatesPerHour is ${updatesPerHour}: send 1 to ${keyUpdatesPerHourMax}, or 0 for no limit.`,
    );
  }
  const isFew = bytesPerHour !== 0n && (bytesPerHour ?? Infinity) < keyBytesPerHourMin;
  if (isFew || (bytesPerHour ?? 0n) > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new Refusal(
      'InvalidArgument',
      `bytesPerHour is ${bytesPerHour}: send at least ${keyBytesPerHourMin}, so that each request fits, ` +
        `at most ${Number.MAX_SAFE_INTEGER}, or 0 for no limit.`,
    );
  }
  return {
    updatesPerHour: updatesPerHour === undefined ? usual.updatesPerHour : Number(updatesPerHour),
    bytesPerHour: bytesPerHour === undefined ? usual.bytesPerHour : Number(bytesPerHour),
  };
}

/** Refuses an update that exceeds the key's budget with SlowDown and the seconds to wait. */
export function checkKeyBudget(
  stores: Stores,
  key: ApiKey,
  update: { readonly bytes: number; readonly nowNs: bigint },
): void {
  const { nowNs } = update;
  for (const { bucket, amount, unit } of budgetsOf(key, update.bytes)) {
    const seconds = secondsUntilTokens(stores.heap.tokens, bucket, { amount, nowNs });
    if (seconds === 0) continue;
    const limit = bucket.allowance.burst;
    throw new Refusal(
      'SlowDown',
      Number.isFinite(seconds)
        ? `The API key has used its budget of ${limit} ${unit} an hour: try again in ${seconds} ` +
            'seconds, or use a key with a larger budget.'
        : `The request has ${amount} bytes, and the budget of the API key is ${limit} ${unit} an hour: ` +
            'send smaller requests, or use a key with a larger budget.',
      Number.isFinite(seconds) ? { limit, seconds } : { limit },
    );
  }
}

/**
 * Finds the API key of a message and charges it. Later checks of the message get the key in place
 * of its secret, so that each message is charged once.
 */
export function useKey(stores: Stores, call: Call, secret: string): ApiKey {
  const key = findKey(stores, secret, call.nowNs);
  chargeKey(stores, call, key);
  return key;
}

/**
 * Checks the key's budget in the inspection of a message, and takes from it in the update, of whose
 * changes the key is then the author.
 */
export function chargeKey(stores: Stores, call: Call, key: ApiKey | undefined): void {
  const { charge, nowNs } = call;
  stores.heap.usedKeyId = key?.id;
  if (key === undefined || charge === undefined || charge.isPaid) return;
  checkKeyBudget(stores, key, { bytes: charge.bytes, nowNs });
  const budgets = budgetsOf(key, charge.bytes);
  charge.isPaid = budgets.length > 0;
  if (charge.isInspected) return;
  for (const { bucket, amount } of budgets) {
    takeTokens(stores.heap.tokens, bucket, { amount, nowNs });
  }
}

/**
 * Charges the key of an update that was charged as one for the rest of its work, in certified
 * leaves. Never refuses: the key's budget goes into debt instead.
 */
export function chargeWork(
  stores: Stores,
  call: Call,
  { key, leaves }: { readonly key: ApiKey | undefined; readonly leaves: number },
): void {
  const amount = Math.floor(leaves / leavesPerUpdate);
  if (key === undefined || call.charge === undefined || amount === 0) return;
  const updates = budgetsOf(key, 0).find(({ unit }) => unit === 'updates');
  if (updates === undefined) return;
  takeTokens(stores.heap.tokens, updates.bucket, { amount, nowNs: call.nowNs });
}

interface Budget {
  readonly bucket: TokenBucket;
  readonly amount: number;
  readonly unit: string;
}

/** Returns the key's limits and what an update with that many bytes takes from each. */
function budgetsOf(key: ApiKey, bytes: number): Budget[] {
  const { budget, bounds } = key;
  // The upload links of a key share its budget: else their number would multiply it
  const isShared = bounds !== undefined && bounds.parent.length > 0;
  const id = isShared ? keyId(bounds.parent) : key.id;
  const all = [
    { perHour: budget.updatesPerHour, amount: 1, unit: 'updates' },
    { perHour: budget.bytesPerHour, amount: bytes, unit: 'bytes' },
  ];
  return all
    .filter(({ perHour }) => perHour > 0)
    .map(({ perHour, amount, unit }) => {
      const allowance = { burst: perHour, perMinute: perHour / 60 };
      return { amount, unit, bucket: { name: `key ${id} ${unit}`, allowance } };
    });
}
