// A rejected call, thrown by the in-process API.

import type { Reject, RejectCode } from './core.ts';

export class RejectError extends Error {
  override readonly name = 'RejectError';
  /** IC spec, "Reject codes". */
  readonly code: RejectCode;
  /** The replica's own code, such as `IC0503`. */
  readonly errorCode: string;

  constructor({ code, errorCode, message }: Reject) {
    super(message);
    this.code = code;
    this.errorCode = errorCode;
  }
}
