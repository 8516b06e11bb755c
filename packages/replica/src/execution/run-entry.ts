// Runs one entry point in a canister's sandbox; the caller commits or reverts it.

import { performance } from 'node:perf_hooks';
import { isBadIndirectCall, webAssembly } from '../wasm/web-assembly.ts';
import type { Execution, HostSlot } from './canister.ts';
import {
  CanisterTrap,
  instructionsExceeded,
  memoryLimitExceeded,
  signatureMismatch,
  trapped,
} from './errors.ts';
import { discardPendingCall } from './ic0-calls.ts';
import { OutOfInstructions } from './ic0-host.ts';
import { dirtyPageInstructions } from './limits.ts';
import type { Sandbox } from './sandbox.ts';

export interface RunResult {
  /** Absent if the entry point succeeded. */
  readonly trap: CanisterTrap | undefined;
  readonly instructions: bigint;
  readonly heapPages: number;
  readonly stablePages: number;
  readonly milliseconds: number;
}

/** Parts of V8's messages and the network's messages for them. */
const runtimeMessages: readonly (readonly [string, string])[] = [
  ['unreachable', 'unreachable'],
  ['memory access out of bounds', 'heap out of bounds'],
  ['data segment', 'heap out of bounds'],
  ['divide by zero', 'integer division by 0'],
  ['remainder by zero', 'integer division by 0'],
  // An overflow is TrapCode::Other on the network.
  ['unrepresentable', 'unknown'],
  ['table', 'table out of bounds'],
];

/**
 * V8 has one message for a call of an empty place in the table and for one of another type, which
 * the network tells apart. Without empty places only the second is possible.
 */
function indirectCallTrap({ sandbox }: Execution): CanisterTrap {
  return sandbox.hasEmptyPlaces() ? trapped('unknown') : signatureMismatch();
}

/** Converts an error to a trap of the canister, so that no canister can end the replica. */
function asTrap(error: unknown, execution: Execution): CanisterTrap {
  if (execution.sandbox.isExhausted || error instanceof OutOfInstructions) {
    return instructionsExceeded(execution.limit);
  }
  if (error instanceof CanisterTrap) return error;
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return trapped('stack overflow');
  }
  if (error instanceof webAssembly.RuntimeError) {
    if (isBadIndirectCall(error)) return indirectCallTrap(execution);
    const known = runtimeMessages.find(([part]) => error.message.includes(part));
    return trapped(known?.[1] ?? error.message);
  }
  const why = error instanceof Error ? error.message : String(error);
  return trapped(`the replica failed: ${why}`);
}

/** IC spec, "Message execution": queries, callbacks and tasks have no wasm_memory_limit. */
function finish(execution: Execution): CanisterTrap | undefined {
  const { sandbox, canister } = execution;
  if (sandbox.instructionsLeft < 0n) {
    return instructionsExceeded(execution.limit);
  }
  const limit = canister.record.settings.wasmMemoryLimit;
  const isLimited = execution.context === 'U' || execution.context === 'I';
  if (isLimited && limit > 0n && BigInt(sandbox.heap().length) > limit) {
    return memoryLimitExceeded(limit);
  }
  return undefined;
}

function attempt(execution: Execution, invoke: (sandbox: Sandbox) => void): unknown {
  try {
    invoke(execution.sandbox);
    discardPendingCall(execution);
    return undefined;
  } catch (error) {
    return error ?? new Error('nothing was thrown');
  }
}

export function runEntry(options: {
  readonly execution: Execution;
  readonly slot: HostSlot;
  readonly invoke: (sandbox: Sandbox) => void;
}): RunResult {
  const { execution, slot } = options;
  const { sandbox, stable, limit } = execution;
  const started = performance.now();
  const stableBefore = stable.dirtyPages();
  sandbox.instructionsLeft = limit;
  slot.execution = execution;
  const thrown = attempt(execution, options.invoke);
  slot.execution = undefined;
  let trap = thrown === undefined ? undefined : asTrap(thrown, execution);
  const heapPages = sandbox.dirtyPages();
  const left = sandbox.instructionsLeft - BigInt(heapPages) * dirtyPageInstructions;
  sandbox.instructionsLeft = left;
  trap ??= finish(execution);
  return {
    trap,
    instructions: left < 0n ? limit : limit - left,
    heapPages,
    stablePages: stable.dirtyPages() - stableBefore,
    milliseconds: performance.now() - started,
  };
}
