// System API rows: building and performing calls to other canisters. IC spec, "Inter-canister
// method calls". Performed calls leave the canister only when the message ends well.

import { Principal } from '@dfinity/principal';
import { chargeOn } from '../subnet-type.ts';
import { countPerformed, mayCall } from './call-limits.ts';
import type { Execution, OutgoingCall } from './canister.ts';
import { isReplicated } from './context.ts';
import { contractViolation, invalidPrincipal, systemApiError } from './errors.ts';
import { closure } from './execution.ts';
import { liquidCycles } from './freezing.ts';
import type { Row } from './ic0-row.ts';
import { from128, readHeap, readText, row, sendCost, usualCost } from './ic0-row.ts';
import { callPrice, callReserveCycles } from './prices.ts';

const calling = 'U CQ Ry Rt CRy CRt T';
const principalBytesMax = 29;

/** Refunds the cycles of a call that is replaced or never performed. */
export function discardPendingCall(execution: Execution): void {
  const { effects } = execution;
  effects.cycles += effects.pendingCall?.cycles ?? 0n;
  effects.pendingCall = undefined;
}

function pending(execution: Execution, name: string): OutgoingCall {
  const call = execution.effects.pendingCall;
  if (call === undefined) {
    throw contractViolation(`ic0.${name} called when no call is under construction.`);
  }
  return call;
}

function addCycles(execution: Execution, name: string, amount: bigint): undefined {
  const call = pending(execution, name);
  const liquid = liquidCycles(execution);
  if (amount > liquid) {
    throw systemApiError(`Canister ${execution.canister.idText} is out of cycles`, 'none');
  }
  execution.effects.cycles -= amount;
  call.cycles += amount;
}

function appendArgument(execution: Execution, start: number, size: number): undefined {
  const name = 'call_data_append';
  const call = pending(execution, name);
  const total = call.bytes + size;
  const most = execution.world.limits.callBytesMax;
  if (total > most) {
    throw contractViolation(
      `Request to ${Principal.fromUint8Array(call.callee).toText()}:${call.method} has a payload size of ${total}, which ` +
        `exceeds the allowed limit of ${most}.`,
      'payload',
    );
  }
  call.parts.push(readHeap(execution, { name, start, size }));
  call.bytes = total;
}

/** Returns 0; 2 if capacity, or cycles for the call and the costliest answer, are missing. */
function perform(execution: Execution): number {
  const call = pending(execution, 'call_perform');
  const { effects, world } = execution;
  const isPaid = isReplicated(execution.context);
  const price = callPrice(BigInt(call.bytes), world.limits.updateInstructions);
  const needed = isPaid ? chargeOn(world.subnetType, callReserveCycles(price)) : 0n;
  if (!mayCall(execution, call.callee) || liquidCycles(execution) < needed) {
    discardPendingCall(execution);
    return 2;
  }
  effects.cycles -= needed;
  if (needed > 0n) call.prepaid = price;
  effects.calls.push(call);
  countPerformed(execution, call.callee);
  effects.pendingCall = undefined;
  return 0;
}

/** Callee and method name, each as pointer and length. */
type Target = readonly [number, number, number, number];

function beginCall(
  execution: Execution,
  target: Target,
  closures: Pick<OutgoingCall, 'onReply' | 'onReject'>,
): undefined {
  const [calleeStart, calleeSize, nameStart, nameSize] = target;
  const name = 'call_new';
  discardPendingCall(execution);
  const { methodNameBytesMax } = execution.world.limits;
  if (nameSize > methodNameBytesMax) {
    throw contractViolation(
      `Size of method_name ${nameSize} exceeds the allowed limit of ${methodNameBytesMax}.`,
      'methodName',
    );
  }
  if (calleeSize > principalBytesMax) throw invalidPrincipal();
  execution.effects.pendingCall = {
    callee: readHeap(execution, { name, start: calleeStart, size: calleeSize }),
    method: readText(execution, { name, start: nameStart, size: nameSize }),
    ...closures,
    onCleanup: undefined,
    parts: [],
    bytes: nameSize,
    cycles: 0n,
    prepaid: undefined,
    timeoutSeconds: undefined,
  };
}

export const callRows: readonly Row[] = [
  row({
    name: 'call_new',
    params: 'pppppepe',
    results: '',
    contexts: calling,
    cost: { fixed: 1500, perByte: 1, lengths: [1, 3] },
    run: (execution, ...args) => {
      const [callee, calleeSize, method, methodSize, ...closures] = args;
      const [reply, replyEnvironment, reject, rejectEnvironment] = closures;
      return beginCall(execution, [callee, calleeSize, method, methodSize], {
        onReply: closure(reply, replyEnvironment),
        onReject: closure(reject, rejectEnvironment),
      });
    },
  }),
  row({
    name: 'call_on_cleanup',
    params: 'pe',
    results: '',
    contexts: calling,
    cost: usualCost,
    run: (execution, index, environment) => {
      const call = pending(execution, 'call_on_cleanup');
      if (call.onCleanup !== undefined) {
        throw contractViolation('ic0.call_on_cleanup can be called at most once for a call.');
      }
      call.onCleanup = closure(index, environment);
      return undefined;
    },
  }),
  row({
    name: 'call_data_append',
    params: 'pp',
    results: '',
    contexts: calling,
    cost: sendCost(1),
    run: appendArgument,
  }),
  row({
    name: 'call_with_best_effort_response',
    params: 'i',
    results: '',
    contexts: calling,
    cost: usualCost,
    run: (execution, seconds) => {
      const call = pending(execution, 'call_with_best_effort_response');
      if (call.timeoutSeconds !== undefined) {
        throw contractViolation(
          'ic0.call_with_best_effort_response can be called at most once for a call.',
        );
      }
      call.timeoutSeconds = Math.min(seconds, execution.world.limits.bestEffortSecondsMax);
      return undefined;
    },
  }),
  row({
    name: 'call_cycles_add',
    params: 'I',
    results: '',
    contexts: 'U Ry Rt T',
    isOnly32: true,
    cost: usualCost,
    run: (execution, amount) => addCycles(execution, 'call_cycles_add', amount),
  }),
  row({
    name: 'call_cycles_add128',
    params: 'II',
    results: '',
    contexts: 'U Ry Rt T',
    cost: usualCost,
    run: (execution, high, low) => addCycles(execution, 'call_cycles_add128', from128(high, low)),
  }),
  row({
    name: 'call_perform',
    params: '',
    results: 'i',
    contexts: calling,
    cost: { fixed: 5000 },
    run: perform,
  }),
];
