// The network's error codes: `dfinity/ic` rs/types/error_types/src/lib.rs, ErrorCode. The digit
// after the first zero is the reject code. Only the codes that the replica uses.

import type { RejectCode } from '../core.ts';

export interface ErrorCodes {
  /** Fatal. */
  IC0101: 'SubnetOversubscribed';
  /** Transient. */
  IC0203: 'CanisterQueueNotFound';
  IC0205: 'CanisterIdAlreadyExists';
  IC0206: 'StopCanisterRequestTimeout';
  IC0207: 'CanisterOutOfCycles';
  /** The destination is invalid. */
  IC0301: 'CanisterNotFound';
  IC0305: 'CanisterSnapshotNotFound';
  /** Explicit rejects. */
  IC0402: 'InsufficientMemoryAllocation';
  IC0403: 'InsufficientCyclesForCreateCanister';
  IC0406: 'CanisterRejectedMessage';
  IC0407: 'UnknownManagementMessage';
  IC0408: 'InvalidManagementPayload';
  IC0409: 'CanisterSnapshotImmutable';
  /** The canister's own errors. */
  IC0502: 'CanisterTrapped';
  IC0503: 'CanisterCalledTrap';
  IC0504: 'CanisterContractViolation';
  IC0505: 'CanisterInvalidWasm';
  IC0506: 'CanisterDidNotReply';
  IC0507: 'CanisterOutOfMemory';
  IC0508: 'CanisterStopped';
  IC0509: 'CanisterStopping';
  IC0510: 'CanisterNotStopped';
  IC0511: 'CanisterStoppingCancelled';
  IC0512: 'CanisterInvalidController';
  IC0513: 'CanisterFunctionNotFound';
  IC0514: 'CanisterNonEmpty';
  IC0520: 'InsufficientCyclesInCall';
  IC0521: 'CanisterWasmEngineError';
  IC0522: 'CanisterInstructionLimitExceeded';
  IC0524: 'CanisterMemoryAccessLimitExceeded';
  IC0525: 'QueryCallGraphTooDeep';
  IC0526: 'QueryCallGraphTotalInstructionLimitExceeded';
  IC0527: 'CompositeQueryCalledInReplicatedMode';
  IC0530: 'InsufficientCyclesInComputeAllocation';
  IC0531: 'InsufficientCyclesInMemoryAllocation';
  IC0532: 'InsufficientCyclesInMemoryGrow';
  IC0533: 'ReservedCyclesLimitExceededInMemoryAllocation';
  IC0534: 'ReservedCyclesLimitExceededInMemoryGrow';
  IC0536: 'CanisterMethodNotFound';
  IC0537: 'CanisterWasmModuleNotFound';
  IC0539: 'CanisterWasmMemoryLimitExceeded';
  IC0540: 'ReservedCyclesLimitIsTooLow';
  /** The outcome is unknown. */
  IC0601: 'DeadlineExpired';
  IC0602: 'ResponseDropped';
}

export type ErrorCode = keyof ErrorCodes;

/** The reject code of an error code. */
export type RejectCodeOf<Code extends ErrorCode> =
  Code extends `IC0${infer Digit extends RejectCode}${string}` ? Digit : never;

/** Error codes of traps, which are the canister's own errors. */
export type TrapCode = Extract<ErrorCode, `IC05${string}`>;
