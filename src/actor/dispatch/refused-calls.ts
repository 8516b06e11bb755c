// Refused calls that the canister pays for. The interface promises `err`, which only the method can
// return, so the inspection accepts refused calls of strangers while the budget `refusals` lasts.
// After that, the inspection traps with the error text that the method would have returned.

import { isBudgetLeft, spendBudget } from '../../domain/rights/budgets.ts';
import type { KeyCharge } from '../../domain/shared/caller.ts';
import type { RefusalCode } from '../../domain/shared/refusal.ts';
import { refusedBytesPerToken, uncheckedArgumentBytesMax } from '../../limits.ts';
import { stores } from '../runtime/runtime.ts';
import { time } from '../runtime/system.ts';
import { methodTable } from './method-table.ts';

/**
 * Refusals of callers who have no right to the named thing, or who name something that does not
 * exist. Any other refusal goes to a caller whose right allows costlier calls anyway.
 */
const strangersCodes: ReadonlySet<RefusalCode> = new Set([
  'Unauthorized',
  'InvalidApiKey',
  'AccessDenied',
  'NoSuchBucket',
  'InvalidBucketId',
  'NoSuchFile',
  'NoSuchUpload',
  // The budget of an API key is used up.
  'SlowDown',
]);

interface RefusedCall {
  readonly method: string;
  readonly charge: KeyCharge;
}

function isCounted({ method, charge }: RefusedCall, code: RefusalCode): boolean {
  // A key whose creator has lost the bucket is charged before it is refused
  if (charge.isPaid && code !== 'InvalidApiKey') return false;
  if (strangersCodes.has(code)) return true;
  const counted = methodTable[method]?.countedRefusals;
  return counted === 'all' || (counted === 'large' && charge.bytes > uncheckedArgumentBytesMax);
}

/** Whether the inspection accepts a call that its method will refuse with that code. */
export function isRefusalAffordable(refused: RefusedCall, code: RefusalCode): boolean {
  return !isCounted(refused, code) || isBudgetLeft(stores, 'refusals', time());
}

/**
 * Charges a refused update to the budget, unless an API key has paid for it. Larger updates cost
 * more.
 */
export function countRefusal(refused: RefusedCall, result: object): void {
  if (!('err' in result)) return;
  // errorText() begins with the code.
  const [code] = String(result.err).split(':', 1);
  if (!isCounted(refused, code as RefusalCode)) return;
  const amount = 1 + Math.floor(refused.charge.bytes / refusedBytesPerToken);
  spendBudget(stores, 'refusals', { amount, nowNs: time() });
}
