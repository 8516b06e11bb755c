// The call endpoints: accept an update call, and answer with its certificate (v3, v4) or at once
// (v2). A repeated message runs only once. IC spec, "Request: Call" and "Request: Synchronous
// call".

import type { CallMessage, Engine, Outcome, Reject } from '../core.ts';
import { encodeSelfDescribed } from '../state/self-described-cbor.ts';
import type { AgentContext, Target } from './agent-context.ts';
import { authenticationOf } from './agent-context.ts';
import type { AgentResponse } from './agent-message.ts';
import { AgentRequestError, cborResponse } from './agent-message.ts';
import { authenticate, checkTargets } from './authenticate.ts';
import { checkTarget } from './check-target.ts';
import type { CallEnvelope } from './envelope.ts';
import { decodeCall } from './envelope.ts';

/** The network's limit for a whole envelope on application subnets. */
const ingressBytesMax = 2_097_152;
/** After this long a synchronous call is answered with 202 and the agent polls. */
const certificateTimeoutMs = 10_000;

const accepted: AgentResponse = {
  status: 202,
  contentType: 'text/plain; charset=utf-8',
  body: new Uint8Array(),
};

export async function handleCall(
  context: AgentContext,
  request: { readonly target: Target; readonly body: Uint8Array },
): Promise<AgentResponse> {
  const { target, body } = request;
  const envelope = decodeCall(body, 'call');
  checkTarget(context, target, envelope);
  checkSize(envelope, body.length);
  const targets = authenticate(envelope, authenticationOf(context, 'call'));
  checkTargets(envelope.canisterId, targets);
  const reject = await submit(context, envelope);
  if (reject !== undefined) return rejectedBeforeExecution(reject, target);
  return target.version === 'v2' ? accepted : certifiedAnswer(context, target, envelope.requestId);
}

function checkSize(envelope: CallEnvelope, bytes: number): void {
  if (bytes <= ingressBytesMax) return;
  const id = Buffer.from(envelope.requestId).toString('hex');
  throw new AgentRequestError(
    413,
    `Request ${id} is too large. Message byte size ${bytes} is larger than the max allowed ` +
      `${ingressBytesMax}.`,
  );
}

/** Starts the message unless it is already known; returns the reason if it is not accepted. */
async function submit(context: AgentContext, envelope: CallEnvelope): Promise<Reject | undefined> {
  const { requests } = context.certification;
  if (requests.find(envelope.requestId) !== undefined) return undefined;
  const { sender, canisterId, method, arg, senderInfo } = envelope;
  const message = { sender, canisterId, method, arg, senderInfo };
  const reject = await context.engine.checkIngress(message);
  if (reject !== undefined) return reject;
  const isNew = requests.receive({
    id: envelope.requestId,
    sender,
    canisterId,
    expiresAtNs: envelope.ingressExpiryNs,
  });
  if (!isNew) return undefined;
  requests.setProcessing(envelope.requestId);
  void execute(context.engine, message).then((outcome) => {
    requests.complete(envelope.requestId, outcome);
  });
  return undefined;
}

/** Never rejects, because nobody awaits it when the caller polls. */
async function execute(engine: Engine, message: CallMessage): Promise<Outcome> {
  try {
    return await engine.update(message);
  } catch (error) {
    return internalError(error);
  }
}

function internalError(error: unknown): Outcome {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The local replica failed to execute the message: ${reason}`;
  // A code of our own, because the network has no such failure.
  return { status: 'rejected', code: 1, message, errorCode: 'IC0000' };
}

function rejectedBeforeExecution(reject: Reject, target: Target): AgentResponse {
  const rejection = {
    reject_code: reject.code,
    reject_message: reject.message,
    error_code: reject.errorCode,
  };
  return cborResponse(
    encodeSelfDescribed(
      target.version === 'v2' ? rejection : { status: 'non_replicated_rejection', ...rejection },
    ),
  );
}

async function certifiedAnswer(
  context: AgentContext,
  target: Target,
  id: Uint8Array,
): Promise<AgentResponse> {
  const { requests } = context.certification;
  const inTime = await completesInTime(requests.completion(id));
  if (!inTime) return accepted;
  await context.certification.endOfRound();
  const form = target.version === 'v4' ? 'tree' : 'flat';
  const certificate = context.certification.certify([[Buffer.from('request_status'), id]], form);
  return cborResponse(encodeSelfDescribed({ status: 'replied', certificate }));
}

async function completesInTime(completion: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), certificateTimeoutMs);
  });
  const inTime = await Promise.race([completion.then(() => true), timeout]);
  clearTimeout(timer);
  return inTime;
}
