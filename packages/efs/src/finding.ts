// What a check of `efs doctor` is given, and what it finds.

import type { Configuration } from './config.ts';
import { sayFailure } from './exit-code.ts';

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

/** A check that could not be made is a failed one. */
export function failed(error: unknown, advice?: string): Finding {
  return { isGood: false, message: sayFailure(error), ...(advice !== undefined && { advice }) };
}
