// The root key on the built canister: fetched from the network's vetKD after install and upgrade,
// once for any number of waiting calls, and always the same key.

import { createHmac } from 'node:crypto';
import { IDL } from '@dfinity/candid';
import { DerivedPublicKey, EncryptedVetKey, TransportSecretKey } from '@dfinity/vetkeys';
import { describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import {
  decodeAnswer,
  encodeQueryRequest,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { createVetKeys } from '../../packages/replica/src/management/vetkd.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { KeyNetwork, networkWithKey, reportsOfFirstKey, settings } from '../support/key-network.ts';

const unavailable = { err: expect.stringMatching(/^ServiceUnavailable: /) };
const bytes = new Uint8Array(100_000).map((_, index) => index * 7);
const emptyBody = new Uint8Array(0);
const messageInstructionsMax = 40_000_000_000n;

async function installed(argument?: Uint8Array): Promise<KeyNetwork> {
  const network = new KeyNetwork();
  await network.install(argument);
  return network;
}

function storeFile(network: KeyNetwork) {
  const upload = { bucketId: 'photos', path: 'a.bin', contentType: 'image/png', bytes };
  const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  return network.call('uploadFile', { ...upload, ...none });
}

async function expectFile(network: KeyNetwork): Promise<void> {
  const end = BigInt(bytes.length);
  const { ok } = await network.call('readFile', 'photos', 'a.bin', 0n, end, []);
  expectSameBytes(ok as Uint8Array, bytes);
}

describe('after the installation', () => {
  test('the key is fetched by a timer, without any request, skipping names that the network does not know', async () => {
    const network = new KeyNetwork();
    network.keyNames = ['dfx_test_key'];
    await network.install();
    expect(await network.status()).toMatchObject({ rootKey: 'vetkd', isKeyPresent: false });
    await network.wait(0);
    expect(await network.status()).toMatchObject({ keyName: 'dfx_test_key', isKeyPresent: true });
    const kinds = () => network.answersTo('vetkd_derive_key').map(({ kind }) => kind);
    expect(kinds()).toEqual(['reject', 'reject', 'reply']);
    expect(await network.call('createBucket', 'photos')).toHaveProperty('ok');
    expect(kinds()).toHaveLength(3);
  });

  test('a write that arrives first waits for the key, and the timer then has nothing to do', async () => {
    const network = await installed();
    expect(await network.call('createBucket', 'photos')).toHaveProperty('ok');
    await network.wait(0);
    expect(await network.status()).toMatchObject({ keyName: 'key_1', isKeyPresent: true });
    expect(network.answersTo('vetkd_derive_key')).toHaveLength(1);
  });

  test('another failure is not mistaken for an unknown name', async () => {
    const network = new KeyNetwork();
    network.fee = 10n ** 15n;
    await network.install();
    await network.wait(0);
    expect(network.answersTo('vetkd_derive_key').map(({ kind }) => kind)).toEqual(['reject']);
    expect(await network.status()).toMatchObject({ keyName: '', isKeyPresent: false });
  });

  test('only the configured key name is requested', async () => {
    const network = new KeyNetwork();
    network.keyNames = ['key_1', 'dfx_test_key'];
    await network.install(settings({ vetkd: 'test_key_1' }));
    await network.wait(0);
    expect(network.answersTo('vetkd_derive_key').map(({ kind }) => kind)).toEqual(['reject']);
    expect(await network.status()).toMatchObject({ keyName: 'test_key_1', isKeyPresent: false });
    expect(await network.call('createBucket', 'photos')).toEqual(unavailable);
  });

  test('a canister with too few cycles for the key refuses writes and logs the reason', async () => {
    // The freezing reserve takes 12 G cycles. A running message prepays 40 G, an installation its
    // limit, which is therefore lowered to 20 G.
    const network = new KeyNetwork({ limits: { installInstructions: 20_000_000_000n } });
    await network.install(undefined, 100_000_000_000n);
    expect(await network.call('createBucket', 'photos')).toEqual(unavailable);
    expect(network.prints.join()).toMatch(/Cannot fetch the root key: .*cycle/i);
    expect(await network.status()).toMatchObject({ keyName: '', isKeyPresent: false });
  });
});

describe('the root key', () => {
  test('is the one that the official client derives, and is not in stable memory', async () => {
    const network = await networkWithKey();
    await storeFile(network);
    const encode = (text: string) => new TextEncoder().encode(text);
    const [context, input] = [encode('encrypted-file-storage/root/v1'), encode('root key 1')];
    const canisterId = network.canisterId().toUint8Array();
    const path = { keyName: 'key_1', canisterId, context };
    const transport = TransportSecretKey.random();
    const transportPublicKey = transport.publicKeyBytes();
    const random = crypto.getRandomValues(new Uint8Array(32));
    const encrypted = network.vetKeys.encryptedKey({ ...path, input, transportPublicKey, random });
    const publicKey = DerivedPublicKey.deserialize(network.vetKeys.publicKey(path));
    const vetKey = EncryptedVetKey.deserialize(encrypted ?? new Uint8Array(0)).decryptAndVerify(
      transport,
      publicKey,
      input,
    );
    const rootKey = vetKey.deriveSymmetricKey('encrypted-file-storage/root-key/v1', 32);
    // Upgrades compare this check value, so its derivation must not change.
    const checkText = 'encrypted-file-storage/root-key-check';
    const check = createHmac('sha256', rootKey).update(checkText).digest();
    const stable = network.stableMemory();
    expect(stable.includes(check)).toBe(true);
    expect(stable.includes(Buffer.from(rootKey))).toBe(false);
    expect(stable.includes(Buffer.from(vetKey.signatureBytes()))).toBe(false);
  });
});

describe('after an upgrade', () => {
  test('the key is the same: files are readable, and twenty concurrent requests derive it once', async () => {
    const network = await networkWithKey();
    expect(await storeFile(network)).toHaveProperty('ok');
    await network.upgrade();
    network.reports.length = 0;
    const timer = network.wait(0);
    const names = Array.from({ length: 20 }, (_, index) => `bucket${index}`);
    const results = await Promise.all(names.map((name) => network.call('createBucket', name)));
    await timer;
    // Each call got the answer to its own request.
    expect(results).toEqual(names.map((id) => ({ ok: { id } })));
    expect(network.answersTo('vetkd_derive_key')).toHaveLength(1);
    // The key is known: only a new key is verified by a pairing.
    expect(network.answersTo('vetkd_public_key')).toHaveLength(0);
    await expectFile(network);
    expect(network.reports.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test('a GET that arrives first asks for an update, which waits for the key and answers', async () => {
    const network = await networkWithKey();
    await storeFile(network);
    await network.upgrade();
    const request = { method: 'GET', url: '/cloud/photos/a.bin', headers: [], body: emptyBody };
    const calls = createInProcessCalls(network.engine);
    const asked = encodeQueryRequest(request);
    const first = await calls.query(network.canisterId(), 'http_request', asked);
    expect(decodeAnswer(first)).toMatchObject({ isUpgrade: true });
    const again = encodeUpdateRequest(request);
    const answer = await calls.call(network.canisterId(), 'http_request_update', again);
    const { status, body, streaming } = decodeAnswer(answer);
    expect(status).toBe(200);
    // Queries return the bytes.
    expect(body).toHaveLength(0);
    expect(streaming).toBeDefined();
    expect(network.answersTo('vetkd_derive_key')).toHaveLength(1);
  });

  test('http_request_update stores a file with the time after its wait for the key', async () => {
    const network = await networkWithKey();
    const named = { name: 'k', buckets: ['photos'], permissions: ['write'], expiresAt: [] };
    const { ok: key } = await network.call('createApiKey', named);
    await network.upgrade();
    const sentNs = network.nowNs;
    network.onMessage = () => {
      if (network.reports.at(-1)?.kind === 'update') network.nowNs += 60_000_000_000n;
    };
    const url = '/api/v1/bucket/photos/files/late.bin';
    const { secret } = key as { secret: string };
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${secret}`],
      ['Content-Type', 'a/b'],
    ];
    const argument = encodeUpdateRequest({ method: 'PUT', url, headers, body: bytes });
    const calls = createInProcessCalls(network.engine);
    const answer = await calls.call(network.canisterId(), 'http_request_update', argument);
    network.onMessage = undefined;
    expect(decodeAnswer(answer).status).toBe(201);
    const { ok: file } = await network.call('getFile', 'photos', 'late.bin', []);
    expect((file as { updatedAt: bigint }).updatedAt).toBeGreaterThanOrEqual(
      sentNs + 60_000_000_000n,
    );
  });

  test('no message exceeds the instruction limit', async () => {
    const network = await networkWithKey();
    const costliest = (reports: readonly MessageReport[]) =>
      reports
        .filter(({ kind }) => kind === 'update' || kind === 'reply' || kind === 'timer')
        .reduce((most, { instructions }) => (instructions > most ? instructions : most), 0n);
    // The pairing and its tables are computed once in the life of a root key.
    const first = costliest(await reportsOfFirstKey());
    expect(first).toBeGreaterThan(1_000_000_000n);
    expect(first).toBeLessThan(messageInstructionsMax / 3n);
    await network.upgrade();
    expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
    expect(costliest(network.reports)).toBeGreaterThan(100_000_000n);
    expect(costliest(network.reports)).toBeLessThan(1_000_000_000n);
  });

  test('a different key is never accepted', async () => {
    const network = await networkWithKey();
    await storeFile(network);
    const right = network.vetKeys;
    network.vetKeys = createVetKeys(new Uint8Array(32).fill(8));
    await network.upgrade();
    expect(await storeFile(network)).toEqual(unavailable);
    expect(await network.status()).toMatchObject({ keyName: 'key_1', isKeyPresent: false });
    network.vetKeys = right;
    await network.wait(10);
    expect(await storeFile(network)).toHaveProperty('ok');
    await expectFile(network);
  });
});

describe('after a failure', () => {
  test('the key is fetched again by a timer, less and less often, and requests are refused meanwhile', async () => {
    const network = await networkWithKey();
    network.keyNames = [];
    await network.upgrade();
    network.reports.length = 0;
    await network.wait(0);
    const attempts = () => network.answersTo('vetkd_derive_key').length;
    expect(attempts()).toBe(1);
    // Requests do not try while the timer waits.
    expect(await network.call('createBucket', 'notes')).toEqual(unavailable);
    expect(attempts()).toBe(1);
    for (const [seconds, expected] of [
      [9, 1],
      [1, 2],
      [19, 2],
      [1, 3],
      [40, 4],
    ] as const) {
      await network.wait(seconds);
      expect(attempts()).toBe(expected);
    }
    for (let turn = 0; turn < 6; turn++) await network.wait(600);
    const before = attempts();
    await network.wait(600);
    expect(attempts()).toBe(before + 1);
    network.keyNames = ['key_1'];
    await network.wait(600);
    expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
  });

  test('an attempt whose message ran out of instructions ends, and another one follows', async () => {
    const network = new KeyNetwork({ limits: { updateInstructions: 1_000_000_000n } });
    await network.install();
    await network.wait(0);
    const attempts = () => network.answersTo('vetkd_derive_key').length;
    expect(network.answersTo('vetkd_public_key').map(({ kind }) => kind)).toContain('cleanup');
    expect(attempts()).toBe(1);
    expect(await network.call('createBucket', 'photos')).toEqual(unavailable);
    await network.wait(10);
    expect(attempts()).toBe(2);
    // One message fetches the key itself, the others wait for it.
    network.nowNs += 20_000_000_000n;
    const names = ['one', 'two', 'three'];
    const results = await Promise.allSettled(names.map((id) => network.call('createBucket', id)));
    expect(results.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    expect(attempts()).toBe(3);
  });

  test('the log contains no key', async () => {
    const network = new KeyNetwork();
    network.keyNames = [];
    await network.install();
    await network.wait(0);
    expect(network.prints.join('\n')).toMatch(/Cannot fetch the root key: .*unknown or disabled/);
    expect(network.prints.join('\n')).not.toMatch(/[0-9a-f]{40}|\d+,\d+,\d+/);
  });
});

describe('a stored root key', () => {
  test('needs no vetKD, and is available after an upgrade without a call', async () => {
    const network = new KeyNetwork();
    network.keyNames = [];
    await network.install(settings({ stored: null }));
    await network.call('createBucket', 'photos');
    expect(await storeFile(network)).toHaveProperty('ok');
    await network.upgrade();
    expect(await network.status()).toMatchObject({ rootKey: 'stored', isKeyPresent: true });
    await expectFile(network);
    expect(await storeFile(network)).toHaveProperty('ok');
    expect(network.answersTo('vetkd_derive_key')).toEqual([]);
  });
});

describe('the argument of install and upgrade', () => {
  test('may be omitted in every form that tools use, and need not name a source', async () => {
    const network = new KeyNetwork();
    const nothing = new Uint8Array(IDL.encode([IDL.Null], [null]));
    const none = new Uint8Array(IDL.encode([IDL.Opt(IDL.Text)], [[]]));
    for (const argument of [new Uint8Array(0), undefined, nothing, none, settings(undefined)]) {
      await network.install(argument);
      expect(await network.status()).toMatchObject({ rootKey: 'vetkd', keyName: '' });
      await network.upgrade(argument);
      expect(await network.status()).toMatchObject({ rootKey: 'vetkd', keyName: '' });
    }
  });

  test('is refused with a reason if it is anything else, even a small mistake', async () => {
    const network = new KeyNetwork();
    const Slip = IDL.Variant({ Stored: IDL.Null });
    for (const argument of [
      Buffer.from('no Candid'),
      Buffer.from('DIDL\x01'),
      IDL.encode([IDL.Text], ['stored']),
      IDL.encode([IDL.Nat], [1n]),
      IDL.encode([IDL.Opt(IDL.Record({ rootkey: IDL.Text }))], [[{ rootkey: 'key_1' }]]),
      IDL.encode([IDL.Opt(IDL.Record({ rootKey: Slip }))], [[{ rootKey: { Stored: null } }]]),
    ]) {
      await expect(network.install(new Uint8Array(argument))).rejects.toThrow(
        /The argument must be \(opt record \{ rootKey .*\) or absent; cannot decode it/,
      );
    }
  });

  test('does not change the source of an existing key', async () => {
    const network = await networkWithKey();
    await expect(network.upgrade(settings({ stored: null }))).rejects.toThrow(/rotateRootKey/);
    await network.upgrade(settings({ vetkd: 'key_1' }));
    expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
  });
});
