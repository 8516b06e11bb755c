// Runs one message of replicated execution atomically: it is either committed with its record or
// reverted. The caller handles the consequences (answers, calls).

import type { MessageReport, Reject } from '../core.ts';
import { chargeOn } from '../subnet-type.ts';
import type { Canister, CanisterRecord, Execution } from './canister.ts';
import { logChanges } from './canister-log.ts';
import { entryKind } from './context.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord, nextTime } from './core-state.ts';
import { type CanisterTrap, rejectOfTrap, storageFailed } from './errors.ts';
import type { ExecutionOptions } from './execution.ts';
import { createExecution } from './execution.ts';
import { allocatedInMessage, reserveInMessage } from './freezing.ts';
import { changedInstance } from './instance-image.ts';
import { instructionLimit } from './limits.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';
import { executionCycles } from './prices.ts';
import type { RunResult } from './run-entry.ts';
import { runEntry } from './run-entry.ts';
import type { Sandbox } from './sandbox.ts';
import { payForGrowth } from './storage-growth.ts';

interface Run {
  readonly execution: Execution;
  readonly invoke: (sandbox: Sandbox) => void;
  readonly kind?: MessageReport['kind'];
  /** Cycles already paid for accepting the message, which the report includes. */
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

function changedRecord(execution: Execution, paid: Payment): CanisterRecord {
  const { effects, canister, sandbox } = execution;
  const cycles = effects.cycles + execution.prepaidCycles - paid.cost - paid.reserved;
  return {
    ...canister.record,
    certifiedData: effects.certifiedData ?? canister.record.certifiedData,
    globalTimer: effects.globalTimer ?? canister.record.globalTimer,
    cycles: cycles > 0n ? cycles : 0n,
    reservedCycles: canister.record.reservedCycles + paid.reserved,
    version: canister.record.version + 1n,
    lowMemoryHook: nextLowMemoryHook(canister.record, sandbox.heap().length),
  };
}

type MessageOptions = Omit<ExecutionOptions, 'world' | 'sandbox' | 'stable' | 'limit' | 'time'> & {
  /** The limit of instructions, if it differs from that of the context. */
  readonly limit?: bigint;
};

/**
 * Creates the execution of a message, and prepays it unless `options` has prepaid cycles. Returns
 * undefined if the canister has no code.
 */
export function prepare(state: EngineState, options: MessageOptions): Execution | undefined {
  const { canister } = options;
  if (canister.sandbox === undefined) return undefined;
  const limit = options.limit ?? instructionLimit(state.world.limits, options.context);
  const price = chargeOn(state.world.subnetType, executionCycles(limit));
  const prepaidCycles = options.prepaidCycles ?? prepay(canister, price);
  return createExecution({
    ...options,
    prepaidCycles,
    world: state.world,
    sandbox: canister.sandbox,
    stable: state.store.stableMemory(canister.idText),
    limit,
    time: nextTime(state, canister),
  });
}

/** Deducts the wanted cycles, at most the balance, and returns the deducted amount. */
export function prepay(canister: Canister, wanted: bigint): bigint {
  const { cycles } = canister.record;
  const amount = wanted < cycles ? wanted : cycles;
  canister.record = { ...canister.record, cycles: cycles - amount };
  return amount;
}

function undo(execution: Execution): void {
  execution.sandbox.rollback();
  execution.stable.rollback();
}

/** Reverts a message, which is charged anyway. */
function abandon(execution: Execution, cost: bigint): void {
  const { canister } = execution;
  undo(execution);
  const cycles = canister.record.cycles + execution.prepaidCycles - cost;
  canister.record = { ...canister.record, cycles: cycles > 0n ? cycles : 0n };
}

/** Commits the lines of a reverted message to the log, with the reason of its trap. */
function commitLog(state: EngineState, execution: Execution, trap: CanisterTrap): void {
  const { canister } = execution;
  const values = logChanges(state.store, execution, { trap });
  if (values.length > 0) commitRecord(state, { canister, record: canister.record, values });
}

interface Payment {
  readonly cost: bigint;
  /** Cycles reserved for added memory. */
  readonly reserved: bigint;
}

/**
 * IC spec, `query_as_update`: a query run as an update answers, but its changes to memory are
 * undone.
 */
function commit(state: EngineState, execution: Execution, paid: Payment): void {
  const { canister, sandbox, context } = execution;
  const isQuery = context === 'RQ';
  if (isQuery) undo(execution);
  const record = changedRecord(execution, paid);
  const heap = () => changedInstance(execution);
  const values = logChanges(state.store, execution);
  commitRecord(state, { canister, record, values, ...(!isQuery && { heap }) });
  if (!isQuery) sandbox.commit();
}

/** IC spec, "Message execution", Min_balance: an answer can be executed below the threshold. */
function isFreeOfThreshold({ context }: Execution): boolean {
  return context === 'Ry' || context === 'Rt' || context === 'C';
}

function payStorage(
  state: EngineState,
  execution: Execution,
  before: bigint,
): bigint | CanisterTrap {
  if (execution.context === 'RQ') return 0n;
  const after = allocatedInMessage(execution);
  const { canister, effects } = execution;
  const least = isFreeOfThreshold(execution) ? 0n : reserveInMessage(execution);
  return payForGrowth(state, { canister, before, after, cycles: effects.cycles, least });
}

/** The end of a message: `failure` is the reason if it was reverted. */
interface Ended {
  readonly failure: Reject | undefined;
  readonly instructions: bigint;
  /** False if the disk refused the outcome or, after a trap, its log: then nothing is stored. */
  readonly isStored: boolean;
}

export function runMessage(state: EngineState, run: Run): Ended {
  const { execution, ingressCycles = 0n } = run;
  const { canister, callContext, context } = execution;
  const bytesBefore = allocatedInMessage(execution);
  const result = runEntry({ execution, slot: canister.slot, invoke: run.invoke });
  const { instructions } = result;
  // A cleanup is part of its callback.
  const price = context === 'C' ? instructions : executionCycles(instructions);
  const cost = chargeOn(state.world.subnetType, price);
  const reserved = result.trap ?? payStorage(state, execution, bytesBefore);
  const trap = typeof reserved === 'bigint' ? undefined : reserved;
  const kind = run.kind ? { kind: run.kind } : {};
  if (callContext) callContext.instructions += instructions;
  const ended = { ...result, trap };
  state.onReport(reportOf(execution, ended, { cycles: cost + ingressCycles, ...kind }));
  if (trap) abandon(execution, cost);
  try {
    if (typeof reserved === 'bigint') commit(state, execution, { cost, reserved });
    else commitLog(state, execution, reserved);
    const failure = trap && rejectOfTrap(canister.idText, trap);
    return { failure, instructions, isStored: true };
  } catch (error) {
    if (!trap) abandon(execution, cost);
    const why = error instanceof Error ? error.message : String(error);
    return { failure: storageFailed(why), instructions, isStored: false };
  }
}
