// The query endpoints: run a query and sign the answer as the node. IC spec, "Request: Query call".

import type { CallMessage, Outcome } from '../core.ts';
import type { NodeAnswer } from '../network/query-faults.ts';
import { encodeSelfDescribed } from '../state/self-described-cbor.ts';
import type { AgentContext, Target } from './agent-context.ts';
import { authenticationOf } from './agent-context.ts';
import type { AgentResponse } from './agent-message.ts';
import { cborResponse } from './agent-message.ts';
import { authenticate, checkTargets } from './authenticate.ts';
import { checkTarget } from './check-target.ts';
import { decodeCall } from './envelope.ts';
import type { HashableValue } from './request-id.ts';
import { signedBytes } from './request-id.ts';

export async function handleQuery(
  context: AgentContext,
  request: { readonly target: Target; readonly body: Uint8Array },
): Promise<AgentResponse> {
  const envelope = decodeCall(request.body, 'query');
  checkTarget(context, request.target, envelope);
  const targets = authenticate(envelope, authenticationOf(context, 'query'));
  checkTargets(envelope.canisterId, targets);
  const { sender, canisterId, method, arg, requestId, senderInfo } = envelope;
  const answer = await ask(context, { sender, canisterId, method, arg, senderInfo });
  const { timestampNs: timestamp } = answer;
  const signed = new Map<string, HashableValue>([
    ...signedFields(answer.signed),
    ['timestamp', timestamp],
    ['request_id', requestId],
  ]);
  const { nodeKey } = context.certification;
  const signature = nodeKey.sign(signedBytes('ic-response', signed));
  const signatures = [{ timestamp, signature, identity: nodeKey.nodeId.toUint8Array() }];
  return cborResponse(encodeSelfDescribed({ ...answerFields(answer.sent), signatures }));
}

async function ask(context: AgentContext, message: CallMessage): Promise<NodeAnswer> {
  if (context.faultyNode !== undefined) return context.faultyNode.answer(message);
  const outcome = await context.engine.query(message);
  return { signed: outcome, sent: outcome, timestampNs: context.now() };
}

function answerFields(outcome: Outcome): object {
  if (outcome.status === 'replied') return { status: 'replied', reply: { arg: outcome.arg } };
  return {
    status: 'rejected',
    reject_code: outcome.code,
    reject_message: outcome.message,
    error_code: outcome.errorCode,
  };
}

function signedFields(outcome: Outcome): [string, HashableValue][] {
  if (outcome.status === 'replied') {
    return [
      ['status', 'replied'],
      ['reply', new Map([['arg', outcome.arg]])],
    ];
  }
  return [
    ['status', 'rejected'],
    ['reject_code', outcome.code],
    ['reject_message', outcome.message],
    ['error_code', outcome.errorCode],
  ];
}
