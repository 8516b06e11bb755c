// What a check of `efs doctor` is given, and what it finds.

import type { Configuration } from './config.ts';
import { exitCodeOf, exitCodes, sayFailure } from './exit-code.ts';

export interface Finding {
  /** Undefined: it cannot be told, or is not asked. */
  readonly isGood: boolean | undefined;
  readonly message: string;
  /** What to do; with what is not good. */
  readonly advice?: string;
}

export interface DoctorCase {
  readonly configuration: Configuration;
  readonly clientVersion: string;
  /** Those that the caller wants to use. */
  readonly buckets: readonly string[];
}

/**
 * What a check has thrown. Where the service is not reached the address and the certificate say
 * so, and the others cannot be asked.
 */
export function failed(error: unknown, advice?: string): Finding {
  const isUnasked = exitCodeOf(error) === exitCodes.unreachable;
  const message = isUnasked
    ? 'It cannot be asked: the service was not reached.'
    : sayFailure(error);
  return {
    isGood: isUnasked ? undefined : false,
    message,
    ...(advice !== undefined && { advice }),
  };
}
