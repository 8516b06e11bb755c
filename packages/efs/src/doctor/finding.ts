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
}

export interface DoctorCase {
  readonly configuration: Configuration;
  readonly clientVersion: string;
  /** Those that the caller wants to use. */
  readonly buckets: readonly string[];
}

/**
 * The finding of a check that has thrown. Where the service cannot be asked, address and
 * certificate say why, and the other checks are left out.
 */
export function failed(error: unknown, advice?: string): Finding {
  const isUnasked = exitCodeOf(error) === exitCodes.unreachable;
  const { problem = 'the service was not reached.' } = faultOf(error) ?? {};
  const message = isUnasked ? `It cannot be asked: ${problem}` : sayFailure(error);
  return {
    isGood: isUnasked ? undefined : false,
    message,
    ...(advice !== undefined && { advice }),
  };
}

interface Fault {
  readonly problem: string;
  readonly advice: string;
}

/** The fault of the canister or the network that an error names, apart from its advice. */
export function faultOf(error: unknown): Fault | undefined {
  if (!isStorageError(error)) return undefined;
  const { problem, advice } = error.details ?? {};
  return typeof problem === 'string' && typeof advice === 'string'
    ? { problem, advice }
    : undefined;
}
