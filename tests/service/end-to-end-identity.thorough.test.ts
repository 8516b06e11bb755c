// The identity of an end-to-end bucket on the built canister: the network derives it for members by
// their own signature, the official vetKeys library opens and verifies it, and other callers are
// refused.

import { Principal } from '@dfinity/principal';
import { DerivedPublicKey, EncryptedVetKey, TransportSecretKey } from '@dfinity/vetkeys';
import { beforeAll, describe, expect, test } from 'vitest';
import { type KeyNetwork, networkWithKey, owner } from '../support/key-network.ts';
import { personOn } from '../support/network-people.ts';
import { changeOf, keyFor, type Person } from '../support/people.ts';

interface Epoch {
  readonly epoch: bigint;
  readonly recipient: readonly string[];
}
interface Bucket {
  readonly endToEnd: readonly { readonly serial: bigint; readonly epochs: readonly Epoch[] }[];
}
interface Identity {
  readonly epoch: bigint;
  readonly encryptedKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly recipient: readonly string[];
  readonly keyName: string;
}

const context = new TextEncoder().encode('encrypted-file-storage/bucket-identity/v1');
const transport = TransportSecretKey.random();
const transportKey = transport.publicKeyBytes();
/** Limit for three derivations together; each took 15 M instructions when this was written. */
const instructionsMax = 100_000_000n;
const somebody = (number: number) =>
  Principal.fromUint8Array(Uint8Array.from([...new Uint8Array(28).fill(number), 2]));

interface Scene {
  readonly network: KeyNetwork;
  /** A controller who created the bucket `safe` and transferred it to alice. */
  readonly boss: Person;
  readonly alice: Person;
  readonly reader: Person;
  readonly writer: Person;
  readonly stranger: Person;
}

async function createScene(): Promise<Scene> {
  const network = await networkWithKey();
  const [boss, alice, reader, writer, stranger] = [
    owner,
    somebody(1),
    somebody(2),
    somebody(3),
    somebody(4),
  ].map((principal) => personOn(network, principal)) as [Person, Person, Person, Person, Person];
  await boss.get('createBucket', 'safe', [{ endToEnd: [{}] }]);
  const members = [
    { principal: reader.principal, role: 'reader' },
    { principal: writer.principal, role: 'writer' },
  ];
  const given = { owner: [alice.principal], addMembers: [members] };
  await boss.get('updateBucket', changeOf('safe', { ...given, removeMembers: [[owner]] }));
  return { network, boss, alice, reader, writer, stranger };
}

const ask = (person: Person, epoch: bigint[] = [], key = transportKey) =>
  person.ask<Identity>('getBucketIdentity', 'safe', epoch, key);

async function serialOf(person: Person): Promise<bigint> {
  const { endToEnd } = await person.get<Bucket>('getBucket', 'safe', []);
  return endToEnd[0]?.serial ?? expect.fail('not end-to-end');
}

function inputOf(serial: bigint, epoch: bigint): Uint8Array {
  const input = Buffer.alloc(12);
  input.writeBigUInt64BE(serial);
  input.writeUInt32BE(Number(epoch), 8);
  return new Uint8Array(input);
}

/** Returns the vetKey, opened and verified by the official library. */
function opened(identity: Identity | undefined, serial: bigint): string {
  const { encryptedKey, publicKey, epoch } = identity ?? expect.fail('no identity');
  const input = inputOf(serial, epoch);
  const vetKey = EncryptedVetKey.deserialize(new Uint8Array(encryptedKey)).decryptAndVerify(
    transport,
    DerivedPublicKey.deserialize(new Uint8Array(publicKey)),
    input,
  );
  return Buffer.from(vetKey.signatureBytes()).toString('hex');
}

describe('the identity of a bucket', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await createScene();
  });

  test("is the same for reader, writer and owner, from the network's key for canister and context", async () => {
    const { network, alice, reader, writer } = scene;
    const serial = await serialOf(reader);
    network.reports.length = 0;
    const answers = [];
    for (const person of [alice, reader, writer]) answers.push((await ask(person)).ok);
    const keys = new Set(answers.map((identity) => opened(identity, serial)));
    expect(keys.size).toBe(1);
    const canisterId = network.canisterId().toUint8Array();
    const publicKey = network.vetKeys.publicKey({ keyName: 'key_1', canisterId, context });
    expect(answers[0]).toMatchObject({ epoch: 1n, keyName: 'key_1', recipient: [] });
    expect(Buffer.from(answers[0]?.publicKey ?? []).equals(publicKey ?? new Uint8Array(0))).toBe(
      true,
    );
    // The public key is fetched once.
    expect(network.answersTo('vetkd_public_key')).toHaveLength(1);
    const took = network.reports.reduce((sum, { instructions }) => sum + instructions, 0n);
    console.log(`three identities, the first with the public key: ${Number(took) / 1e6} M`);
    expect(took).toBeLessThan(instructionsMax);
    const [stable, secret] = [network.stableMemory(), [...keys][0] ?? ''];
    expect(stable.includes(Buffer.from(secret, 'hex'))).toBe(false);
  });

  test('is refused to strangers, the anonymous principal, API keys, controllers and removed members', async () => {
    const { network, boss, alice, reader, stranger } = scene;
    const { secret } = await alice.get<{ secret: string }>('createApiKey', keyFor(['safe']));
    const nobody = personOn(network, Principal.anonymous());
    network.reports.length = 0;
    expect(await ask(nobody)).toEqual({ err: expect.stringMatching(/^NoSuchBucket: /) });
    expect(await ask(stranger)).toEqual({ err: expect.stringMatching(/^NoSuchBucket: /) });
    const refused = { err: expect.stringMatching(/^AccessDenied: Only members/) };
    expect(await ask(boss)).toEqual(refused);
    // The method takes no API key; a key in place of the bucket's name is an invalid name.
    const byKey = await nobody.ask('getBucketIdentity', secret, [], transportKey);
    expect(byKey).toEqual({ err: expect.stringMatching(/^InvalidBucketId: /) });
    const change = (fields: object) => alice.get('updateBucket', changeOf('safe', fields));
    await change({ removeMembers: [[reader.principal]] });
    expect(await ask(reader)).toEqual({ err: expect.stringMatching(/^NoSuchBucket: /) });
    expect(network.answersTo('vetkd_derive_key')).toEqual([]);
    await change({ addMembers: [[{ principal: reader.principal, role: 'reader' }]] });
    // A controller can add itself as a member, which the other members see.
    const rights = { addMembers: [[{ principal: boss.principal, role: 'reader' }]] };
    await boss.get('updateBucket', changeOf('safe', rights));
    expect(await ask(boss)).toHaveProperty('ok');
    await change({ removeMembers: [[boss.principal]] });
  });

  test('is refused to a member who was removed while the network derived it', async () => {
    const { network, alice, writer } = scene;
    network.reports.length = 0;
    const asked = ask(writer);
    const removed = alice.get(
      'updateBucket',
      changeOf('safe', { removeMembers: [[writer.principal]] }),
    );
    const [answer] = await Promise.all([asked, removed]);
    expect(network.answersTo('vetkd_derive_key').map(({ kind }) => kind)).toEqual(['reply']);
    expect(answer).toEqual({ err: expect.stringMatching(/^NoSuchBucket: /) });
    const rights = { addMembers: [[{ principal: writer.principal, role: 'writer' }]] };
    await alice.get('updateBucket', changeOf('safe', rights));
  });

  test('requires a transport key of the right length and an existing epoch', async () => {
    const { reader, writer, network } = scene;
    const short = await ask(reader, [], transportKey.slice(1));
    expect(short).toEqual({ err: expect.stringMatching(/^InvalidArgument: .*48 bytes/) });
    for (const epoch of [0n, 2n, 2n ** 64n]) {
      const answer = await ask(reader, [epoch]);
      expect(answer).toEqual({ err: expect.stringMatching(/^InvalidArgument: .*epochs 1 to 1/) });
    }
    const plain = await personOn(network, owner).ask(
      'getBucketIdentity',
      'photos',
      [],
      transportKey,
    );
    expect(plain).toEqual({ err: expect.stringMatching(/^InvalidArgument: .*no identity/) });
    // The network refuses bytes that are not a point of the curve, and the attempt counts against
    // the budget.
    const noPoint = await ask(writer, [], new Uint8Array(48).fill(255));
    expect(noPoint).toEqual({ err: expect.stringMatching(/^ServiceUnavailable: /) });
  });
});

describe('epochs', () => {
  const recipients = ['q', 'p'].map((letter) => `age1${letter.repeat(58)}`);

  test('have one recipient each, set by an owner; a rotation begins the next, and an upgrade keeps all', async () => {
    const { network, boss, alice, writer } = await createScene();
    const publish = (person: Person, epoch: bigint, recipient = recipients[0]) =>
      person.ask<Bucket>('setBucketRecipient', 'safe', epoch, recipient);
    const denied = { err: expect.stringMatching(/^AccessDenied: /) };
    expect(await publish(writer, 1n)).toEqual(denied);
    expect(await publish(boss, 1n)).toEqual(denied);
    expect(await publish(alice, 1n, 'age1')).toEqual({
      err: expect.stringMatching(/^InvalidArgument: /),
    });
    expect(await publish(alice, 1n)).toHaveProperty('ok');
    expect(await publish(alice, 1n), 'the same again').toHaveProperty('ok');
    const other = { err: expect.stringMatching(/^InvalidArgument: .*another recipient/) };
    expect(await publish(alice, 1n, recipients[1])).toEqual(other);
    expect(await writer.ask('rotateBucketIdentity', 'safe')).toEqual(denied);
    await alice.get('rotateBucketIdentity', 'safe');
    expect(await publish(alice, 2n, recipients[1])).toHaveProperty('ok');
    const before = await alice.get<Bucket>('getBucket', 'safe', []);
    const serial = await serialOf(alice);
    const both = [(await ask(writer, [1n])).ok, (await ask(writer)).ok];
    expect(both.map((identity) => identity?.recipient)).toEqual(recipients.map((one) => [one]));
    const keys = both.map((identity) => opened(identity, serial));
    expect(new Set(keys).size).toBe(2);
    await network.upgrade();
    expect(opened((await ask(writer, [1n])).ok, serial)).toBe(keys[0]);
    expect(await alice.get('getBucket', 'safe', [])).toEqual(before);
    expect(before.endToEnd[0]?.epochs.map(({ recipient }) => recipient)).toEqual(
      recipients.map((one) => [one]),
    );
    for (let epoch = 3; epoch <= 10; epoch++) await alice.get('rotateBucketIdentity', 'safe');
    const eleventh = { err: expect.stringMatching(/^SlowDown: .*3600 seconds/) };
    expect(await alice.ask('rotateBucketIdentity', 'safe')).toEqual(eleventh);
  });

  test('do not exist if the root key is a stored one', async () => {
    const network = await networkWithKey();
    const boss = personOn(network, owner);
    await boss.get('createBucket', 'safe', [{ endToEnd: [{}] }]);
    await boss.get('rotateRootKey', [{ stored: null }]);
    await network.wait(0);
    expect((await network.status()).rootKey).toBe('stored');
    const refused = { err: expect.stringMatching(/^InvalidArgument: .*set usesVetKeys to false/) };
    expect(await boss.ask('createBucket', 'box', [{ endToEnd: [{}] }])).toEqual(refused);
    const own = { usesVetKeys: [false], recipients: [[recipients[0]]] };
    await boss.get('createBucket', 'box', [{ endToEnd: [own] }]);
    expect(await boss.ask('rotateBucketIdentity', 'safe')).toEqual(refused);
    // Existing buckets keep the network's key that their identity was derived from.
    expect(await ask(boss)).toHaveProperty('ok');
  });
});

describe('the number of derivations is limited', () => {
  test('to ten an hour for a principal, also for concurrent calls', async () => {
    const { network, alice, reader } = await createScene();
    network.reports.length = 0;
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(reader)));
    expect(answers.filter(({ ok }) => ok !== undefined)).toHaveLength(10);
    const { err = '' } = answers.find((answer) => answer.err !== undefined) ?? {};
    expect(err).toMatch(/^SlowDown: The limit of derivations for the caller .* 360 seconds/);
    expect(network.answersTo('vetkd_derive_key')).toHaveLength(10);
    expect(await ask(alice), 'other callers can derive').toHaveProperty('ok');
    await network.wait(359);
    expect((await ask(reader)).err).toMatch(/in 1 seconds/);
    await network.wait(1);
    expect(await ask(reader)).toHaveProperty('ok');
  });

  test('to a fifth of the budget for a bucket, even if its owner invents readers', async () => {
    const { network, boss, alice } = await createScene();
    const readers = Array.from({ length: 20 }, (_, index) => somebody(50 + index));
    const addMembers = [readers.map((principal) => ({ principal, role: 'reader' }))];
    await alice.get('updateBucket', changeOf('safe', { addMembers }));
    const unchanged = {
      allow: [],
      disallow: [],
      anonymousUpdates: [],
      linkUpdates: [],
      refusals: [],
    };
    const derivations = [{ burst: 10n, perMinute: 1n }];
    await boss.get('updateAccess', { ...unchanged, derivations });
    const people = readers.map((principal) => personOn(network, principal));
    const answers = await Promise.all(people.map((person) => ask(person)));
    expect(answers.filter(({ ok }) => ok !== undefined)).toHaveLength(2);
    expect(network.answersTo('vetkd_derive_key')).toHaveLength(2);
  });
});
