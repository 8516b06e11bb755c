// The read_state endpoints: certificates for paths, and the rights to them. IC spec, "Read state".

import { Principal } from '@dfinity/principal';
import { encodeSelfDescribed } from '../state/self-described-cbor.ts';
import type { AgentContext, Target } from './agent-context.ts';
import { authenticationOf } from './agent-context.ts';
import type { AgentResponse } from './agent-message.ts';
import { AgentRequestError, badRequest, cborResponse } from './agent-message.ts';
import type { DelegationTargets } from './authenticate.ts';
import { authenticate } from './authenticate.ts';
import { checkSubnet } from './check-target.ts';
import type { ReadStateEnvelope } from './envelope.ts';
import { decodeReadState } from './envelope.ts';

type Path = readonly Uint8Array[];

const requestIdBytes = 32;

interface Reader {
  readonly context: AgentContext;
  readonly target: Target;
  readonly sender: Principal;
  readonly targets: DelegationTargets;
}

export function handleReadState(
  context: AgentContext,
  request: { readonly target: Target; readonly body: Uint8Array },
): AgentResponse {
  const { target, body } = request;
  if (target.kind === 'subnet') checkSubnet(context, target.id);
  const envelope = decodeReadState(body);
  const targets = authenticate(envelope, authenticationOf(context, 'read_state'));
  const reader = { context, target, sender: envelope.sender, targets };
  for (const path of envelope.paths) checkPath(reader, path);
  checkSingleRequest(envelope);
  const form = target.version === 'v2' ? 'flat' : 'tree';
  const certificate = context.certification.certify(envelope.paths, form);
  return cborResponse(encodeSelfDescribed({ certificate }));
}

function text(label: Uint8Array | undefined): string | undefined {
  return label === undefined ? undefined : Buffer.from(label).toString('latin1');
}

// Agents treat a label as absent if another revealed label of the same fork is its prefix, so
// /canister is readable only at a canister's endpoint and /canister_ranges only at a subnet's.
function checkPath(reader: Reader, path: Path): void {
  const isCanister = reader.target.kind === 'canister';
  switch (text(path[0])) {
    case 'time':
      if (path.length === 1) return;
      break;
    case 'subnet':
      if (isSubnetPath(path)) return;
      break;
    case 'api_boundary_nodes':
      if (path.length <= 3) return;
      break;
    case 'canister_ranges':
      if (!isCanister && path.length === 2) return;
      break;
    case 'canister':
      if (isCanister && isCanisterPath(path)) {
        checkCanister(reader, path);
        return;
      }
      break;
    case 'request_status':
      if (isRequestPath(path)) {
        checkRequest(reader, path[1]);
        return;
      }
      break;
  }
  throw new AgentRequestError(404, 'Invalid path requested.');
}

function isSubnetPath(path: Path): boolean {
  const part = text(path[2]);
  if (path.length <= 2) return true;
  if (part === 'node')
    return path.length <= 4 || (path.length === 5 && text(path[4]) === 'public_key');
  return (
    path.length === 3 && ['public_key', 'canister_ranges', 'type', 'metrics'].includes(part ?? '')
  );
}

function isCanisterPath(path: Path): boolean {
  const part = text(path[2]);
  if (part === 'metadata') return path.length === 4;
  return path.length === 3 && (part === 'controllers' || part === 'module_hash');
}

function isRequestPath(path: Path): boolean {
  if (path.length === 2) return true;
  const parts = ['status', 'reply', 'reject_code', 'reject_message', 'error_code'];
  return path.length === 3 && parts.includes(text(path[2]) ?? '');
}

function checkCanister(reader: Reader, path: Path): void {
  const id = Buffer.from(path[1] ?? []);
  if (Buffer.compare(id, reader.target.id.toUint8Array()) !== 0) {
    const shown = id.length <= 29 ? Principal.fromUint8Array(id).toText() : id.toString('hex');
    throw badRequest(
      `Effective principal id in URL ${reader.target.id.toText()} does not match requested ` +
        `principal id: ${shown.slice(0, 200)}.`,
    );
  }
  const canister = reader.context.engine.canister(reader.target.id);
  if (path.length !== 4 || canister === undefined) return;
  const name = decodeSectionName(path[3]);
  const section = canister.metadata.get(name);
  const isController = canister.controllers.some((id) => id.compareTo(reader.sender) === 'eq');
  if (section === undefined || section.isPublic || isController) return;
  throw new AgentRequestError(
    403,
    `Custom section ${name.slice(0, 100)} can only be requested by the controllers of the canister.`,
  );
}

function decodeSectionName(label: Uint8Array | undefined): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(label);
  } catch {
    throw badRequest('Could not parse the custom section name: it is not UTF-8.');
  }
}

function checkRequest(reader: Reader, id: Uint8Array | undefined): void {
  if (id?.length !== requestIdBytes) {
    throw badRequest(`Request IDs must be ${requestIdBytes} bytes in length.`);
  }
  const request = reader.context.certification.requests.find(id);
  if (request === undefined) return;
  if (request.sender.compareTo(reader.sender) !== 'eq') {
    throw new AgentRequestError(403, 'Request IDs must be for requests signed by the caller.');
  }
  const { targets } = reader;
  if (targets?.some((target) => target.compareTo(request.canisterId) === 'eq') === false) {
    throw new AgentRequestError(
      403,
      'Request IDs must be for requests to canisters belonging to sender delegation targets.',
    );
  }
}

function checkSingleRequest(envelope: ReadStateEnvelope): void {
  const ids = envelope.paths
    .filter(([first]) => text(first) === 'request_status')
    .map(([, id]) => Buffer.from(id ?? []).toString('hex'));
  if (new Set(ids).size <= 1) return;
  throw badRequest('Can only request a single request ID in request_status paths.');
}
