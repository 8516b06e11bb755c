// Compares with the official client: the keys that it derives offline, decrypts and verifies must
// equal the replica's.

import { Principal } from '@dfinity/principal';
import {
  DerivedPublicKey,
  EncryptedVetKey,
  IbeCiphertext,
  IbeIdentity,
  IbeSeed,
  MasterPublicKey,
  TransportSecretKey,
} from '@dfinity/vetkeys';
import { bls12_381 } from '@noble/curves/bls12-381';
import { describe, expect, test } from 'vitest';
import { createVetKeys } from '../../../packages/replica/src/management/vetkd.ts';

const seed = new Uint8Array(32).fill(7);
const vetKeys = createVetKeys(seed);
const canisterId = Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai').toUint8Array();
const context = new TextEncoder().encode('file keys');
const input = new TextEncoder().encode('alice');
const random = () => crypto.getRandomValues(new Uint8Array(32));
const path = { keyName: 'key_1', canisterId, context };

function officialKey(keyName: string): MasterPublicKey {
  return MasterPublicKey.deserialize(vetKeys.masterPublicKey(keyName));
}

function encryptedFor(transport: TransportSecretKey): Uint8Array {
  const transportPublicKey = transport.publicKeyBytes();
  const encrypted = vetKeys.encryptedKey({ ...path, input, transportPublicKey, random: random() });
  if (encrypted === undefined) throw new Error('the transport key was refused');
  return encrypted;
}

describe.each(['key_1', 'test_key_1', 'dfx_test_key'])('%s', (keyName) => {
  test('public keys equal those that the official client derives offline', () => {
    const canisterKey = officialKey(keyName).deriveCanisterKey(canisterId);
    const noContext = vetKeys.publicKey({ keyName, canisterId, context: new Uint8Array(0) });
    expect(noContext).toEqual(canisterKey.publicKeyBytes());
    const withContext = vetKeys.publicKey({ keyName, canisterId, context });
    expect(withContext).toEqual(canisterKey.deriveSubKey(context).publicKeyBytes());
  });

  test('an encrypted key is decrypted and verified by the official client', () => {
    for (const about of [context, new Uint8Array(0)]) {
      const transport = TransportSecretKey.random();
      const bytes = vetKeys.encryptedKey({
        keyName,
        canisterId,
        context: about,
        input,
        transportPublicKey: transport.publicKeyBytes(),
        random: random(),
      });
      const publicKey = DerivedPublicKey.deserialize(
        vetKeys.publicKey({ keyName, canisterId, context: about }),
      );
      const encrypted = EncryptedVetKey.deserialize(bytes ?? new Uint8Array(0));
      expect(encrypted.decryptAndVerify(transport, publicKey, input).signatureBytes()).toHaveLength(
        48,
      );
    }
  });
});

describe('vetKeys', () => {
  const publicKey = DerivedPublicKey.deserialize(vetKeys.publicKey(path));

  test('the same request returns the same key under different encryptions', () => {
    const one = TransportSecretKey.random();
    const two = TransportSecretKey.random();
    const first = encryptedFor(one);
    const second = encryptedFor(two);
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(encryptedFor(one));
    const open = (bytes: Uint8Array, transport: TransportSecretKey) =>
      EncryptedVetKey.deserialize(bytes).decryptAndVerify(transport, publicKey, input).serialize();
    expect(open(first, one)).toEqual(open(second, two));
  });

  test('a key decrypts ciphertexts for its identity', () => {
    const transport = TransportSecretKey.random();
    const key = EncryptedVetKey.deserialize(encryptedFor(transport));
    const message = new TextEncoder().encode('for alice');
    const sealed = IbeCiphertext.encrypt(
      publicKey,
      IbeIdentity.fromBytes(input),
      message,
      IbeSeed.random(),
    );
    expect(sealed.decrypt(key.decryptAndVerify(transport, publicKey, input))).toEqual(message);
  });

  test('a wrong transport key, input, context, canister or key name fails verification', () => {
    const transport = TransportSecretKey.random();
    const encrypted = EncryptedVetKey.deserialize(encryptedFor(transport));
    const keyOf = (other: object) =>
      DerivedPublicKey.deserialize(vetKeys.publicKey({ ...path, ...other }));
    const wrong = [
      [TransportSecretKey.random(), publicKey, input],
      [transport, publicKey, context],
      [transport, keyOf({ context: input }), input],
      [transport, keyOf({ canisterId: Uint8Array.of(4) }), input],
      [transport, keyOf({ keyName: 'test_key_1' }), input],
    ] as const;
    for (const [secret, key, about] of wrong) {
      expect(() => encrypted.decryptAndVerify(secret, key, about)).toThrow();
    }
  });

  test('a transport key that is not a point, not in the subgroup, or neutral is refused', () => {
    const good = TransportSecretKey.random().publicKeyBytes();
    const outsideSubgroup = pointOutsideSubgroup();
    const bad = [
      new Uint8Array(0),
      good.subarray(1),
      new Uint8Array(48),
      new Uint8Array(48).fill(255),
      bls12_381.G1.ProjectivePoint.ZERO.toRawBytes(true),
      bls12_381.G1.ProjectivePoint.BASE.toRawBytes(false),
      outsideSubgroup,
    ];
    for (const transportPublicKey of bad) {
      const request = { ...path, input, transportPublicKey, random: random() };
      expect(vetKeys.encryptedKey(request)).toBeUndefined();
    }
  });

  test('keys depend only on the seed, and a short seed is refused', () => {
    expect(createVetKeys(seed).publicKey(path)).toEqual(vetKeys.publicKey(path));
    const other = createVetKeys(new Uint8Array(32).fill(8));
    expect(other.publicKey(path)).not.toEqual(vetKeys.publicKey(path));
    expect(() => createVetKeys(new Uint8Array(31))).toThrow(/32 bytes/);
  });
});

/**
 * The curve has far more points than the subgroup, so the first x whose right side is a square
 * gives a point outside the subgroup.
 */
function pointOutsideSubgroup(): Uint8Array {
  const { Fp } = bls12_381.fields;
  for (let x = 1n; ; x += 1n) {
    const right = Fp.add(Fp.pow(x, 3n), 4n);
    if (!Fp.eql(Fp.pow(right, (Fp.ORDER - 1n) / 2n), Fp.ONE)) continue;
    const bytes = new Uint8Array(Buffer.from(x.toString(16).padStart(96, '0'), 'hex'));
    bytes[0] = 0x80;
    return bytes;
  }
}
