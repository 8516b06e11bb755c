// Decodes the envelope of a request: the content, which depends on the kind of request, and the
// proof of the sender. Only shapes are checked here; authenticate.ts verifies the sender. IC spec,
// "Authentication" and "Request: Call", "Request: Query call", "Request: Read state".

import type { Principal } from '@dfinity/principal';
import type { SenderInfo } from '../core.ts';
import { decodeSelfDescribed } from '../state/self-described-cbor.ts';
import { badRequest } from './agent-message.ts';
import type { Fields } from './fields.ts';
import {
  asArray,
  asBytes,
  asFields,
  asPrincipal,
  readBytes,
  readNatural,
  readOptional,
  readPrincipal,
  readText,
} from './fields.ts';
import type { HashableValue } from './request-id.ts';
import { hashOfMap } from './request-id.ts';

export type RequestType = 'call' | 'query' | 'read_state';

const nonceBytesMax = 32;
const delegationsMax = 20;
const targetsMax = 1_000;
const pathsMax = 1_000;
const labelsMax = 127;

export interface SignedDelegation {
  readonly publicKey: Uint8Array;
  readonly expirationNs: bigint;
  readonly targets: readonly Principal[] | undefined;
  readonly isQueriesOnly: boolean;
  /** The map in its signed form. */
  readonly hashable: ReadonlyMap<string, HashableValue>;
  readonly signature: Uint8Array;
}

export interface SignedSenderInfo extends SenderInfo {
  readonly sig: Uint8Array;
}

export interface Envelope {
  readonly senderInfo: SignedSenderInfo | undefined;
  readonly requestId: Uint8Array;
  readonly hashable: ReadonlyMap<string, HashableValue>;
  readonly sender: Principal;
  readonly ingressExpiryNs: bigint;
  readonly publicKey: Uint8Array | undefined;
  readonly signature: Uint8Array | undefined;
  readonly delegations: readonly SignedDelegation[] | undefined;
}

export interface CallEnvelope extends Envelope {
  readonly canisterId: Principal;
  readonly method: string;
  readonly arg: Uint8Array;
}

export interface ReadStateEnvelope extends Envelope {
  readonly paths: readonly (readonly Uint8Array[])[];
}

export function decodeCall(body: Uint8Array, requestType: 'call' | 'query'): CallEnvelope {
  const [envelope, content] = decodeParts(body, requestType);
  const canisterId = readPrincipal(content, 'canister_id');
  const method = readText(content, 'method_name');
  const arg = readBytes(content, 'arg');
  const own: [string, HashableValue][] = [
    ['canister_id', canisterId.toUint8Array()],
    ['method_name', method],
    ['arg', arg],
  ];
  return { ...decodeCommon({ envelope, content, requestType, own }), canisterId, method, arg };
}

export function decodeReadState(body: Uint8Array): ReadStateEnvelope {
  const requestType = 'read_state';
  const [envelope, content] = decodeParts(body, requestType);
  const paths = asArray(content.get('paths'), 'field "paths"').map((path) =>
    asArray(path, 'a path').map((label) => asBytes(label, 'a label of a path')),
  );
  if (paths.length > pathsMax) {
    throw badRequest(
      `Too many paths in read state request: got ${paths.length} paths, ` +
        `but at most ${pathsMax} are allowed.`,
    );
  }
  const labelCount = paths.reduce((most, path) => Math.max(most, path.length), 0);
  if (labelCount > labelsMax) {
    throw badRequest(
      `At least one path in read state request is too deep: got ${labelCount} labels, ` +
        `but at most ${labelsMax} are allowed.`,
    );
  }
  const own: [string, HashableValue][] = [['paths', paths]];
  return { ...decodeCommon({ envelope, content, requestType, own }), paths };
}

function decodeParts(body: Uint8Array, requestType: RequestType): [Fields, Fields] {
  const envelope = asFields(decodeBody(body, requestType), 'the body');
  const content = asFields(envelope.get('content'), 'field "content"');
  const actual = readText(content, 'request_type');
  if (actual === requestType) return [envelope, content];
  const shown = JSON.stringify(actual.slice(0, 40));
  throw badRequest(`Malformed request: request_type is ${shown}, expected "${requestType}"`);
}

function decodeBody(body: Uint8Array, requestType: RequestType): unknown {
  try {
    return decodeSelfDescribed(body);
  } catch (error) {
    // Nesting that overflows the stack throws a RangeError, which is caught here too.
    const reason = error instanceof Error ? error.message : String(error);
    throw badRequest(`Could not parse body as ${requestType} message: ${reason}`);
  }
}

function decodeCommon(parts: {
  readonly envelope: Fields;
  readonly content: Fields;
  readonly requestType: RequestType;
  readonly own: readonly [string, HashableValue][];
}): Envelope {
  const { envelope, content } = parts;
  const sender = readPrincipal(content, 'sender');
  const ingressExpiryNs = readNatural(content, 'ingress_expiry');
  const hashable = new Map<string, HashableValue>([
    ['request_type', parts.requestType],
    ['sender', sender.toUint8Array()],
    ['ingress_expiry', ingressExpiryNs],
    ...parts.own,
  ]);
  const nonce = readOptional(content, 'nonce', readBytes);
  if (nonce !== undefined && nonce.length > nonceBytesMax) {
    throw badRequest(`Nonce is too big: got ${nonce.length} bytes, but at most 32 are allowed.`);
  }
  if (nonce !== undefined) hashable.set('nonce', nonce);
  const senderInfo = readOptional(content, 'sender_info', readSenderInfo);
  if (senderInfo !== undefined) {
    hashable.set('sender_info', new Map<string, HashableValue>(Object.entries(senderInfo)));
  }
  return {
    requestId: hashOfMap(hashable),
    hashable,
    sender,
    ingressExpiryNs,
    senderInfo,
    publicKey: readOptional(envelope, 'sender_pubkey', readBytes),
    signature: readOptional(envelope, 'sender_sig', readBytes),
    delegations: readOptional(envelope, 'sender_delegation', readDelegations),
  };
}

function readSenderInfo(fields: Fields, name: string): SignedSenderInfo {
  const info = asFields(fields.get(name), `field "${name}"`);
  return {
    info: readBytes(info, 'info'),
    signer: readBytes(info, 'signer'),
    sig: readBytes(info, 'sig'),
  };
}

function readDelegations(fields: Fields, name: string): readonly SignedDelegation[] {
  const list = asArray(fields.get(name), `field "${name}"`);
  if (list.length <= delegationsMax) return list.map(decodeDelegation);
  throw badRequest(
    `Chain of delegations is too long: got ${list.length} delegations, ` +
      `but at most ${delegationsMax} are allowed.`,
  );
}

function decodeDelegation(value: unknown): SignedDelegation {
  const signed = asFields(value, 'a delegation');
  const delegation = asFields(signed.get('delegation'), 'field "delegation"');
  const publicKey = readBytes(delegation, 'pubkey');
  const expirationNs = readNatural(delegation, 'expiration');
  const targets = readOptional(delegation, 'targets', readTargets);
  const permissions = readOptional(delegation, 'permissions', readText);
  if (permissions !== undefined && permissions !== 'all' && permissions !== 'queries') {
    throw badRequest(
      `Invalid delegation: unknown permissions ${JSON.stringify(permissions.slice(0, 40))}`,
    );
  }
  const hashable = new Map<string, HashableValue>([
    ['pubkey', publicKey],
    ['expiration', expirationNs],
  ]);
  if (targets !== undefined)
    hashable.set(
      'targets',
      targets.map((id) => id.toUint8Array()),
    );
  if (permissions !== undefined) hashable.set('permissions', permissions);
  return {
    publicKey,
    expirationNs,
    targets,
    isQueriesOnly: permissions === 'queries',
    hashable,
    signature: readBytes(signed, 'signature'),
  };
}

function readTargets(fields: Fields, name: string): readonly Principal[] {
  const list = asArray(fields.get(name), `field "${name}"`);
  if (list.length > targetsMax) {
    throw badRequest(
      `Invalid delegation: ${list.length} targets, at most ${targetsMax} are allowed`,
    );
  }
  return list.map((target) => asPrincipal(target, 'a delegation target'));
}
