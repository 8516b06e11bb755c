// The limits of the Internet Computer that the engine enforces, for an application subnet. Tests
// lower them to be fast. Units are in the names.

import type { Context } from './context.ts';

export interface Limits {
  /** Limit for updates, timers, heartbeats and callbacks. */
  readonly updateInstructions: bigint;
  readonly queryInstructions: bigint;
  readonly inspectInstructions: bigint;
  /** pre_upgrade, start and init or post_upgrade together. */
  readonly installInstructions: bigint;
  readonly replicatedReplyBytesMax: number;
  readonly queryReplyBytesMax: number;
  /** A request between canisters of one subnet. */
  readonly callBytesMax: number;
  readonly certifiedDataBytesMax: number;
  /** Calls from one canister to another that wait for an answer. */
  readonly callsPerPairMax: number;
  /** Waiting calls that each canister can have, whatever others do. */
  readonly guaranteedCalls: number;
  /** Waiting calls of all canisters; beyond it only the guaranteed ones are accepted. */
  readonly subnetCallsMax: number;
  readonly compositeDepthMax: number;
  /** The cost of each call of a composite query, without the callee's work. */
  readonly compositeCallInstructions: bigint;
  /** Stable memory that one message can read or write, and that it can change. */
  readonly updateStableBytesMax: number;
  readonly queryStableBytesMax: number;
  readonly installStableBytesMax: number;
  /** Bytes of all canisters above which cycles are reserved for added memory. */
  readonly subnetStorageThreshold: bigint;
  readonly subnetStorageMax: bigint;
  readonly stopTimeoutNs: bigint;
  readonly bestEffortSecondsMax: number;
  readonly heartbeatIntervalMs: number;
  readonly methodNameBytesMax: number;
}

const million = 1_000_000n;
const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

export const networkLimits: Limits = {
  updateInstructions: 40_000n * million,
  queryInstructions: 5_000n * million,
  inspectInstructions: 200n * million,
  installInstructions: 300_000n * million,
  replicatedReplyBytesMax: 2 * mebibyte,
  queryReplyBytesMax: 3 * mebibyte,
  callBytesMax: 10 * mebibyte,
  certifiedDataBytesMax: 32,
  // `dfinity/ic` rs/replicated_state/src/canister_state/queues.rs, DEFAULT_QUEUE_CAPACITY: a call
  // also reserves the place of its answer.
  callsPerPairMax: 500,
  // rs/config/src/execution_environment.rs, CANISTER_GUARANTEED_CALLBACK_QUOTA and
  // SUBNET_CALLBACK_SOFT_LIMIT.
  guaranteedCalls: 50,
  subnetCallsMax: 1_000_000,
  compositeDepthMax: 6,
  compositeCallInstructions: 50n * million,
  updateStableBytesMax: 2 * gibibyte,
  queryStableBytesMax: gibibyte,
  installStableBytesMax: 8 * gibibyte,
  // rs/config/src/execution_environment.rs, SUBNET_MEMORY_THRESHOLD and SUBNET_MEMORY_CAPACITY.
  subnetStorageThreshold: 750n * 2n ** 30n,
  subnetStorageMax: 2n ** 41n,
  stopTimeoutNs: 300_000_000_000n,
  bestEffortSecondsMax: 300,
  heartbeatIntervalMs: 1_000,
  methodNameBytesMax: 20_000,
};

/** The default of the setting `wasm_memory_limit`. */
export const defaultWasmMemoryLimitBytes = 3n * 1024n * 1024n * 1024n;
/** `dfinity/ic` `rs/config/src/execution_environment.rs`,
 * MAX_ENVIRONMENT_VARIABLE_NAME_LENGTH and MAX_ENVIRONMENT_VARIABLE_VALUE_LENGTH. */
export const environmentTextBytesMax = 128;
export const defaultFreezingThresholdSeconds = 2_592_000n;

export const dirtyPageInstructions = 1_000n;

type MessageClass = 'update' | 'query' | 'inspect' | 'install';

/**
 * A query has a query's limit even in replicated mode: `execute_call_or_task` of
 * rs/execution_environment/src/execution_environment.rs.
 */
function classOf(context: Context): MessageClass {
  switch (context) {
    case 's':
    case 'I':
    case 'G':
      return 'install';
    case 'F':
      return 'inspect';
    case 'U':
    case 'Ry':
    case 'Rt':
    case 'C':
    case 'T':
      return 'update';
    default:
      return 'query';
  }
}

/** rs/execution_environment/src/execution/response.rs, RESERVED_CLEANUP_INSTRUCTIONS_IN_PERCENT. */
const cleanupPercent = 5n;

/** Returns the instruction limit of such a message; a callback and its cleanup share it. */
export function instructionLimit(limits: Limits, context: Context): bigint {
  const limit = limits[`${classOf(context)}Instructions`];
  return context === 'Ry' || context === 'Rt' ? limit - (limit * cleanupPercent) / 100n : limit;
}

/**
 * Returns the bytes of stable memory, in whole 4 KiB pages, that one message can read or write, and
 * that it can change: `rs/config/src/embedders.rs`, STABLE_MEMORY_ACCESSED_PAGE_LIMIT_* and
 * STABLE_MEMORY_DIRTY_PAGE_LIMIT_*.
 */
export function stableBytesLimit(limits: Limits, context: Context): number {
  // Called for each access, so it builds no strings.
  const group = classOf(context);
  if (group === 'install') return limits.installStableBytesMax;
  return group === 'update' ? limits.updateStableBytesMax : limits.queryStableBytesMax;
}
