// Who calls and when, handed into every operation: the domain asks no clock and no system for it.

export interface Caller {
  /** The principal's bytes; one byte 0x04 is the anonymous one. */
  readonly principal: Uint8Array;
  readonly isController: boolean;
}

export interface Call {
  readonly caller: Caller;
  /** Nanoseconds since 1970. */
  readonly nowNs: bigint;
}

export function isAnonymous(caller: Caller): boolean {
  return caller.principal.length === 1 && caller.principal[0] === 4;
}
