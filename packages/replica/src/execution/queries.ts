// Execution without changes: queries, composite queries with their calls, and inspect_message. IC
// spec, "Query call" and "Ingress message inspection".

import { Principal } from '@dfinity/principal';
import type { CallMessage, ManagementCall, Outcome, Reject } from '../core.ts';
import type { CallContext, Canister, Execution, OutgoingCall } from './canister.ts';
import type { Context } from './context.ts';
import { entryKind } from './context.ts';
import type { EngineState } from './core-state.ts';
import { nextTime, refuseCall } from './core-state.ts';
import {
  callDepthExceeded,
  callGraphInstructionsExceeded,
  canisterNotFound,
  didNotReply,
  frozen,
  inspectRejected,
  noMethod,
  rejectOfTrap,
  stoppedForQueries,
} from './errors.ts';
import type { ExecutionOptions } from './execution.ts';
import { createExecution } from './execution.ts';
import { freezingReserve } from './freezing.ts';
import { chargeIdle } from './idle.ts';
import { QueryStable } from './query-stable.ts';
import { argumentOf } from './routing.ts';
import type { RunResult } from './run-entry.ts';
import { runEntry } from './run-entry.ts';
import { reportOf } from './run-message.ts';
import type { Sandbox, SandboxState } from './sandbox.ts';

/** Instructions left for a query and all its calls. */
interface Budget {
  left: bigint;
}

/** One canister's part in a query: its callbacks see the changes of its method. */
interface Frame {
  readonly state: EngineState;
  readonly canister: Canister;
  readonly sandbox: Sandbox;
  readonly stable: QueryStable;
  readonly context: CallContext;
  readonly budget: Budget;
  readonly depth: number;
  readonly hasCertificate: boolean;
  kept: SandboxState | undefined;
}

type EntryOptions = Pick<
  ExecutionOptions,
  'context' | 'method' | 'arg' | 'rejectCode' | 'rejectMessage' | 'hasCertificate'
>;

interface Ended {
  readonly execution: Execution;
  readonly result: RunResult;
}

/** Runs one entry point of the frame and removes its changes from the sandbox again. */
function runInFrame(
  frame: Frame,
  entry: EntryOptions & { readonly keeps?: boolean; invoke: (sandbox: Sandbox) => void },
): Ended {
  const { state, canister, sandbox, stable, context, budget } = frame;
  const { invoke, keeps, ...options } = entry;
  const execution = createExecution({
    ...options,
    world: state.world,
    canister,
    sandbox,
    stable,
    callContext: context,
    caller: context.caller,
    limit: budget.left > 0n ? budget.left : 0n,
    time: nextTime(state, canister),
  });
  if (frame.kept) sandbox.apply(frame.kept);
  const result = runEntry({ execution, slot: canister.slot, invoke });
  if (keeps && !result.trap) frame.kept = sandbox.capture();
  sandbox.rollback();
  budget.left -= result.instructions;
  context.instructions += result.instructions;
  const kind = entryKind(options.context);
  state.onReport(reportOf(execution, result, { cycles: 0n, kind }));
  return { execution, result };
}

/** A context that the canister does not list, because stopping does not wait for queries. */
function detachedContext(
  canister: Canister,
  { sender, senderInfo }: Pick<CallMessage, 'sender' | 'senderInfo'>,
): CallContext {
  return {
    canister,
    caller: sender.toUint8Array(),
    callerInfo: senderInfo,
    deadline: 0n,
    respond: () => undefined,
    responded: false,
    availableCycles: 0n,
    openCalls: 0,
    instructions: 0n,
    isDeleted: false,
  };
}

function outcomeOf(ended: Ended): Outcome {
  const { execution, result } = ended;
  const id = execution.canister.idText;
  if (result.trap) return rejectOfTrap(id, result.trap);
  return execution.effects.response ?? didNotReply(id);
}

/** Answers the management methods that change nothing, for users and for composite queries. */
async function queryManagement(
  state: EngineState,
  call: Pick<ManagementCall, 'caller' | 'fromCanister' | 'method' | 'arg'>,
): Promise<Outcome> {
  const result = await state.management().execute({ ...call, cycles: 0n, isQuery: true });
  return result.outcome;
}

function answerCall(frame: Frame, call: OutgoingCall): Promise<Outcome> {
  const canisterId = Principal.fromUint8Array(call.callee);
  frame.budget.left -= frame.state.world.limits.compositeCallInstructions;
  if (call.callee.length === 0) {
    const { method } = call;
    const request = {
      caller: frame.canister.id,
      fromCanister: true,
      method,
      arg: argumentOf(call),
    };
    return queryManagement(frame.state, request);
  }
  return runQuery(frame.state, {
    message: { sender: frame.canister.id, canisterId, method: call.method, arg: argumentOf(call) },
    budget: frame.budget,
    depth: frame.depth + 1,
    hasCertificate: false,
  });
}

function runCallback(frame: Frame, call: OutgoingCall, outcome: Outcome): Ended {
  const isReply = outcome.status === 'replied';
  const target = isReply ? call.onReply : call.onReject;
  const rejectCode = isReply ? 0 : outcome.code;
  const answer = isReply
    ? { arg: outcome.arg }
    : { rejectCode, rejectMessage: new TextEncoder().encode(outcome.message) };
  const context: Context = isReply ? 'CRy' : 'CRt';
  const ended = runInFrame(frame, {
    ...answer,
    context,
    keeps: true,
    invoke: (sandbox) => sandbox.callTable(target.index, target.environment),
  });
  const { onCleanup } = call;
  if (ended.result.trap && onCleanup) {
    runInFrame(frame, {
      context: 'CC',
      keeps: true,
      rejectCode,
      invoke: (sandbox) => sandbox.callTable(onCleanup.index, onCleanup.environment),
    });
  }
  return ended;
}

async function runComposite(frame: Frame, message: CallMessage): Promise<Outcome> {
  const { method, arg } = message;
  const calls: OutgoingCall[] = [];
  let response: Outcome | undefined;
  const take = ({ execution, result }: Ended): Outcome | undefined => {
    if (!result.trap) calls.push(...execution.effects.calls);
    response ??= result.trap ? undefined : execution.effects.response;
    frame.context.responded = response !== undefined;
    return result.trap ? rejectOfTrap(frame.canister.idText, result.trap) : undefined;
  };
  const first = runInFrame(frame, {
    context: 'CQ',
    method,
    arg,
    keeps: true,
    hasCertificate: frame.hasCertificate,
    invoke: (sandbox) => sandbox.callExport(`canister_composite_query ${method}`),
  });
  let failure = take(first);
  for (let call = calls.shift(); call !== undefined; call = calls.shift()) {
    const outcome = await answerCall(frame, call);
    if (frame.budget.left <= 0n) return callGraphInstructionsExceeded();
    failure = take(runCallback(frame, call, outcome)) ?? failure;
  }
  return response ?? failure ?? didNotReply(frame.canister.idText);
}

interface Query {
  readonly message: CallMessage;
  readonly budget: Budget;
  readonly depth: number;
  readonly hasCertificate: boolean;
}

async function runQuery(state: EngineState, query: Query): Promise<Outcome> {
  const { message, budget, depth, hasCertificate } = query;
  const idText = message.canisterId.toText();
  const canister = state.canisters.get(idText);
  if (canister) chargeIdle(state, canister);
  if (canister?.record.status === 'stopped') return stoppedForQueries(idText);
  const refused = refuseCall(canister, idText);
  if (refused) return refused;
  if (!canister?.sandbox) return canisterNotFound(idText);
  if (freezingReserve(state, canister) > canister.record.cycles) return frozen(idText);
  if (depth > state.world.limits.compositeDepthMax) return callDepthExceeded();
  const { method, arg } = message;
  const exports = canister.module?.exports;
  const isComposite = exports?.has(`canister_composite_query ${method}`) === true;
  if (!isComposite && !exports?.has(`canister_query ${method}`)) {
    return noMethod(idText, 'query', method);
  }
  const frame: Frame = {
    state,
    canister,
    sandbox: canister.sandbox,
    stable: new QueryStable(state.store.stableMemory(idText)),
    context: detachedContext(canister, message),
    budget,
    depth,
    hasCertificate,
    kept: undefined,
  };
  if (isComposite) return runComposite(frame, message);
  const invoke = (sandbox: Sandbox) => sandbox.callExport(`canister_query ${method}`);
  return outcomeOf(runInFrame(frame, { context: 'NRQ', method, arg, hasCertificate, invoke }));
}

export function answerQuery(state: EngineState, message: CallMessage): Promise<Outcome> {
  const { sender: caller, canisterId, method, arg } = message;
  if (canisterId.toUint8Array().length === 0) {
    return queryManagement(state, { caller, fromCanister: false, method, arg });
  }
  const budget = { left: state.world.limits.queryInstructions };
  return runQuery(state, { message, budget, depth: 0, hasCertificate: true });
}

/** Returns `undefined` if the canister accepts the ingress message. */
export function inspectMessage(
  state: EngineState,
  message: CallMessage,
  canister: Canister,
): Reject | undefined {
  const { sandbox, idText } = canister;
  if (!sandbox || !canister.module?.exports.has('canister_inspect_message')) return undefined;
  const frame: Frame = {
    state,
    canister,
    sandbox,
    stable: new QueryStable(state.store.stableMemory(idText)),
    context: detachedContext(canister, message),
    budget: { left: state.world.limits.inspectInstructions },
    depth: 0,
    hasCertificate: false,
    kept: undefined,
  };
  const { method, arg } = message;
  const invoke = (own: Sandbox) => own.callExport('canister_inspect_message');
  const { execution, result } = runInFrame(frame, { context: 'F', method, arg, invoke });
  if (result.trap) return rejectOfTrap(idText, result.trap);
  return execution.effects.isAccepted ? undefined : inspectRejected(idText);
}
