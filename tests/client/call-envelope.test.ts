// The envelope of a large call equals the agent's: same request id, same fields, and a signature
// over that id.

import { createPublicKey, verify } from 'node:crypto';
import { Cbor, requestIdOf, type SignIdentity } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { DelegationChain, DelegationIdentity, Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { Principal } from '@icp-sdk/core/principal';
import { describe, expect, test } from 'vitest';
import {
  argumentStart,
  type LargeCall,
  leb128,
  sealCall,
  sealCallBy,
} from '../../packages/client/src/actor/call-envelope.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { newIdentity } from '../../scripts/local-service.ts';
import { concatBytes } from '../../src/lib/bytes.ts';
import { sampleBytes } from '../support/service.ts';

const canisterId = Principal.fromText('rwlgt-iiaaa-aaaaa-aaaaa-cai');
const method = 'uploadFileChunkIndexed';
const expiryNs = 1_800_000_000_000_000_000n;

type Unsigned = Omit<LargeCall, 'identity'>;

interface Decoded {
  readonly content: Record<string, Uint8Array | string | bigint>;
  readonly sender_pubkey?: Uint8Array;
  readonly sender_sig?: Uint8Array;
}

async function sealed(blob: Uint8Array, identity?: SignIdentity) {
  const start = argumentStart([IDL.Text, IDL.Nat], ['upload', 7n]);
  const call = { canisterId, method, argumentStart: start, blob, expiryNs, identity };
  // Returns a used buffer that is longer than necessary.
  const used = (length: number) => new Uint8Array(length + 9).fill(0xaa);
  const { body, requestId, blobStart } = await sealCall(call, used);
  const sent = body.subarray(blobStart, blobStart + blob.length);
  expect(Buffer.compare(sent, blob)).toBe(0);
  return { requestId, decoded: Cbor.decode<Decoded>(body.slice()) };
}

test.each([0, 1, 127, 128, 65_536, 1_900_000])(
  "sealCall() makes the agent's envelope for an argument with %i bytes",
  async (length) => {
    const blob = sampleBytes('envelope', length);
    const { requestId, decoded } = await sealed(blob);
    const { content } = decoded;
    const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
    const argument = IDL.encode(types, ['upload', 7n, blob]);
    expect(Buffer.compare(content.arg as Uint8Array, argument)).toBe(0);
    expect(content).toMatchObject({ request_type: 'call', method_name: method });
    expect(content.ingress_expiry).toBe(expiryNs);
    expect(new Uint8Array(content.canister_id as Uint8Array)).toEqual(canisterId.toUint8Array());
    expect(new Uint8Array(content.sender as Uint8Array)).toEqual(Uint8Array.of(4));
    expect(Buffer.from(requestId)).toEqual(Buffer.from(requestIdOf(content)));
    expect(decoded.sender_sig).toBeUndefined();
  },
);

test('sealCall(): an identity signs the request id', async () => {
  const identity = identityFromPem(newIdentity()) as SignIdentity;
  const { requestId, decoded } = await sealed(sampleBytes('signed', 100), identity);
  const der = Buffer.from(decoded.sender_pubkey ?? []);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const message = concatBytes(new TextEncoder().encode('\x0Aic-request'), requestId);
  expect(verify(null, message, key, Buffer.from(decoded.sender_sig ?? []))).toBe(true);
  expect(new Uint8Array(decoded.content.sender as Uint8Array)).toEqual(
    identity.getPrincipal().toUint8Array(),
  );
});

describe('an identity with delegations', async () => {
  const [person, session] = [Ed25519KeyIdentity.generate(), Ed25519KeyIdentity.generate()];
  const until = new Date(Date.now() + 60_000);
  const chain = await DelegationChain.create(person, session.getPublicKey(), until);
  const identity = DelegationIdentity.fromDelegation(session, chain);
  const blob = sampleBytes('delegated', 70_000);

  test.each([
    ['sealCall()', (call: Unsigned) => sealCall({ ...call, identity }, (n) => new Uint8Array(n))],
    ['sealCallBy()', (call: Unsigned) => sealCallBy(identity, call)],
  ])("sealCall(), sealCallBy(): %s makes the agent's envelope", async (_name, seal) => {
    const start = argumentStart([IDL.Text, IDL.Nat], ['upload', 7n]);
    const call = { canisterId, method, argumentStart: start, blob, expiryNs };
    const { body, requestId } = await seal(call);
    const decoded = Cbor.decode<Decoded & { readonly sender_delegation: unknown[] }>(body);
    const { content } = decoded;
    const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
    const argument = IDL.encode(types, ['upload', 7n, blob]);
    expect(Buffer.compare(content.arg as Uint8Array, argument)).toBe(0);
    expect(Buffer.from(requestId)).toEqual(Buffer.from(requestIdOf(content)));
    const request = { endpoint: 'call', request: {}, body: content };
    const { body: expected } = (await identity.transformRequest(request as never)) as {
      readonly body: object;
    };
    // Ed25519 signs the same bytes with the same signature
    expect(decoded).toEqual(Cbor.decode(Cbor.encode(expected)));
  });
});

test('leb128() writes seven bits per byte, the lowest first', () => {
  for (const [value, bytes] of [
    [0n, [0]],
    [127n, [0x7f]],
    [128n, [0x80, 1]],
    [624_485n, [0xe5, 0x8e, 0x26]],
  ] as const) {
    expect([...leb128(value)]).toEqual([...bytes]);
  }
});
