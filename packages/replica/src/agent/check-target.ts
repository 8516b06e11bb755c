// Compares the target of a request with the canister in its URL: boundary nodes route and block by
// the URL, so both must agree. IC spec, "Effective canister id".

import type { Principal } from '@dfinity/principal';
import type { AgentContext, Target } from './agent-context.ts';
import { badRequest } from './agent-message.ts';
import type { CallEnvelope } from './envelope.ts';

const managementCanisterText = 'aaaaa-aa';

function isSame(a: Principal, b: Principal): boolean {
  return a.compareTo(b) === 'eq';
}

export function checkTarget(context: AgentContext, target: Target, envelope: CallEnvelope): void {
  const { canisterId } = envelope;
  const isManagement = canisterId.toText() === managementCanisterText;
  if (target.kind === 'subnet') {
    checkSubnet(context, target.id);
    if (isManagement) return;
    throw badRequest(
      `Specified CanisterId ${canisterId.toText()} cannot be called at a subnet's endpoint`,
    );
  }
  const expected = isManagement ? managementTarget(context, envelope) : canisterId;
  if (expected === undefined || isSame(expected, target.id)) return;
  throw badRequest(
    `Specified CanisterId ${expected.toText()} does not match effective canister id in URL ` +
      target.id.toText(),
  );
}

export function checkSubnet(context: AgentContext, subnetId: Principal): void {
  const own = context.certification.subnetId;
  if (isSame(own, subnetId)) return;
  throw badRequest(
    `Specified subnet ID ${subnetId.toText()} does not match the subnet ID of this node ${own.toText()}`,
  );
}

function managementTarget(context: AgentContext, envelope: CallEnvelope): Principal | undefined {
  try {
    return context.effectiveCanisterId(envelope.method, envelope.arg);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badRequest(
      `Cannot tell the effective canister id of ${envelope.method.slice(0, 100)}: ${reason}`,
    );
  }
}
