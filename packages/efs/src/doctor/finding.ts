// Input and result of a check of `efs doctor`.

import { isStorageError } from '../../../client/src/storage-error.ts';
import type { Configuration } from '../config/config.ts';
import { exitCodeOf, exitCodes, sayFailure } from '../output/exit-code.ts';

export interface Finding {
  /** Undefined: unknown, or not checked. */
  readonly isGood: boolean | undefined;
  readonly message: string;
  /** Advice for the user, if the check failed. */
  readonly advice?: string;
  /** The canister that was checked, in a service of several. */
  readonly canisterId?: string;
}

export interface DoctorCase {
  readonly configuration: Configuration;
  readonly clientVersion: string;
  readonly buckets: readonly string[];
}

/**
 * Returns the finding of a check that threw. An unreachable service counts as not checked, because
 * the checks of address and certificate report it.
 */
export function failed(error: unknown, advice?: string): Finding {
  const isUnasked = exitCodeOf(error) === exitCodes.unreachable;
  const { problem = 'the service was not reached.' } = faultOf(error) ?? {};
  const message = isUnasked ? `Not checked: ${problem}` : sayFailure(error);
  return {
    isGood: isUnasked ? undefined : false,
    message,
    ...(advice !== undefined && { advice }),
  };
}

export interface Fault {
  readonly problem: string;
  readonly advice: string;
}

/** Returns the fault of the canister or the network, and the advice, that an error contains. */
export function faultOf(error: unknown): Fault | undefined {
  if (!isStorageError(error)) return undefined;
  const { problem, advice } = error.details ?? {};
  return typeof problem === 'string' && typeof advice === 'string'
    ? { problem, advice }
    : undefined;
}
