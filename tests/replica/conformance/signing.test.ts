// Signatures for canisters, compared with test vectors of SLIP-10 and of the network's crates, with
// keys derived from public keys only, and with the verifiers of @noble/curves.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { ed25519 } from '@noble/curves/ed25519';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1';
import { describe, expect, test } from 'vitest';
import {
  deriveAlong,
  ed25519Group,
  masterKey,
  secp256k1Group,
} from '../../../packages/replica/src/management/key-derivation.ts';
import {
  createSigningKeys,
  type SigningScheme,
} from '../../../packages/replica/src/management/signing-keys.ts';
import { startReplica } from '../../../packages/replica/src/replica.ts';
import { installForwarder } from '../../support/forwarder/forwarder.ts';
import {
  blob,
  createFixture,
  encode,
  owner,
  rejected,
  replied,
  stranger,
} from '../management/management-fixture.ts';

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const bytes = (text: string) => new TextEncoder().encode(text);
const toHex = (key: Uint8Array) => Buffer.from(key).toString('hex');
const bip32 = (...path: number[]) =>
  path.map((index) => {
    const encoded = new Uint8Array(4);
    new DataView(encoded.buffer).setUint32(0, index);
    return encoded;
  });

describe('Interface specification, "IC method ecdsa_public_key": keys derive by BIP32', () => {
  // SLIP-10, "Test vector 1 for secp256k1": m/0'/1/2' and below it.
  test('a public key and its secret key derive the same child', () => {
    const from = {
      publicKey: hex('0357bfe1e341d01c69fe5654309956cbea516822fba8a601743a012a7896ee8dc2'),
      chainCode: hex('04466b9cc8e161e966409ca52986c584f07e9dc81f735db683c3ff6ec7b1503f'),
    };
    const secret = BigInt('0xcbce0d719ecf7431d88e6a89fa1483e02e35092af60c042b1df2ff59fa424dca');
    const { key, offset } = deriveAlong(secp256k1Group, from, bip32(2, 1_000_000_000));
    expect(toHex(key.publicKey)).toBe(
      '022a471424da5e657499d1ff51cb43c47481a03b1e77f951fe64cec9f5a48f7011',
    );
    expect(toHex(key.chainCode)).toBe(
      'c783e67b921d2beb8f6b389cc646d7263b4145701dadd2161548a8b078e65e9e',
    );
    expect((secret + offset) % secp256k1Group.order).toBe(
      BigInt('0x471b76e389e528d6de6d816857e012c5455051cad6660850e58372a6c3e6e7c8'),
    );
  });
});

describe('Interface specification, "Ed25519 hierarchical key derivation"', () => {
  // `dfinity/ic` packages/ic-ed25519/tests/tests.rs: the network's master keys, and the answers of
  // `schnorr_public_key` to this canister.
  test.each([
    {
      master: '476374d9df3a8af28d3164dc2422cff894482eadd1295290b6d9ad92b2eeaa5c',
      path: [hex('abcdef'), hex('012345')],
      child: '43f0008b26564b6da51f585ad47669dfeb1db6d94d7dd216bd304fc1f5f5e997',
    },
    {
      master: '6c0824beb37621bcca6eecc237ed1bc4e64c9c59dcb85344aa7f9cc8278ee31f',
      path: [bytes('Hello'), bytes('Threshold'), bytes('Signatures')],
      child: 'd9a2ce6a3cd33fe16dce37e045609e51ff516e93bb51013823d6d7a915e3cfb9',
    },
  ])('of the network’s master key $master', ({ master, path, child }) => {
    const canisterId = Principal.fromText('h5jwf-5iaaa-aaaan-qmvoa-cai').toUint8Array();
    const derived = deriveAlong(ed25519Group, masterKey(hex(master)), [canisterId, ...path]);
    expect(toHex(derived.key.publicKey)).toBe(child);
  });

  test('a chain code can be derived further', () => {
    const master = hex('931387a550eb4524a7af29381b938df38e76aeecac08e2cfaae4f4ca99bb4881');
    const { key } = deriveAlong(ed25519Group, masterKey(master), bip32(1, 2));
    expect(toHex(key.publicKey)).toBe(
      '8efb675fcaf45c93e785ff535e380d9019c876a7c5faed264b911f97ef34d838',
    );
    expect(toHex(key.chainCode)).toBe(
      '2562ad75c50708f8d20c442e48b3f8ee851570be256ef0a7060b9f755a837216',
    );
  });
});

const extendedKey = IDL.Record({ public_key: blob, chain_code: blob });
const signature = IDL.Record({ signature: blob });
const ecdsaKeyId = IDL.Record({ curve: IDL.Variant({ secp256k1: IDL.Null }), name: IDL.Text });
const schnorrKeyId = IDL.Record({
  algorithm: IDL.Variant({ bip340secp256k1: IDL.Null, ed25519: IDL.Null }),
  name: IDL.Text,
});
const ecdsaSign = IDL.Record({
  message_hash: blob,
  derivation_path: IDL.Vec(blob),
  key_id: ecdsaKeyId,
});
const schnorrSign = IDL.Record({
  message: blob,
  derivation_path: IDL.Vec(blob),
  key_id: schnorrKeyId,
  aux: IDL.Opt(IDL.Variant({ bip341: IDL.Record({ merkle_root_hash: blob }) })),
});
const publicKeyArgument = (keyId: IDL.Type) =>
  IDL.Record({
    canister_id: IDL.Opt(IDL.Principal),
    derivation_path: IDL.Vec(blob),
    key_id: keyId,
  });

const path = [bytes('wallet'), new Uint8Array(0), new Uint8Array(300).fill(9)];
const hash = new Uint8Array(32).fill(0xab);
const cycles = 30_000_000_000n;
const byCanister = { caller: stranger, fromCanister: true, cycles };

type KeyId = { readonly name: string } & Record<string, unknown>;

/** Returns the key that a canister receives; fails if it differs from the key derived offline. */
async function publicKeyOf(
  fixture: ReturnType<typeof createFixture>,
  scheme: SigningScheme,
  keyId: KeyId,
): Promise<Uint8Array> {
  const isEcdsa = scheme === 'ecdsa:Secp256k1';
  const type = publicKeyArgument(isEcdsa ? ecdsaKeyId : schnorrKeyId);
  const method = isEcdsa ? 'ecdsa_public_key' : 'schnorr_public_key';
  const group = scheme === 'schnorr:Ed25519' ? ed25519Group : secp256k1Group;
  const master = masterKey(fixture.signingKeys.masterPublicKey(scheme, keyId.name));
  const { key } = deriveAlong(group, master, [stranger.toUint8Array(), ...path]);
  for (const [canisterId, caller] of [[[], stranger] as const, [[stranger], owner] as const]) {
    const value = { canister_id: canisterId, derivation_path: path, key_id: keyId };
    const arg = encode(type, value);
    const answer = replied(extendedKey, await fixture.call(method, arg, { ...byCanister, caller }));
    expect(answer).toEqual({ public_key: key.publicKey, chain_code: key.chainCode });
  }
  return key.publicKey;
}

const keys = [
  { name: 'key_1', fee: 26_153_846_153n },
  { name: 'test_key_1', fee: 10_000_000_000n },
  { name: 'dfx_test_key', fee: 10_000_000_000n },
] as const;

describe('Interface specification, "IC method sign_with_ecdsa"', () => {
  test.each(keys)('$name signs a hash for $fee cycles', async ({ name, fee }) => {
    const fixture = createFixture();
    const keyId = { curve: { secp256k1: null }, name };
    const publicKey = await publicKeyOf(fixture, 'ecdsa:Secp256k1', keyId);
    const value = { message_hash: hash, derivation_path: path, key_id: keyId };
    const result = await fixture.call('sign_with_ecdsa', encode(ecdsaSign, value), byCanister);
    const answer = replied(signature, result) as { signature: Uint8Array };
    expect(answer.signature).toHaveLength(64);
    expect(secp256k1.verify(answer.signature, hash, publicKey, { prehash: false })).toBe(true);
    expect(result.refundedCycles).toBe(cycles - fee);
  });
});

describe('Interface specification, "IC method sign_with_schnorr"', () => {
  const message = bytes('of any length, as BIP340 has it since 2023');

  async function sign(fixture: ReturnType<typeof createFixture>, keyId: KeyId, aux: unknown[]) {
    const value = { message, derivation_path: path, key_id: keyId, aux };
    const result = await fixture.call('sign_with_schnorr', encode(schnorrSign, value), byCanister);
    return { result, ...(replied(signature, result) as { signature: Uint8Array }) };
  }

  test.each(keys)('$name signs by BIP340 and Ed25519 for $fee cycles', async ({ name, fee }) => {
    const fixture = createFixture();
    const bip340 = { algorithm: { bip340secp256k1: null }, name };
    const first = await publicKeyOf(fixture, 'schnorr:Bip340Secp256k1', bip340);
    const one = await sign(fixture, bip340, []);
    expect(schnorr.verify(one.signature, message, first.subarray(1))).toBe(true);
    expect(one.result.refundedCycles).toBe(cycles - fee);
    const edwards = { algorithm: { ed25519: null }, name };
    const second = await publicKeyOf(fixture, 'schnorr:Ed25519', edwards);
    const other = await sign(fixture, edwards, []);
    expect(ed25519.verify(other.signature, message, second)).toBe(true);
    expect((await sign(fixture, edwards, [])).signature).not.toEqual(other.signature);
    expect(other.result.refundedCycles).toBe(cycles - fee);
  });

  test.each([0, 32])('bip341 signs for the output key of a %i-byte Merkle root', async (length) => {
    const fixture = createFixture();
    const root = new Uint8Array(length).fill(5);
    const keyId = { algorithm: { bip340secp256k1: null }, name: 'key_1' };
    const internal = (await publicKeyOf(fixture, 'schnorr:Bip340Secp256k1', keyId)).subarray(1);
    const { signature: signed } = await sign(fixture, keyId, [
      { bip341: { merkle_root_hash: root } },
    ]);
    // BIP341, `taproot_tweak_pubkey`.
    const tweak = schnorr.utils.taggedHash('TapTweak', internal, root);
    const output = schnorr.utils
      .lift_x(BigInt(`0x${toHex(internal)}`))
      .add(schnorr.Point.BASE.multiply(BigInt(`0x${toHex(tweak)}`)));
    expect(schnorr.verify(signed, message, schnorr.utils.pointToBytes(output))).toBe(true);
    expect(schnorr.verify(signed, message, internal)).toBe(false);
  });
});

describe('Interface specification, "Otherwise, the call is rejected"', () => {
  const ecdsa = { curve: { secp256k1: null }, name: 'key_1' };
  const edwards = { algorithm: { ed25519: null }, name: 'key_1' };
  const bip340 = { algorithm: { bip340secp256k1: null }, name: 'key_1' };
  const goodEcdsa = { message_hash: hash, derivation_path: [], key_id: ecdsa };
  const goodSchnorr = { message: hash, derivation_path: [], key_id: bip340, aux: [] };
  const root = (length: number) => [{ bip341: { merkle_root_hash: new Uint8Array(length) } }];
  const deep = Array.from({ length: 256 }, () => new Uint8Array(1));

  test.each([
    ['sign_with_ecdsa', { ...goodEcdsa, message_hash: hash.subarray(1) }, /32 bytes, not 31/],
    ['sign_with_ecdsa', { ...goodEcdsa, derivation_path: deep }, /at most 255 .*not 256/],
    ['sign_with_ecdsa', { ...goodEcdsa, key_id: { ...ecdsa, name: 'key_2' } }, /key_2, existing/],
    ['sign_with_schnorr', { ...goodSchnorr, aux: root(31) }, /must have 0 or 32 bytes, not 31/],
    ['sign_with_schnorr', { ...goodSchnorr, key_id: edwards, aux: root(32) }, /only for algorithm/],
    ['sign_with_schnorr', { ...goodSchnorr, key_id: { ...bip340, name: '' } }, /unknown or dis/],
  ])('%s with %o', async (method, value, words) => {
    const { call } = createFixture();
    const type = method === 'sign_with_ecdsa' ? ecdsaSign : schnorrSign;
    const result = await call(method, encode(type, value), byCanister);
    expect(rejected(result).message).toMatch(words);
    expect(result.refundedCycles).toBe(cycles);
  });

  test('too few cycles are reported and returned', async () => {
    const { call } = createFixture();
    const options = { ...byCanister, cycles: 26_153_846_152n };
    const result = await call('sign_with_ecdsa', encode(ecdsaSign, goodEcdsa), options);
    expect(rejected(result).message).toBe(
      'sign_with_ecdsa request sent with 26153846152 cycles, ' +
        'but 26153846153 cycles are required.',
    );
    expect(result.refundedCycles).toBe(26_153_846_152n);
  });
});

test('a canister has the same key after a restart', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'replica-signing-'));
  try {
    const argument = { canister_id: [], derivation_path: path };
    const keyId = { algorithm: { ed25519: null }, name: 'key_1' };
    const arg = encode(publicKeyArgument(schnorrKeyId), { ...argument, key_id: keyId });
    const first = await startReplica({ stateDir, server: false });
    const forwarder = await installForwarder(first);
    const key = await forwarder.call('aaaaa-aa', 'schnorr_public_key', arg);
    await first.stop();
    const second = await startReplica({ stateDir, server: false });
    expect(await forwarder.on(second).call('aaaaa-aa', 'schnorr_public_key', arg)).toEqual(key);
    await second.stop();
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
});

test('signing keys depend only on the seed, and a short seed is refused', () => {
  const key = (fill: number) =>
    createSigningKeys(new Uint8Array(32).fill(fill)).masterPublicKey('ecdsa:Secp256k1', 'key_1');
  expect(key(1)).toEqual(key(1));
  expect(key(1)).not.toEqual(key(2));
  expect(() => createSigningKeys(new Uint8Array(31))).toThrow(/32 bytes/);
});
