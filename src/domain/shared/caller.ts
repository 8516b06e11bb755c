// The caller and the time, passed to every operation: the domain reads no clock and no system.

import { Refusal } from './refusal.ts';

export interface Caller {
  /** The principal's bytes; one byte 0x04 is the anonymous one. */
  readonly principal: Uint8Array;
  readonly isController: boolean;
}

/** One update of an API key: see domain/rights/key-budgets.ts. */
export interface KeyCharge {
  /** Length of the message. */
  readonly bytes: number;
  /** The inspection looks at the budget; the update takes from it. */
  readonly isInspected: boolean;
}

export interface Call {
  readonly caller: Caller;
  /** Nanoseconds since 1970. */
  readonly nowNs: bigint;
  /** For updates and their inspection: what an API key that comes with the message pays. */
  readonly charge?: KeyCharge | undefined;
}

/** Refuses a caller who is not a controller of the canister. */
export function requireController({ caller }: Call): void {
  if (caller.isController) return;
  throw new Refusal(
    'AccessDenied',
    'Only controllers of the canister do this: call with the identity that deployed it.',
  );
}

export function isAnonymous(caller: Caller): boolean {
  return caller.principal.length === 1 && caller.principal[0] === 4;
}
