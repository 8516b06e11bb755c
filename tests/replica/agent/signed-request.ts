// Builds the CBOR bodies of requests with Node's keys, so that tests can also send invalid ones.

import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { Principal } from '@dfinity/principal';
import type { HashableValue } from '../../../packages/replica/src/agent/request-id.ts';
import { signedBytes } from '../../../packages/replica/src/agent/request-id.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { canisterId } from './plain-engine.ts';

export type Content = Record<string, HashableValue>;

export interface TestKey {
  readonly key: KeyObject;
  readonly der: Uint8Array;
  readonly sender: Principal;
}

export interface DelegationOptions {
  readonly from: TestKey;
  readonly to: TestKey;
  readonly expirationNs: bigint;
  readonly targets?: readonly Principal[];
  readonly permissions?: string;
}

export function createKey(kind: 'ed25519' | 'P-256' | 'secp256k1' | 'rsa'): TestKey {
  const { privateKey } =
    kind === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : kind === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 1_024 })
        : generateKeyPairSync('ec', { namedCurve: kind });
  const der = new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }));
  return { key: privateKey, der, sender: Principal.selfAuthenticating(der) };
}

export function signMessage(key: TestKey, message: Uint8Array): Uint8Array {
  if (key.key.asymmetricKeyType === 'ed25519') return sign(null, message, key.key);
  return sign('sha256', message, { key: key.key, dsaEncoding: 'ieee-p1363' });
}

export function callContent(overrides: Record<string, HashableValue | undefined>): Content {
  const content = {
    request_type: 'call',
    canister_id: canisterId.toUint8Array(),
    method_name: 'echo',
    arg: Buffer.from('argument'),
    sender: Principal.anonymous().toUint8Array(),
    ingress_expiry: BigInt(Date.now() + 60_000) * 1_000_000n,
    ...overrides,
  };
  return withoutUndefined(content);
}

export function readStateContent(
  paths: readonly (readonly (string | Uint8Array)[])[],
  overrides: Record<string, HashableValue | undefined>,
): Content {
  return withoutUndefined({
    request_type: 'read_state',
    paths: paths.map((path) => path.map((label) => Buffer.from(label))),
    sender: Principal.anonymous().toUint8Array(),
    ingress_expiry: BigInt(Date.now() + 60_000) * 1_000_000n,
    ...overrides,
  });
}

function withoutUndefined(content: Record<string, HashableValue | undefined>): Content {
  return Object.fromEntries(
    Object.entries(content).filter((entry): entry is [string, HashableValue] => {
      return entry[1] !== undefined;
    }),
  );
}

/**
 * Returns the body of a request signed with `key`, on behalf of `owner` if there are delegations.
 */
export function signedBody(
  content: Content,
  signer: { readonly key: TestKey; readonly owner?: TestKey; readonly delegations?: unknown[] },
): Uint8Array {
  const owner = signer.owner ?? signer.key;
  const named: Content = { ...content, sender: content.sender ?? owner.sender.toUint8Array() };
  const message = signedBytes('ic-request', new Map(Object.entries(named)));
  return encodeSelfDescribed({
    content: named,
    sender_pubkey: owner.der,
    sender_sig: signMessage(signer.key, message),
    ...(signer.delegations === undefined ? {} : { sender_delegation: signer.delegations }),
  });
}

export function delegate(options: DelegationOptions): object {
  const delegation: Content = {
    pubkey: options.to.der,
    expiration: options.expirationNs,
    ...(options.targets && { targets: options.targets.map((id) => id.toUint8Array()) }),
    ...(options.permissions !== undefined && { permissions: options.permissions }),
  };
  const map = new Map(Object.entries(delegation));
  const message = signedBytes('ic-request-auth-delegation', map);
  return { delegation, signature: signMessage(options.from, message) };
}
