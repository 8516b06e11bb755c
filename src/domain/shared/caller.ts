// The caller and the time, which every operation receives: the domain does not read the clock.

import { Refusal } from './refusal.ts';

export interface Caller {
  /** The principal's bytes; the single byte 0x04 is the anonymous principal. */
  readonly principal: Uint8Array;
  readonly isController: boolean;
}

/** The charge for one update with an API key, see domain/rights/key-budgets.ts. */
export interface KeyCharge {
  /** Length of the message. */
  readonly bytes: number;
  /** Whether the inspection only checks the budget; the update takes from it. */
  readonly isInspected: boolean;
  /**
   * Set once a key's budget has paid for the update, or can pay for the inspected one. The key
   * still pays for further work, see chargeWork().
   */
  isPaid?: boolean;
}

export interface Call {
  readonly caller: Caller;
  /** Nanoseconds since 1970. */
  readonly nowNs: bigint;
  /** For updates and their inspection: the charge to the message's API key. */
  readonly charge?: KeyCharge | undefined;
}

/** Refuses a caller who is not a controller of the canister. */
export function requireController({ caller }: Call): void {
  if (caller.isController) return;
  throw new Refusal(
    'AccessDenied',
    'Only controllers of the canister may do this: call with the identity that deployed it.',
  );
}

export function isAnonymous(caller: Caller): boolean {
  return caller.principal.length === 1 && caller.principal[0] === 4;
}
