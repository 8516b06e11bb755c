// Replicated execution: calls, callbacks and system tasks, each atomic. A successful message is on
// disk before its answer or its calls leave. IC spec, "Abstract behavior: Message execution".

import type { Outcome, Reject } from '../core.ts';
import { chargeOn } from '../subnet-type.ts';
import { addOpenCall, removeOpenCall } from './call-limits.ts';
import type {
  CallContext,
  Canister,
  Closure,
  Execution,
  IncomingCall,
  OpenCall,
  OutgoingCall,
} from './canister.ts';
import { openContext } from './canister.ts';
import type { Context } from './context.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord, isController, refuseCall } from './core-state.ts';
import { answerBytes } from './cross-subnet.ts';
import {
  canisterNotFound,
  compositeInReplicatedMode,
  didNotReply,
  noMethod,
  outOfCycles,
  tooFewCyclesAttached,
} from './errors.ts';
import { missingCycles } from './freezing.ts';
import { chargeIdle } from './idle.ts';
import { sameHeap } from './instance-image.ts';
import { instructionLimit } from './limits.ts';
import { lowMemoryHookExport } from './low-memory-hook.ts';
import { executionCycles, responseCycles } from './prices.ts';
import { prepare, prepay, runMessage } from './run-message.ts';
import type { Sandbox } from './sandbox.ts';
import { finishStopping } from './stopping.ts';

/** Sends a performed call. The routing passes it in, because the routing imports this file. */
export type SendCall = (context: CallContext, call: OutgoingCall) => void;

/** After the last message of a call context: answers if no message did, and closes the context. */
function settle(context: CallContext, failure: Reject | undefined): void {
  if (context.openCalls > 0) return;
  const { canister } = context;
  canister.contexts.delete(context);
  if (!context.responded && context.respond) {
    context.responded = true;
    const refund = context.availableCycles;
    context.availableCycles = 0n;
    context.respond(failure ?? didNotReply(canister.idText), refund);
  }
}

function release(execution: Execution, send: SendCall): void {
  const { callContext: context, effects } = execution;
  if (context === undefined) return;
  context.availableCycles = effects.availableCycles;
  for (const call of effects.calls) send(context, call);
  if (effects.response && !context.responded) {
    context.responded = true;
    context.respond?.(effects.response, effects.refundCycles);
  }
}

function conclude(
  state: EngineState,
  execution: Execution,
  end: { readonly failure: Reject | undefined; readonly send: SendCall },
): void {
  if (end.failure === undefined) release(execution, end.send);
  if (execution.callContext) settle(execution.callContext, end.failure);
  finishStopping(state, execution.canister);
}

function refuse(canister: Canister, method: string): Reject | undefined {
  const exports = canister.module?.exports;
  if (exports?.has(`canister_update ${method}`) || exports?.has(`canister_query ${method}`)) {
    return undefined;
  }
  const isComposite = exports?.has(`canister_composite_query ${method}`) === true;
  return isComposite ? compositeInReplicatedMode() : noMethod(canister.idText, 'update', method);
}

/** IC spec, "Calls with insufficient cycles are rejected". */
function refuseCheap(canister: Canister, call: IncomingCall): Reject | undefined {
  const least = canister.record.settings.minimumIncomingCallCycles;
  if (call.cycles >= least || call.ingressCycles > 0n) return undefined;
  if (Buffer.compare(call.caller, canister.id.toUint8Array()) === 0) return undefined;
  return tooFewCyclesAttached(canister.idText, call.cycles, least);
}

/**
 * Returns the reason why the call cannot begin. Charges for accepting the call and looking up its
 * method.
 */
function refuseStart(
  state: EngineState,
  canister: Canister,
  options: { readonly call: IncomingCall; readonly context: Context },
): Reject | undefined {
  const { call, context } = options;
  const refused = refuseCall(canister, canister.idText) ?? refuseCheap(canister, call);
  if (refused) return refused;
  prepay(canister, call.ingressCycles);
  const instructions = instructionLimit(state.world.limits, context);
  const missing = missingCycles(state, canister, instructions);
  if (missing > 0n) {
    return outOfCycles(canister.idText, missing, isController(canister, call.caller));
  }
  const absent = refuse(canister, call.method);
  if (absent) prepay(canister, chargeOn(state.world.subnetType, executionCycles(0n)));
  return absent;
}

/** Executes an update, or a query in replicated mode. */
export function executeCall(
  state: EngineState,
  options: {
    readonly canister: Canister | undefined;
    readonly idText: string;
    readonly call: IncomingCall;
    readonly send: SendCall;
  },
): void {
  const { canister, call, send } = options;
  if (canister === undefined) {
    call.respond(canisterNotFound(options.idText), call.cycles);
    return;
  }
  chargeIdle(state, canister);
  const { caller, callerInfo, method, arg, respond, deadline } = call;
  const isUpdate = canister.module?.exports.has(`canister_query ${method}`) !== true;
  const context = isUpdate ? 'U' : 'RQ';
  const refused = refuseStart(state, canister, { call, context });
  if (refused) {
    call.respond(refused, call.cycles);
    return;
  }
  const { cycles } = call;
  const origin = { caller, callerInfo, respond, cycles, deadline };
  const callContext = openContext({ canister, ...origin });
  const execution = prepare(state, {
    context,
    canister,
    callContext,
    method,
    caller,
    arg,
  });
  if (execution === undefined) return;
  const name = `canister_${isUpdate ? 'update' : 'query'} ${method}`;
  const invoke = (sandbox: Sandbox) => sandbox.callExport(name);
  const { ingressCycles } = call;
  call.onBegin?.();
  const { failure } = runMessage(state, { execution, invoke, ingressCycles });
  conclude(state, execution, { failure, send });
}

/** Runs the cleanup of a trapped callback with its unused instructions; false if not stored. */
function runCleanup(state: EngineState, callback: Callback, instructions: bigint): boolean {
  const { context, call } = callback.open;
  const { onCleanup } = call;
  if (onCleanup === undefined) return forgetCall(state, context.canister);
  const { canister, caller } = context;
  const execution = prepare(state, {
    context: 'C',
    canister,
    callContext: context,
    method: call.method,
    caller,
    limit: instructions,
    prepaidCycles: prepay(canister, chargeOn(state.world.subnetType, instructions)),
    rejectCode: callback.outcome.status === 'rejected' ? callback.outcome.code : 0,
  });
  if (execution === undefined) return true;
  const ended = runMessage(state, { execution, invoke: invokeClosure(onCleanup) });
  if (ended.failure === undefined || !ended.isStored) return ended.isStored;
  return forgetCall(state, canister);
}

function invokeClosure(target: Closure): (sandbox: Sandbox) => void {
  return (sandbox) => sandbox.callTable(target.index, target.environment);
}

export interface Callback {
  readonly open: OpenCall;
  readonly outcome: Outcome;
  readonly refundedCycles: bigint;
}

/** Removes the open call of a trapped callback, which committed nothing; false if not stored. */
function forgetCall(state: EngineState, canister: Canister): boolean {
  const { sandbox, record } = canister;
  if (sandbox === undefined || !state.store.keepsHeaps) return true;
  try {
    commitRecord(state, { canister, record, heap: () => sameHeap(canister, sandbox) });
    return true;
  } catch {
    return false;
  }
}

/** Closes the call, and refunds the unused cycles of the answer's transmission. */
function takeAnswer(state: EngineState, { open, outcome, refundedCycles }: Callback): void {
  const { context, call } = open;
  const { canister } = context;
  removeOpenCall(state.world, open);
  const unused = (call.prepaid?.response ?? 0n) - responseCycles(answerBytes(outcome));
  giveBack(canister, refundedCycles + (unused > 0n ? unused : 0n));
}

function giveBack(canister: Canister, cycles: bigint): void {
  canister.record = { ...canister.record, cycles: canister.record.cycles + cycles };
}

/** Executes the answer to a call. If the disk refuses the outcome, the callback is repeated. */
export function executeCallback(state: EngineState, callback: Callback, send: SendCall): void {
  const { open, outcome, refundedCycles } = callback;
  const { context, call } = open;
  const { canister } = context;
  chargeIdle(state, canister);
  const before = canister.record;
  takeAnswer(state, callback);
  const prepaidCycles = call.prepaid?.callback ?? 0n;
  const isReply = outcome.status === 'replied';
  const execution = context.isDeleted
    ? undefined
    : prepare(state, {
        context: isReply ? 'Ry' : 'Rt',
        canister,
        callContext: context,
        method: call.method,
        caller: context.caller,
        refundedCycles,
        prepaidCycles,
        ...(isReply
          ? { arg: outcome.arg }
          : {
              rejectCode: outcome.code,
              rejectMessage: new TextEncoder().encode(outcome.message),
            }),
      });
  if (execution === undefined) {
    const left = prepaidCycles - executionCycles(0n);
    giveBack(canister, left > 0n ? left : 0n);
    return;
  }
  const invoke = invokeClosure(isReply ? call.onReply : call.onReject);
  const { failure, instructions, isStored } = runMessage(state, { execution, invoke });
  const left = state.world.limits.updateInstructions - instructions;
  if (!isStored || (failure && !runCleanup(state, callback, left))) {
    canister.record = before;
    addOpenCall(state.world, open);
    state.unstored.push(() => executeCallback(state, callback, send));
    state.onTimer();
    return;
  }
  conclude(state, execution, { failure, send });
}

export type SystemTask = 'timer' | 'heartbeat' | 'lowMemory';

export const timerExport = 'canister_global_timer';

const taskExports: Readonly<Record<SystemTask, string>> = {
  timer: timerExport,
  heartbeat: 'canister_heartbeat',
  lowMemory: lowMemoryHookExport,
};

/** Returns whether the canister has a global timer that is due and a method for it. */
export function isTimerDue({ record, module }: Canister, now: bigint): boolean {
  const isDue = record.globalTimer > 0n && record.globalTimer <= now;
  return isDue && module?.exports.has(timerExport) === true;
}

/**
 * Returns whether the task has something to run. Clears timer and hook before their task runs, even
 * if it traps; the task's own commit stores this, so that a restart before that commit repeats the
 * task. IC spec, "Global timer".
 */
function takeTask(state: EngineState, canister: Canister, kind: SystemTask): boolean {
  const { record } = canister;
  if (kind === 'timer') {
    if (!isTimerDue(canister, state.world.now())) return false;
    canister.record = { ...record, globalTimer: 0n };
  }
  if (kind === 'lowMemory') {
    if (record.lowMemoryHook !== 'ready') return false;
    canister.record = { ...record, lowMemoryHook: 'executed' };
  }
  return canister.module?.exports.has(taskExports[kind]) === true;
}

/**
 * Executes the global timer, a heartbeat, or the hook for low memory. Returns false if the task
 * stays due: the canister is not running or has too few cycles, or the disk did not accept the
 * outcome. `dfinity/ic` rs/execution_environment/src/execution/call_or_task.rs.
 */
export function executeTask(
  state: EngineState,
  options: {
    readonly canister: Canister;
    readonly kind: SystemTask;
    readonly send: SendCall;
  },
): boolean {
  const { canister, kind, send } = options;
  chargeIdle(state, canister);
  const { updateInstructions } = state.world.limits;
  if (refuseCall(canister, canister.idText)) return false;
  if (missingCycles(state, canister, updateInstructions) > 0n) return false;
  const before = canister.record;
  if (!takeTask(state, canister, kind)) return true;
  const caller = new Uint8Array();
  const callContext = openContext({ canister, caller });
  const execution = prepare(state, { context: 'T', canister, callContext, caller });
  if (execution === undefined) return true;
  const invoke = (sandbox: Sandbox) => sandbox.callExport(taskExports[kind]);
  const { failure, isStored } = runMessage(state, { execution, kind, invoke });
  if (!isStored) {
    canister.record = before;
    canister.contexts.delete(callContext);
    return false;
  }
  conclude(state, execution, { failure, send });
  return true;
}
