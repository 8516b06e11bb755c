import { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import { authenticate, checkTargets } from '../../../packages/replica/src/agent/authenticate.ts';
import { decodeCall } from '../../../packages/replica/src/agent/envelope.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { createSubnetKey } from '../../../packages/replica/src/state/subnet-key.ts';
import { canisterId } from './plain-engine.ts';
import type { TestKey } from './signed-request.ts';
import { callContent, createKey, delegate, signedBody } from './signed-request.ts';

const nowNs = BigInt(Date.now()) * 1_000_000n;
const rootKey = createSubnetKey(new Uint8Array(32));
const secondNs = 1_000_000_000n;
const laterNs = nowNs + 3_600n * secondNs;
const unsent = callContent({ sender: undefined });
const owner = createKey('ed25519');
const session = createKey('P-256');
const other = createKey('secp256k1');

function check(body: Uint8Array, requestType: 'call' | 'query' = 'call') {
  return authenticate(decodeCall(body, requestType), {
    requestType,
    nowNs,
    rootKey: rootKey.publicKey,
  });
}

const delegated = (delegations: unknown[], key: TestKey, content = unsent): Uint8Array =>
  signedBody(content, { key, owner, delegations });

describe('authenticate() of plain signatures', () => {
  it.each(['ed25519', 'P-256', 'secp256k1'] as const)(
    'accepts %s and refuses a flipped bit',
    (kind) => {
      const key = createKey(kind);
      const content = { ...unsent, sender: key.sender.toUint8Array() };
      expect(check(signedBody(content, { key }))).toBeUndefined();
      const changed = Buffer.from(signedBody(content, { key }));
      changed[changed.indexOf('argument')] = 0x41;
      expect(() => check(changed)).toThrow(
        /Failed to authenticate request [0-9a-f]{64} due to: Invalid signature/,
      );
    },
  );

  it('refuses a signature by another key, another sender, and a missing signature', () => {
    const content = { ...unsent, sender: owner.sender.toUint8Array() };
    const byOther = signedBody(content, { key: session, owner });
    expect(() => check(byOther)).toThrow(/Invalid signature/);
    expect(() => check(signedBody(content, { key: other }))).toThrow(
      /does not match the public key/,
    );
    expect(() => check(encodeSelfDescribed({ content }))).toThrow(/Missing signature from user/);
  });

  it('refuses RSA keys, truncated keys and points off the curve', () => {
    expect(() => check(signedBody(unsent, { key: createKey('rsa') }))).toThrow(
      /Invalid public key/,
    );
    const truncated = other.der.slice(0, -1);
    const offCurve = other.der.map((byte, index) => (index === 60 ? byte ^ 1 : byte));
    for (const der of [truncated, offCurve, new Uint8Array(), Uint8Array.of(0x30)]) {
      const key = { ...other, der, sender: Principal.selfAuthenticating(der) };
      expect(() => check(signedBody(unsent, { key }))).toThrow(/Invalid public key/);
    }
  });

  it('requires the anonymous sender to send no signature', () => {
    const content = callContent({});
    expect(check(encodeSelfDescribed({ content }))).toBeUndefined();
    expect(() => check(signedBody(content, { key: owner }))).toThrow(
      /not allowed for the anonymous/,
    );
  });

  it('accepts a signed nonce, and refuses one of more than 32 bytes', () => {
    const nonce = new Uint8Array(32);
    const body = signedBody({ ...unsent, nonce }, { key: owner });
    expect(check(body)).toBeUndefined();
    const long = signedBody({ ...unsent, nonce: new Uint8Array(33) }, { key: owner });
    expect(() => check(long)).toThrow(/Nonce is too big/);
  });
});

describe('authenticate() of the expiry', () => {
  const expiring = (expiryNs: bigint) =>
    encodeSelfDescribed({ content: callContent({ ingress_expiry: expiryNs }) });

  it('accepts from now to now + 5.5 minutes, both included', () => {
    for (const expiryNs of [nowNs, nowNs + 330n * secondNs]) {
      expect(check(expiring(expiryNs))).toBeUndefined();
    }
  });

  it('refuses any other expiry, even by one nanosecond, with the text that agents recognize', () => {
    for (const expiryNs of [nowNs - 1n, nowNs + 330n * secondNs + 1n, 0n, 2n ** 64n - 1n]) {
      expect(() => check(expiring(expiryNs))).toThrow(
        /^Invalid request expiry: Specified ingress_expiry not within expected range: Minimum allowed expiry: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{9})? UTC, Maximum/,
      );
    }
  });

  it('applies to signed queries, but not to anonymous ones', () => {
    const stale = { request_type: 'query', ingress_expiry: 1n };
    const anonymous = encodeSelfDescribed({ content: callContent(stale) });
    expect(check(anonymous, 'query')).toBeUndefined();
    const signed = signedBody({ ...unsent, ...stale }, { key: owner });
    expect(() => check(signed, 'query')).toThrow(/Invalid request expiry/);
  });
});

describe('authenticate() of delegations', () => {
  it('accepts a chain of mixed key kinds signed by its last key', () => {
    const chain = [
      delegate({ from: owner, to: session, expirationNs: laterNs }),
      delegate({ from: session, to: other, expirationNs: laterNs }),
    ];
    expect(check(delegated(chain, other))).toBeUndefined();
    expect(() => check(delegated(chain, session))).toThrow(/Invalid signature/);
    expect(() => check(delegated(chain.slice(1), other))).toThrow(/Invalid delegation/);
  });

  it('refuses an expired delegation, even by a nanosecond', () => {
    const at = (expirationNs: bigint) =>
      delegated([delegate({ from: owner, to: session, expirationNs })], session);
    expect(check(at(nowNs))).toBeUndefined();
    expect(() => check(at(nowNs - 1n))).toThrow(/Invalid delegation expiry/);
  });

  it('refuses cycles and chains of more than twenty', () => {
    const step = { from: owner, to: owner, expirationNs: laterNs };
    expect(() => check(delegated([delegate(step)], owner))).toThrow(/cycle/);
    const keys = [owner, ...Array.from({ length: 21 }, () => createKey('ed25519'))];
    const chain = keys
      .slice(1)
      .map((to, index) => delegate({ from: keys[index] ?? owner, to, expirationNs: laterNs }));
    const twenty = keys[20];
    if (twenty === undefined) throw new Error('there is no twentieth key');
    expect(check(delegated(chain.slice(0, 20), twenty))).toBeUndefined();
    expect(() => check(delegated(chain, keys[21] ?? owner))).toThrow(/too long: got 21/);
  });

  it('allows only canisters that all delegations name as targets', () => {
    const second = Principal.fromHex('00000000000000020101');
    const chain = [
      delegate({ from: owner, to: session, expirationNs: laterNs, targets: [canisterId, second] }),
      delegate({ from: session, to: other, expirationNs: laterNs, targets: [second] }),
    ];
    const targets = check(delegated(chain, other));
    expect(targets?.map((id) => id.toText())).toEqual([second.toText()]);
    expect(() => checkTargets(second, targets)).not.toThrow();
    expect(() => checkTargets(canisterId, targets)).toThrow(/not one of the delegation targets/);
    expect(() => checkTargets(canisterId, undefined)).not.toThrow();
    // A later delegation with more targets, or without targets, does not widen the first.
    const named = [[second], [canisterId, second], undefined];
    const keys = [owner, session, other, createKey('ed25519')];
    const wider = named.map((targets, index) => {
      const [from, to] = [keys[index] ?? owner, keys[index + 1] ?? owner];
      return delegate({ from, to, expirationNs: laterNs, ...(targets && { targets }) });
    });
    const left = check(delegated(wider, keys[3] ?? owner));
    expect(left?.map((id) => id.toText())).toEqual([second.toText()]);
  });

  it('with permissions "queries" allows no call', () => {
    const permit = (permissions: string) => [
      delegate({ from: owner, to: session, expirationNs: laterNs, permissions }),
    ];
    const query = { ...unsent, request_type: 'query' };
    expect(check(delegated(permit('queries'), session, query), 'query')).toBeUndefined();
    expect(() => check(delegated(permit('queries'), session))).toThrow(/permits queries only/);
    expect(check(delegated(permit('all'), session))).toBeUndefined();
    expect(() => check(delegated(permit('some'), session))).toThrow(/unknown permissions/);
  });
});
