// Loses each one-shot timer of the canister in every possible way, and checks that it is armed
// again. A loss can happen between any two messages: the timer's next message is then refused or
// traps, as on the network.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { expect } from 'vitest';
import { spaceBytes } from './encryption-reference.ts';
import { KeyNetwork, settings } from './key-network.ts';
import { Subscriber } from './subscriber.ts';
import { Subscriptions } from './subscriptions.ts';

/** More chunks than the canister frees in one message. */
const chunkCount = 70;
const chunkBytes = 65_536;
/** More uploads than one turn of upkeep ends. */
const uploadCount = 9;
/**
 * The slowest way of arming a timer again: upkeep every 600 s finds a timer that is 120 s overdue.
 */
const upkeepSeconds = 600;
const reseedSeconds = 3_000;
/** Every sixth turn of upkeep repeats a failed report to the front. */
const contactSeconds = 3_600;
const noFile = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };

export interface TimerCase {
  /** The timer's name in ARCHITECTURE.md. */
  readonly name: string;
  /** Arms the timer by a call; resolves to a function that returns whether its task has ended. */
  begin(network: KeyNetwork): Promise<() => Promise<boolean>>;
  /** Maximum number of seconds until the timer is armed again. */
  readonly seconds: number;
  /** Whether records that a turn leaves, because its random bytes are too old, wait for upkeep. */
  readonly worksOnRecords?: true;
}

async function expectOk(answer: Promise<{ ok?: unknown; err?: string }>): Promise<unknown> {
  const { ok, err } = await answer;
  expect(err).toBeUndefined();
  return ok;
}

const isRotated = async (network: KeyNetwork) => !(await network.status()).isRotating;

/** Returns the bytes of the slots in use, from the superblock of the store of bytes. */
function blobBytesInUse(network: KeyNetwork): number {
  return Buffer.from(spaceBytes(new Uint8Array(network.stableMemory()), 1)).readDoubleLE(16);
}

/** Cancels an upload with so many chunks that freeing their space takes several messages. */
async function cancelUpload(network: KeyNetwork): Promise<() => Promise<boolean>> {
  const size = BigInt(chunkCount * chunkBytes);
  const upload = { bucketId: 'photos', path: 'a.bin', contentType: ['a/b'], size, headers: [] };
  const chunkSize = [BigInt(chunkBytes)];
  const begin = network.call('beginFileUploadWith', { ...noFile, ...upload, chunkSize });
  const id = await expectOk(begin);
  const bytes = new Uint8Array(chunkBytes);
  for (let index = 0n; index < chunkCount; index++) {
    await expectOk(network.call('uploadFileChunkIndexed', id, index, bytes));
  }
  expect(blobBytesInUse(network)).toBeGreaterThan(chunkCount * chunkBytes);
  await expectOk(network.call('cancelUpload', id));
  return async () => blobBytesInUse(network) === 0;
}

/** Revokes a key with so many uploads that ending them takes several messages. */
export async function revokeKey(network: KeyNetwork): Promise<() => Promise<boolean>> {
  const request = { name: 'k', buckets: ['photos'], permissions: ['write'], expiresAt: [] };
  const key = await expectOk(network.call('createApiKey', request));
  const { id, secret } = key as { readonly id: string; readonly secret: string };
  const uploads: unknown[] = [];
  for (let count = 0; count < uploadCount; count++) {
    uploads.push(
      await expectOk(network.call('beginFileUpload', 'photos', 'a.bin', 'a/b', 9n, [secret])),
    );
  }
  await network.send('revokeApiKey', [IDL.Text], [id]);
  return async () => {
    for (const upload of uploads) {
      const shown = await expectOk(network.call('getUpload', upload));
      if ((shown as { readonly status: string }).status === 'active') return false;
    }
    return true;
  };
}

/** Sets a rule that deletes a file of the day before. */
async function setRule(network: KeyNetwork): Promise<() => Promise<boolean>> {
  const Name = { bucketId: IDL.Text, path: IDL.Text };
  const Upload = IDL.Record({ ...Name, contentType: IDL.Text, bytes: IDL.Vec(IDL.Nat8) });
  const file = { bucketId: 'photos', path: 'old', contentType: 'text/plain', bytes: [1] };
  await network.send('uploadFile', [Upload], [file]);
  await network.wait(86_400);
  await settle(network);
  const Rule = IDL.Record({ id: IDL.Text, isEnabled: IDL.Bool, deleteAfterDays: IDL.Opt(IDL.Nat) });
  const rule = { id: 'old', isEnabled: true, deleteAfterDays: [1n] };
  await network.send('setRules', [IDL.Text, IDL.Vec(Rule)], ['photos', [rule]]);
  return async () => {
    const { err } = await network.call('getFile', 'photos', 'old', []);
    return err?.startsWith('NoSuchFile') === true;
  };
}

/** Sets a front that does not exist: a report to it is rejected, and the next one is a retry. */
async function setFront(network: KeyNetwork): Promise<() => Promise<boolean>> {
  const reports = () => network.answersTo('reportPublicBuckets').length;
  const before = reports();
  const Front = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
  const front = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');
  await network.send('setFront', [IDL.Opt(Front)], [[{ front, url: [] }]]);
  return async () => reports() > before;
}

/** Subscribes a canister and stores a file, whose delivery the timer begins. */
async function subscribe(network: KeyNetwork): Promise<() => Promise<boolean>> {
  const subscriber = await Subscriber.install(network);
  const subscriptions = new Subscriptions(network);
  await subscriptions.add(subscriber.id);
  await settle(network);
  await subscriptions.put('event');
  return async () => subscriber.paths().includes('event');
}

export const timerCases: readonly TimerCase[] = [
  {
    name: 'root key',
    seconds: upkeepSeconds,
    worksOnRecords: true,
    async begin(network) {
      await expectOk(network.call('rotateRootKey', [{ stored: null }]));
      return () => isRotated(network);
    },
  },
  { name: 'upkeep', seconds: upkeepSeconds, begin: revokeKey },
  {
    name: 'records',
    seconds: upkeepSeconds,
    worksOnRecords: true,
    async begin(network) {
      await expectOk(network.call('rotateBucketKey', 'photos'));
      return () => isRotated(network);
    },
  },
  { name: 'rules', seconds: upkeepSeconds, begin: setRule },
  { name: 'events', seconds: upkeepSeconds, begin: subscribe },
  { name: 'reclaim', seconds: upkeepSeconds, begin: cancelUpload },
  { name: 'front contact', seconds: contactSeconds, begin: setFront },
  {
    name: 'reseed',
    seconds: reseedSeconds,
    worksOnRecords: true,
    async begin(network) {
      const reseeds = () => network.answersTo('raw_rand').length;
      const before = reseeds();
      await expectOk(network.call('rotateBucketKey', 'photos'));
      return async () => reseeds() > before && (await isRotated(network));
    },
  },
];

export const losses = ['stop', 'trap', 'upgrade', 'freeze', 'full disk'] as const;
type Loss = (typeof losses)[number];

/** Begins the loss; resolves to a function that ends it. */
async function lose(network: KeyNetwork, loss: Loss): Promise<() => Promise<void>> {
  const { engine } = network;
  const id = network.canisterId();
  switch (loss) {
    case 'upgrade':
      await network.upgrade();
      return async () => {};
    case 'trap':
      // Updates trap, including the messages by which timers run tasks.
      engine.updateSettings(id, { wasmMemoryLimit: 1n });
      return async () => void engine.updateSettings(id, { wasmMemoryLimit: 0n });
    case 'freeze': {
      const { freezingThreshold } = engine.settings(id) ?? {};
      engine.updateSettings(id, { freezingThreshold: 2n ** 50n });
      return async () =>
        void engine.updateSettings(id, { freezingThreshold: freezingThreshold ?? 0n });
    }
    case 'full disk':
      return async () => {
        network.isDiskFull = false;
      };
    case 'stop': {
      const stopping = engine.stop(id);
      return async () => {
        await stopping;
        await engine.start(id);
      };
    }
  }
}

/** Returns a canister with one bucket and a stored root key, which needs no derivation. */
export async function networkWithStoredKey(): Promise<KeyNetwork> {
  const network = new KeyNetwork();
  await network.install(settings({ stored: null }));
  await network.send('createBucket', [IDL.Text], ['photos']);
  await settle(network);
  return network;
}

/** Runs timers, and the timers that they set. */
async function settle(network: KeyNetwork): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await network.wait(1);
}

/**
 * Arms the timer, loses it after `point` messages, and expects its task to end anyway. Resolves to
 * false if the task had fewer messages.
 */
export async function loseTimer(
  network: KeyNetwork,
  { name, begin, seconds, worksOnRecords }: TimerCase,
  at: { readonly loss: Loss; readonly point: number },
): Promise<boolean> {
  const { loss, point } = at;
  const isDone = await begin(network);
  let messages = 0;
  network.isDiskFull = loss === 'full disk' && point === 0;
  let losing = point === 0 ? lose(network, loss) : undefined;
  network.onMessage = () => {
    messages += 1;
    if (messages !== point) return;
    // A full disk affects this message's own commit; the other losses happen before the next
    // message.
    if (loss === 'full disk') network.isDiskFull = true;
    losing = Promise.resolve().then(() => lose(network, loss));
  };
  await network.wait(0);
  await network.wait(1);
  network.onMessage = undefined;
  const end = await losing;
  await end?.();
  await settle(network);
  for (const part of [1, 2]) await network.wait((seconds * part) / 2 + 130);
  await settle(network);
  if (worksOnRecords) {
    await network.wait(upkeepSeconds);
    await settle(network);
  }
  expect(await isDone(), `${name} is armed again after ${loss} at message ${point}`).toBe(true);
  return losing !== undefined;
}
