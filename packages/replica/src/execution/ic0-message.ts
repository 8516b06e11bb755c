// System API rows: the message's argument and caller, its answer and its inspection. IC spec,
// "System API": Method arguments, Responding, Ingress message inspection.

import { joinBytes } from '../bytes.ts';
import type { Outcome } from '../core.ts';
import type { Execution } from './canister.ts';
import { isReplicated } from './context.ts';
import { contractViolation } from './errors.ts';
import type { Row } from './ic0-row.ts';
import { blobRows, readHeap, readText, row, sendCost, usualCost } from './ic0-row.ts';

const nothing = new Uint8Array();
const answering = 'U RQ NRQ TQ CQ Ry Rt CRy CRt';
const callerInfo = 'U RQ NRQ CQ Ry Rt CRy CRt C CC F';

function rejectMessage(execution: Execution): Uint8Array {
  if (execution.rejectMessage === undefined) {
    throw contractViolation('ic0.msg_reject_msg: there is no reject message');
  }
  return execution.rejectMessage;
}

function checkUnanswered(execution: Execution, name: string): void {
  const { callContext, effects } = execution;
  const isAnswered = effects.response !== undefined || callContext?.responded === true;
  if (isAnswered || (callContext && callContext.respond === undefined)) {
    throw contractViolation(`ic0.${name}: the call is already replied`);
  }
}

function replyBytesMax(execution: Execution): number {
  const { limits } = execution.world;
  return isReplicated(execution.context)
    ? limits.replicatedReplyBytesMax
    : limits.queryReplyBytesMax;
}

function appendReply(execution: Execution, start: number, size: number): undefined {
  const name = 'msg_reply_data_append';
  checkUnanswered(execution, name);
  const total = execution.effects.replyBytes + size;
  const most = replyBytesMax(execution);
  if (total > most) {
    throw contractViolation(
      `ic0.${name}: application payload size (${total}) cannot be larger than ${most}.`,
      'reply',
    );
  }
  execution.effects.replyParts.push(readHeap(execution, { name, start, size }));
  execution.effects.replyBytes = total;
}

function rejectCall(execution: Execution, start: number, size: number): undefined {
  const name = 'msg_reject';
  checkUnanswered(execution, name);
  const most = replyBytesMax(execution);
  if (size > most) {
    throw contractViolation(
      `ic0.${name}: application payload size (${size}) cannot be larger than ${most}.`,
      'reject',
    );
  }
  const message = readText(execution, { name, start, size });
  answer(execution, { status: 'rejected', code: 4, message, errorCode: 'IC0406' });
}

/** Cycles that were not accepted are returned with the answer. */
function answer(execution: Execution, response: Outcome): void {
  const { effects } = execution;
  effects.response = response;
  effects.refundCycles = effects.availableCycles;
  effects.availableCycles = 0n;
}

export const messageRows: readonly Row[] = [
  ...blobRows({
    name: 'msg_arg_data',
    contexts: 'I U RQ NRQ TQ CQ Ry CRy F',
    read: (execution) => execution.arg,
  }),
  ...blobRows({ name: 'msg_caller', contexts: '*', read: (execution) => execution.caller }),
  ...blobRows({
    name: 'msg_caller_info_data',
    contexts: callerInfo,
    read: ({ callContext }) => callContext?.callerInfo?.info ?? nothing,
  }),
  ...blobRows({
    name: 'msg_caller_info_signer',
    contexts: callerInfo,
    read: ({ callContext }) => callContext?.callerInfo?.signer ?? nothing,
  }),
  row({
    name: 'msg_reject_code',
    params: '',
    results: 'i',
    contexts: 'Ry Rt CRy CRt C',
    cost: usualCost,
    run: (execution) => execution.rejectCode,
  }),
  ...blobRows({ name: 'msg_reject_msg', contexts: 'Rt CRt', read: rejectMessage }),
  row({
    name: 'msg_deadline',
    params: '',
    results: 'I',
    contexts: 'U RQ NRQ CQ Ry Rt CRy CRt',
    cost: usualCost,
    run: (execution) => execution.callContext?.deadline ?? 0n,
  }),
  row({
    name: 'msg_reply_data_append',
    params: 'pp',
    results: '',
    contexts: answering,
    cost: sendCost(1),
    run: appendReply,
  }),
  row({
    name: 'msg_reply',
    params: '',
    results: '',
    contexts: answering,
    cost: usualCost,
    run: (execution) => {
      checkUnanswered(execution, 'msg_reply');
      const arg = joinBytes(execution.effects.replyParts);
      answer(execution, { status: 'replied', arg });
      return undefined;
    },
  }),
  row({
    name: 'msg_reject',
    params: 'pp',
    results: '',
    contexts: answering,
    cost: sendCost(1),
    run: rejectCall,
  }),
  ...blobRows({
    name: 'msg_method_name',
    contexts: 'F',
    read: (execution) => new TextEncoder().encode(execution.method),
  }),
  row({
    name: 'accept_message',
    params: '',
    results: '',
    contexts: 'F',
    cost: usualCost,
    run: (execution) => {
      if (execution.effects.isAccepted) {
        throw contractViolation('ic0.accept_message: the function was already called');
      }
      execution.effects.isAccepted = true;
      return undefined;
    },
  }),
];
