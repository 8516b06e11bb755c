// Random histories of uploads, copies, changes, former versions, deletions and key rotations, with
// upgrades and kills between messages. All acknowledged data is read by src and by another
// implementation; no remaining key opens content whose last record was deleted; and no nonce is
// used twice with one key.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { continueRotation, isRotating } from '../../src/domain/administration/key-rotation.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import { rootKeyEntries } from '../../src/domain/keys/root-keys.ts';
import { getSession } from '../../src/domain/uploads/upload-session.ts';
import { bucketChange, callOf, createScene, putTestFile } from '../support/domain-fixture.ts';
import {
  type EncryptionReference,
  type EncryptionRun,
  encryptedBuckets,
  encryptionOperations,
  oneOf,
  wait,
} from '../support/encryption-operations.ts';
import {
  chunkOf,
  fileHeadOf,
  fileKeyOf,
  keySlotsOf,
  keysThatOpen,
  nonceOfRecord,
  openByReference,
  type ReferenceRecord,
  recordsOf,
  segmentData,
  segmentLength,
  segmentNonce,
  tagBytes,
} from '../support/encryption-reference.ts';
import { expectSame, expectSameBytes } from '../support/expect-same.ts';
import { allFiles, allVersions, checkInvariants } from '../support/invariants.ts';
import { giveRootKey, rewind, stateOf, upgradeStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { readStored } from '../support/read-files.ts';
import { seedOr } from '../support/seed.ts';

const rounds = Number(process.env.EFS_ROTATION_ROUNDS ?? 200);
const operationsPerRound = 8;
const seed = seedOr(20_261_120);

const wheel = encryptionOperations.flatMap(([weight, name, operation]) =>
  Array.from({ length: weight }, () => ({ name, operation })),
);

async function upgrade(run: EncryptionRun) {
  run.upgrades += 1;
  run.stores = await upgradeStores(run.stores, 7 + run.upgrades);
}

function copyOf({ files, versions, uploads, keepDays }: EncryptionReference): EncryptionReference {
  return {
    files: new Map(files),
    versions: new Map(versions),
    uploads: new Map(uploads),
    keepDays: new Map(keepDays),
  };
}

/** Runs one message. A killed message leaves no change. */
async function message(run: EncryptionRun, isKilled: boolean) {
  const { name, operation } = oneOf(run, wheel) ?? expect.fail();
  const before = isKilled ? stateOf(run.stores) : undefined;
  const reference = copyOf(run.reference);
  const { nowNs } = run;
  await operation(run);
  run.counts.set(name, (run.counts.get(name) ?? 0) + 1);
  if (before === undefined) {
    noteNonces(run);
    noteContents(run);
    return;
  }
  run.reference = reference;
  // A killed wait does not advance the clock.
  if (operation === wait) run.nowNs = nowNs;
  run.upgrades += 1;
  run.stores = await rewind(run.stores, before, 7 + run.upgrades);
}

/** Notes the keys and segments of the contents that are stored at this moment. */
function noteContents(run: EncryptionRun) {
  const { stores, known } = run;
  const chunks = stores.chunks.entries().map(chunkOf);
  const fresh = chunks.filter(({ contentId, index }) => index === 0 && !known.has(contentId));
  for (const chunk of fresh) {
    const { contentId } = chunk;
    const session = [...run.reference.uploads].find(([, { content }]) => content === contentId);
    const named =
      session === undefined
        ? allFiles(stores).find((file) => file.contentId === contentId)
        : getSession(stores, session[0]);
    // Content that is being freed in steps has no owner.
    if (named === undefined) continue;
    const sealed = new Uint8Array(segmentLength(chunk, 0) + tagBytes);
    stores.blobs.read(chunk.slots[0] ?? 0, sealed);
    const key = fileKeyOf(stores, { bucket: named.bucketId, keySlot: named.keySlot });
    known.set(contentId, {
      contentId,
      key: Buffer.from(key).toString('hex'),
      nonce: segmentNonce(chunk, 0),
      data: segmentData(chunk, 0),
      sealed,
    });
  }
}

function noteNonce(run: EncryptionRun, key: string, seen: { nonce: Uint8Array; at: string }) {
  const name = `${key} ${Buffer.from(seen.nonce).toString('hex')}`;
  const former = run.nonces.get(name) ?? seen.at;
  if (former !== seen.at) expect.fail(`${name} sealed ${former} and ${seen.at}`);
  run.nonces.set(name, seen.at);
}

/**
 * Notes the nonces of all segments, file records and wrapped keys that are stored at this moment.
 */
function noteNonces(run: EncryptionRun) {
  const { stores } = run;
  for (const entry of stores.chunks.entries()) {
    const chunk = chunkOf(entry);
    const { contentId, index } = chunk;
    for (const segment of chunk.slots.keys()) {
      const at = `${index} ${segment} ${Buffer.from(chunk.digest).toString('hex')}`;
      noteNonce(run, `content ${contentId}`, { nonce: segmentNonce(chunk, segment), at });
    }
  }
  for (const { name, bytes } of recordsOf(stores)) {
    const { contentId, tag } = fileHeadOf(bytes);
    const at = `${name} ${Buffer.from(tag).toString('hex')}`;
    noteNonce(run, `content ${contentId}`, { nonce: nonceOfRecord(bytes), at });
  }
  const roots = new Set(rootKeyEntries(stores).map(({ slot }) => slot));
  for (const { slot, wrapperId, bytes } of keySlotsOf(stores.system.stable).used) {
    if (roots.has(slot)) continue;
    const at = Buffer.from(bytes.subarray(28, 76)).toString('hex');
    noteNonce(run, `wrapper ${wrapperId}`, { nonce: bytes.slice(16, 28), at });
  }
}

/** Expects that no key opens content whose last record was deleted; all other keys still exist. */
function checkGone(run: EncryptionRun) {
  const { files, versions, uploads } = run.reference;
  const left = [...files.values(), ...versions.values(), ...uploads.values()];
  const alive = new Set(left.map(({ content }) => content));
  for (const known of run.known.values()) {
    if (!alive.has(known.contentId)) run.gone.push(known);
  }
  for (const { contentId } of run.gone) run.known.delete(contentId);
  const keys = keysThatOpen(run.stores, encryptedBuckets);
  const contents = new Set(recordsOf(run.stores).map(({ bytes }) => fileHeadOf(bytes).contentId));
  const isLeft = run.gone.filter(({ contentId, key }) => contents.has(contentId) || keys.has(key));
  expect(isLeft).toEqual([]);
  for (const { key } of run.known.values()) expectSame(keys.has(key), true, 'a key that opens');
  const last = run.gone.at(-1);
  for (const key of last === undefined ? [] : keys.values()) {
    const { nonce, data, sealed } = last ?? expect.fail();
    expect(() => chacha20poly1305(key, nonce, data).decrypt(sealed)).toThrow();
  }
}

function checkFiles(run: EncryptionRun) {
  const { stores, reference } = run;
  const records = recordsOf(stores);
  const nameOf = ({ name, version }: ReferenceRecord) =>
    version === undefined ? name : `${name}\0${version}`;
  expect(records.map(nameOf).sort()).toEqual(
    [...reference.files.keys(), ...reference.versions.keys()].sort(),
  );
  for (const file of [...allFiles(stores), ...allVersions(stores)]) {
    const name = `${file.bucketId}\0${file.path}`;
    const now = reference.files.get(name);
    const former = reference.versions.get(`${name}\0${file.version}`);
    const { bytes } = (now?.version === file.version ? now : former) ?? expect.fail(name);
    expectSameBytes(readStored(stores, file, { start: 0, end: bytes.length }), bytes);
  }
  for (const record of records.filter(() => run.random(40) === 0)) {
    const { version, name } = record;
    const place =
      version === undefined ? reference.files.get(name) : reference.versions.get(nameOf(record));
    expectSameBytes(openByReference(stores, record), place?.bytes ?? expect.fail(name));
  }
}

test(`rotateBucketKey(): deleted content stays closed and no nonce repeats in ${rounds} random rounds, seed ${seed}`, async () => {
  const { stores } = await createScene();
  const run: EncryptionRun = {
    stores,
    reference: { files: new Map(), versions: new Map(), uploads: new Map(), keepDays: new Map() },
    nowNs: callOf('alice').nowNs,
    upgrades: 0,
    random: randomNumbers(seed),
    known: new Map(),
    gone: [],
    nonces: new Map(),
    counts: new Map(),
  };
  for (let round = 0; round < rounds; round++) {
    const killedAt = run.random(operationsPerRound);
    for (let turn = 0; turn < operationsPerRound; turn++) {
      await message(run, turn === killedAt);
    }
    if (run.random(3) === 0) await upgrade(run);
    checkGone(run);
    if (round % 4 === 0) checkFiles(run);
    if (round % 10 === 0) checkInvariants(run.stores);
  }
  giveRootKey(run.stores);
  while (isRotating(run.stores)) continueRotation(run.stores);
  noteNonces(run);
  checkFiles(run);
  checkGone(run);
  checkInvariants(run.stores);
  expect(rootKeyEntries(run.stores)).toHaveLength(1);
  expect(run.counts.size).toBe(encryptionOperations.length);
  expect(run.gone.length).toBeGreaterThan(rounds / 2);
}, 600_000);

test('rotateBucketKey(): records of one content that are sealed at one time have different nonces', async () => {
  const { stores } = await createScene();
  const alice = callOf('alice');
  const named = { bucket: 'box', apiKey: undefined, conditions: {} };
  updateBucket(stores, alice, bucketChange({ keepVersionsDays: 1n }));
  const seals = new Set<string>();
  let stored = 0;
  const note = () => {
    for (const { bytes } of recordsOf(stores)) {
      const { contentId, tag } = fileHeadOf(bytes);
      const nonce = Buffer.from(nonceOfRecord(bytes)).toString('hex');
      seals.add(`${contentId} ${nonce} ${Buffer.from(tag).toString('hex')}`);
    }
    stored += 1;
  };
  const { contentId } = putTestFile(stores, { path: '/a' }).file;
  note();
  const steps = [
    () => changeFile(stores, alice, { ...named, path: 'a', tags: ['x'] }),
    () => changeFile(stores, alice, { ...named, path: 'a', tags: ['y'] }),
    () => copyFile(stores, alice, { ...named, from: 'a', to: { path: 'b' } }),
    () => copyFile(stores, alice, { ...named, from: 'b', to: { bucket: 'other', path: 'b' } }),
    () => copyFile(stores, alice, { ...named, from: 'b', to: { path: 'a' } }),
    () => moveFile(stores, alice, { ...named, from: 'b', to: { path: 'c' } }),
    () => restoreVersion(stores, alice, { ...named, path: 'a', version: 3 }),
  ];
  for (const step of steps) {
    step();
    note();
  }
  const [nonces, tags] = [1, 2].map((at) => [...seals].map((seal) => seal.split(' ')[at]));
  expect(new Set([...seals].map((seal) => seal.split(' ')[0]))).toEqual(new Set([`${contentId}`]));
  expect(new Set(nonces).size).toBe(stored);
  expect(new Set(tags).size).toBe(stored);
  checkInvariants(stores);
});
