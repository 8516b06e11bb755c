// One message of replicated execution, atomic: it is run, and either committed with its record or
// taken back. What follows from it (answers, calls) is the caller's business.

import type { MessageReport, Reject } from '../core.ts';
import type { CanisterRecord, Execution } from './canister.ts';
import { entryKind } from './context.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord, nextTime } from './core-state.ts';
import { rejectOfTrap, storageFailed } from './errors.ts';
import type { ExecutionOptions } from './execution.ts';
import { createExecution } from './execution.ts';
import { changedInstance } from './instance-image.ts';
import { instructionLimit } from './limits.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';
import { executionCycles } from './prices.ts';
import type { RunResult } from './run-entry.ts';
import { runEntry } from './run-entry.ts';
import type { Sandbox } from './sandbox.ts';

interface Run {
  readonly execution: Execution;
  readonly invoke: (sandbox: Sandbox) => void;
  readonly kind?: MessageReport['kind'];
  /** Paid already, for taking the message in; a part of the report. */
  readonly ingressCycles?: bigint;
}

export function reportOf(
  execution: Execution,
  result: RunResult,
  options: { readonly cycles: bigint; readonly kind?: MessageReport['kind'] },
): MessageReport {
  const { response } = execution.effects;
  return {
    canisterId: execution.canister.idText,
    kind: options.kind ?? entryKind(execution.context),
    method: execution.method,
    instructions: result.instructions,
    cycles: options.cycles,
    heapPages: result.heapPages,
    stablePages: result.stablePages,
    milliseconds: result.milliseconds,
    argBytes: execution.arg.length,
    replyBytes: response?.status === 'replied' ? response.arg.length : 0,
    ...(result.trap ? { error: result.trap.message } : {}),
  };
}

/** The record after a message that ended well. */
function changedRecord(execution: Execution, cost: bigint): CanisterRecord {
  const { effects, canister, sandbox } = execution;
  const cycles = effects.cycles + execution.heldCycles - cost;
  return {
    ...canister.record,
    certifiedData: effects.certifiedData ?? canister.record.certifiedData,
    globalTimer: effects.globalTimer ?? canister.record.globalTimer,
    cycles: cycles > 0n ? cycles : 0n,
    version: canister.record.version + 1n,
    lowMemoryHook: nextLowMemoryHook(canister.record, sandbox.heap().length),
  };
}

type MessageOptions = Omit<ExecutionOptions, 'world' | 'sandbox' | 'stable' | 'limit' | 'time'> & {
  /** Of instructions, where it is not that of the context. */
  readonly limit?: bigint;
};

/** What a canister needs to run a message, from its own state and the replica's. */
export function prepare(state: EngineState, options: MessageOptions): Execution | undefined {
  const { canister } = options;
  if (canister.sandbox === undefined) return undefined;
  const limit = options.limit ?? instructionLimit(state.world.limits, options.context);
  const { cycles } = canister.record;
  const prepaid = executionCycles(limit);
  return createExecution({
    ...options,
    heldCycles: prepaid < cycles ? prepaid : cycles,
    world: state.world,
    sandbox: canister.sandbox,
    stable: state.store.stableMemory(canister.idText),
    limit,
    time: nextTime(state, canister),
  });
}

function undo(execution: Execution): void {
  execution.sandbox.rollback();
  execution.stable.rollback();
}

/** Takes a message back; what it cost is paid all the same. */
function abandon(execution: Execution, cost: bigint): void {
  const { canister } = execution;
  undo(execution);
  const cycles = canister.record.cycles - cost;
  canister.record = { ...canister.record, cycles: cycles > 0n ? cycles : 0n };
}

/** IC spec, `query_as_update`: a query run as an update answers, and its memory is as before. */
function commit(state: EngineState, execution: Execution, cost: bigint): void {
  const { canister, sandbox, context } = execution;
  const isQuery = context === 'RQ';
  if (isQuery) undo(execution);
  const record = changedRecord(execution, cost);
  const heap = () => changedInstance(execution);
  commitRecord(state, isQuery ? { canister, record } : { canister, record, heap });
  if (!isQuery) sandbox.commit();
}

/** Runs and commits. Returns why it was taken back, if it was. */
export function runMessage(state: EngineState, run: Run): Reject | undefined {
  const { execution, ingressCycles = 0n } = run;
  const { canister, callContext } = execution;
  const result = runEntry({ execution, slot: canister.slot, invoke: run.invoke });
  const cost = executionCycles(result.instructions);
  const kind = run.kind ? { kind: run.kind } : {};
  if (callContext) callContext.instructions += result.instructions;
  state.onReport(reportOf(execution, result, { cycles: cost + ingressCycles, ...kind }));
  if (result.trap) {
    abandon(execution, cost);
    return rejectOfTrap(canister.idText, result.trap);
  }
  try {
    commit(state, execution, cost);
    return undefined;
  } catch (error) {
    abandon(execution, cost);
    return storageFailed(error instanceof Error ? error.message : String(error));
  }
}
