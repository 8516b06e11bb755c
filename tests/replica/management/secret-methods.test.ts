// Randomness and vetKeys through the management canister: answers, fees and refusals.

import { IDL } from '@dfinity/candid';
import { EncryptedVetKey, MasterPublicKey, TransportSecretKey } from '@dfinity/vetkeys';
import { describe, expect, test } from 'vitest';
import {
  blob,
  createFixture,
  encode,
  owner,
  rejected,
  replied,
  stranger,
  vetKeyId,
} from './management-fixture.ts';

const empty = new Uint8Array(IDL.encode([], []));
const byCanister = { caller: stranger, fromCanister: true };

describe('secrets', () => {
  const publicKeyRecord = IDL.Record({
    canister_id: IDL.Opt(IDL.Principal),
    context: blob,
    key_id: vetKeyId,
  });
  const deriveRecord = IDL.Record({
    input: blob,
    context: blob,
    transport_public_key: blob,
    key_id: vetKeyId,
  });
  const keyId = { curve: { bls12_381_g2: null }, name: 'key_1' };
  const context = Uint8Array.of(1, 2);
  const input = Uint8Array.of(3);

  test('raw_rand returns 32 new bytes at each call', async () => {
    const { call } = createFixture();
    const first = replied(blob, await call('raw_rand', empty, byCanister));
    const second = replied(blob, await call('raw_rand', empty, byCanister));
    expect(first).toHaveLength(32);
    expect(first).not.toEqual(second);
  });

  test('vetkd_derive_key satisfies the official client and keeps its fee', async () => {
    const { call, vetKeys } = createFixture();
    const transport = TransportSecretKey.random();
    const value = {
      input,
      context,
      key_id: keyId,
      transport_public_key: transport.publicKeyBytes(),
    };
    const options = { ...byCanister, cycles: 30_000_000_000n };
    const result = await call('vetkd_derive_key', encode(deriveRecord, value), options);
    expect(result.refundedCycles).toBe(30_000_000_000n - 26_153_846_153n);
    const { encrypted_key: bytes } = replied(IDL.Record({ encrypted_key: blob }), result) as {
      encrypted_key: Uint8Array;
    };
    const publicKey = MasterPublicKey.deserialize(vetKeys.masterPublicKey('key_1'))
      .deriveCanisterKey(stranger.toUint8Array())
      .deriveSubKey(context);
    EncryptedVetKey.deserialize(bytes).decryptAndVerify(transport, publicKey, input);
    // Both ways: the canister's own key, and the same key named by another canister.
    for (const [id, caller] of [[[], stranger] as const, [[stranger], owner] as const]) {
      const arg = encode(publicKeyRecord, { canister_id: id, context, key_id: keyId });
      const asked = await call('vetkd_public_key', arg, { caller, fromCanister: true });
      expect(replied(IDL.Record({ public_key: blob }), asked)).toEqual({
        public_key: publicKey.publicKeyBytes(),
      });
    }
  });

  test('vetkd_derive_key refuses too few cycles, invalid and unknown keys', async () => {
    const { call } = createFixture();
    const transport_public_key = TransportSecretKey.random().publicKeyBytes();
    const good = { input, context, key_id: { ...keyId, name: 'test_key_1' }, transport_public_key };
    const cases = [
      [good, 9_999_999_999n, /9999999999 cycles, but 10000000000 cycles are required/],
      [{ ...good, transport_public_key: new Uint8Array(48) }, 10n ** 10n, /invalid transport/],
      [
        { ...good, key_id: { ...keyId, name: 'key_2' } },
        10n ** 11n,
        /unknown .*key_2.*key_1.*test_key_1/,
      ],
    ] as const;
    for (const [value, cycles, message] of cases) {
      const options = { ...byCanister, cycles };
      const result = await call('vetkd_derive_key', encode(deriveRecord, value), options);
      expect(rejected(result).message).toMatch(message);
      expect(result.refundedCycles).toBe(cycles);
    }
    const arg = encode(publicKeyRecord, {
      canister_id: [],
      context,
      key_id: { ...keyId, name: 'x' },
    });
    expect(rejected(await call('vetkd_public_key', arg, byCanister)).message).toMatch(/unknown/);
  });
});
