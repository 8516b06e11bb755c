// Verifies the sender, the expiry and the delegations of a request. IC spec, "Authentication".

import { Principal } from '@dfinity/principal';
import { badRequest } from './agent-message.ts';
import type { Envelope, RequestType, SignedDelegation } from './envelope.ts';
import { signingCanister } from './public-key.ts';
import { signedBlob, signedBytes } from './request-id.ts';
import { verifySignature } from './signature.ts';

/** Ingress is valid for five minutes; clocks may differ by another half minute. */
const ingressTtlNs = 300_000_000_000n;
const permittedDriftNs = 30_000_000_000n;

export interface AuthenticationOptions {
  readonly requestType: RequestType;
  readonly nowNs: bigint;
  /** DER of the key that certifies canister signatures. */
  readonly rootKey: Uint8Array;
}

/** The canisters that all delegations of the chain allow; undefined allows any. */
export type DelegationTargets = readonly Principal[] | undefined;

/** Returns the canisters that the sender may address; throws a bad request if a check fails. */
export function authenticate(
  envelope: Envelope,
  options: AuthenticationOptions,
): DelegationTargets {
  const isAnonymous = envelope.sender.isAnonymous();
  // The network accepts anonymous reads with any expiry, because replaying them does no harm.
  if (options.requestType === 'call' || !isAnonymous) {
    checkIngressExpiry(envelope.ingressExpiryNs, options.nowNs);
  }
  if (isAnonymous) {
    const { publicKey, signature, delegations, senderInfo } = envelope;
    if (senderInfo !== undefined) throw failed(envelope, senderInfoNotAllowed);
    if (publicKey === undefined && signature === undefined && delegations === undefined) return;
    throw failed(envelope, 'Signature is not allowed for the anonymous user.');
  }
  return authenticateSigned(envelope, options);
}

export function checkTargets(canisterId: Principal, targets: DelegationTargets): void {
  if (targets === undefined || includes(targets, canisterId)) return;
  throw badRequest(`Canister '${canisterId.toText()}' is not one of the delegation targets.`);
}

function authenticateSigned(envelope: Envelope, options: AuthenticationOptions): DelegationTargets {
  const { publicKey, signature, sender } = envelope;
  if (publicKey === undefined || signature === undefined) {
    throw failed(envelope, `Missing signature from user: ${sender.toText()}`);
  }
  if (Principal.selfAuthenticating(publicKey).compareTo(sender) !== 'eq') {
    const key = Buffer.from(publicKey.subarray(0, 200)).toString('hex');
    throw failed(
      envelope,
      `The user id '${sender.toText()}' does not match the public key '${key}'`,
    );
  }
  const delegations = envelope.delegations ?? [];
  const { nowNs, rootKey } = options;
  const lastKey = verifyChain(envelope, { publicKey, delegations, nowNs, rootKey });
  const message = signedBytes('ic-request', envelope.hashable);
  if (!verifySignature({ publicKey: lastKey, message, signature, rootKey })) {
    throw failed(envelope, 'Invalid signature: the request was not signed with the named key');
  }
  if (options.requestType === 'call' && delegations.some(({ isQueriesOnly }) => isQueriesOnly)) {
    throw failed(envelope, 'Invalid delegation: it permits queries only');
  }
  checkSenderInfo(envelope, { publicKey, rootKey });
  return commonTargets(delegations);
}

const senderInfoNotAllowed =
  'Invalid sender info: it is allowed only for users for whom a canister signs.';

/** Throws unless the sender info is signed by the canister of the sender's key. */
function checkSenderInfo(
  envelope: Envelope,
  keys: { readonly publicKey: Uint8Array; readonly rootKey: Uint8Array },
): void {
  const { senderInfo } = envelope;
  if (senderInfo === undefined) return;
  const signer = signingCanister(keys.publicKey);
  if (signer === undefined) throw failed(envelope, senderInfoNotAllowed);
  if (Buffer.compare(signer, senderInfo.signer) !== 0) {
    throw failed(envelope, "Invalid sender info: its signer is not the canister of the user's key");
  }
  const message = signedBlob('ic-sender-info', senderInfo.info);
  if (!verifySignature({ ...keys, message, signature: senderInfo.sig })) {
    throw failed(envelope, 'Invalid sender info: it was not signed by its signer');
  }
}

/** Returns the key that must have signed the request: the last one of the chain. */
function verifyChain(
  envelope: Envelope,
  chain: {
    readonly publicKey: Uint8Array;
    readonly delegations: readonly SignedDelegation[];
    readonly nowNs: bigint;
    readonly rootKey: Uint8Array;
  },
): Uint8Array {
  const { rootKey } = chain;
  const keysSeen = new Set([Buffer.from(chain.publicKey).toString('hex')]);
  let key = chain.publicKey;
  for (const delegation of chain.delegations) {
    if (delegation.expirationNs < chain.nowNs) {
      throw failed(
        envelope,
        'Invalid delegation expiry: Specified sender delegation has expired: ' +
          `Provided expiry: ${formatTime(delegation.expirationNs)}, ` +
          `Local replica time: ${formatTime(chain.nowNs)}`,
      );
    }
    const message = signedBytes('ic-request-auth-delegation', delegation.hashable);
    const { signature } = delegation;
    if (!verifySignature({ publicKey: key, message, signature, rootKey })) {
      throw failed(envelope, 'Invalid delegation: it was not signed with the key before it');
    }
    key = delegation.publicKey;
    const keyHex = Buffer.from(key).toString('hex');
    if (keysSeen.has(keyHex)) throw failed(envelope, 'Invalid delegation: the chain has a cycle');
    keysSeen.add(keyHex);
  }
  return key;
}

function commonTargets(delegations: readonly SignedDelegation[]): DelegationTargets {
  let common: DelegationTargets;
  for (const { targets } of delegations) {
    if (targets === undefined) continue;
    common = common === undefined ? targets : common.filter((id) => includes(targets, id));
  }
  return common;
}

function includes(list: readonly Principal[], id: Principal): boolean {
  return list.some((entry) => entry.compareTo(id) === 'eq');
}

function checkIngressExpiry(expiryNs: bigint, nowNs: bigint): void {
  const maximumNs = nowNs + ingressTtlNs + permittedDriftNs;
  if (expiryNs >= nowNs && expiryNs <= maximumNs) return;
  // Agents recognize the beginning of this text and then request the replica's time.
  throw badRequest(
    'Invalid request expiry: Specified ingress_expiry not within expected range: ' +
      `Minimum allowed expiry: ${formatTime(nowNs)}, ` +
      `Maximum allowed expiry: ${formatTime(maximumNs)}, ` +
      `Provided expiry: ${formatTime(expiryNs)}`,
  );
}

/** Formats a time as the network does: `2026-11-20 19:39:00.123456789 UTC`. */
function formatTime(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000_000n) * 1_000);
  // A 64-bit count of ns ends in 2554, which Date can represent.
  const [date, time] = seconds.toISOString().split(/[T.]/);
  const fraction = timeNs % 1_000_000_000n;
  const digits = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0')}`;
  return `${date} ${time}${digits} UTC`;
}

function failed(envelope: Envelope, reason: string): Error {
  const id = Buffer.from(envelope.requestId).toString('hex');
  return badRequest(`Failed to authenticate request ${id} due to: ${reason}`);
}
