// Delivers performed calls to their callee (a canister, or the management canister) and answers as
// callbacks. IC spec, "Abstract behavior: Call initiation, Message execution, Responses".

import { Principal } from '@dfinity/principal';
import { joinBytes } from '../bytes.ts';
import type { ManagementCall, ManagementResult } from '../core.ts';
import { addOpenCall } from './call-limits.ts';
import type { CallContext, IncomingCall, OpenCall, OutgoingCall } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { isForKeySubnet, mayCross, sendAcross } from './cross-subnet.ts';
import { boundaryRefused, callExpired, callLost, callNotBegun, reject } from './errors.ts';
import { executeCall, executeCallback } from './messages.ts';

const managementId = Principal.managementCanister().toText();
const nanosecondsPerSecond = 1_000_000_000n;

type Respond = IncomingCall['respond'];

/** Queues the first answer as a callback, and ignores further ones. */
function awaitAnswer(
  state: EngineState,
  waiting: { readonly open: OpenCall; readonly deadline: bigint },
): Respond {
  const { open, deadline } = waiting;
  let isAnswered = false;
  const respond: Respond = (outcome, refundedCycles) => {
    if (isAnswered) return;
    isAnswered = true;
    state.bestEffort.delete(entry);
    state.scheduler.push(() => {
      const callback = { open, outcome, refundedCycles };
      executeCallback(state, callback, (from, next) => sendCall(state, from, next));
    });
  };
  const entry = { deadline, expire: () => respond(callExpired(), 0n) };
  if (deadline > 0n) state.bestEffort.add(entry);
  return respond;
}

export function argumentOf(call: OutgoingCall): Uint8Array {
  return joinBytes(call.parts);
}

/** If the management canister fails, the caller gets a reject and its cycles back. */
export function executeManagement(
  state: EngineState,
  call: ManagementCall,
): Promise<ManagementResult> {
  const failed = (error: unknown): ManagementResult => {
    const why = error instanceof Error ? error.message : String(error);
    const outcome = reject(5, 'IC0502', `${call.method} failed: ${why}`);
    return { outcome, refundedCycles: call.cycles };
  };
  const work = Promise.resolve()
    .then(() => state.management().execute(call))
    .catch(failed);
  state.scheduler.track(work);
  return work;
}

function callManagement(state: EngineState, caller: Principal, call: IncomingCall): void {
  const { method, arg, cycles, respond } = call;
  const work = executeManagement(state, { caller, fromCanister: true, method, arg, cycles });
  void work.then((result) => respond(result.outcome, result.refundedCycles));
}

export function enqueueCall(state: EngineState, idText: string, call: IncomingCall): void {
  state.scheduler.push(() => {
    const canister = state.canisters.get(idText);
    const send = (from: CallContext, next: OutgoingCall) => sendCall(state, from, next);
    executeCall(state, { canister, idText, call, send });
  });
}

/**
 * Rejects a call that was open when the process ended. The outcome is unknown, except for a
 * canister's call to itself that had not begun: otherwise the restored state would contain its
 * effects.
 */
export function answerLostCall(state: EngineState, open: OpenCall): void {
  addOpenCall(state.world, open);
  const respond = awaitAnswer(state, { open, deadline: 0n });
  respond(open.hasBegun ? callLost() : callNotBegun(), open.call.cycles);
}

export function sendCall(state: EngineState, context: CallContext, call: OutgoingCall): void {
  const caller = context.canister.id;
  const { timeoutSeconds } = call;
  const deadline =
    timeoutSeconds === undefined
      ? 0n
      : state.world.now() + BigInt(timeoutSeconds) * nanosecondsPerSecond;
  const open = { context, call, hasBegun: false };
  addOpenCall(state.world, open);
  const respond = awaitAnswer(state, { open, deadline });
  const incoming = {
    caller: caller.toUint8Array(),
    method: call.method,
    arg: argumentOf(call),
    cycles: call.cycles,
    deadline,
    ingressCycles: 0n,
    respond,
    onBegin: () => {
      open.hasBegun = true;
    },
  };
  const type = state.world.subnetType;
  if (isForKeySubnet(type, call) && !mayCross(call)) {
    respond(boundaryRefused(), call.cycles);
    return;
  }
  if (state.subnet && sendAcross(state.subnet, { type, caller, call, incoming })) return;
  const idText = Principal.fromUint8Array(call.callee).toText();
  if (idText === managementId) callManagement(state, caller, incoming);
  else enqueueCall(state, idText, incoming);
}

export function expireCalls(state: EngineState): void {
  const now = state.world.now();
  for (const call of [...state.bestEffort]) if (call.deadline <= now) call.expire();
}
