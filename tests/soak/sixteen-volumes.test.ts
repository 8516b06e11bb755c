// A front with 16 volumes of 5,000 buckets each: 80,000 names. Every operation of the front works
// as with few of them, costs about the same, and no message comes near a limit of the network.
// EFS_VOLUMES and EFS_BUCKETS make it smaller: EFS_VOLUMES=4 EFS_BUCKETS=500 takes half a minute.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { networkLimits } from '../../packages/replica/src/execution/limits.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { bucketsPerReport } from '../../src/limits.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const volumeCount = Number(process.env.EFS_VOLUMES ?? 16);
const bucketCount = Number(process.env.EFS_BUCKETS ?? 5_000);
const total = volumeCount * bucketCount;
const stranger = principalOf(newIdentity());
const daySeconds = 86_400;
const hourMs = 3_600_000;
const VolumeChange = IDL.Record({ volume: IDL.Principal, isClosed: IDL.Opt(IDL.Bool) });
const Access = IDL.Record({ allow: IDL.Opt(IDL.Vec(IDL.Principal)) });

/** The messages of all canisters of the service, of which it stores only the newest. */
class Figures {
  #largest: MessageReport | undefined;
  readonly #reports: MessageReport[] = [];
  /** Messages that trapped, or were beyond a limit. */
  readonly failed: string[] = [];

  note(report: MessageReport): void {
    this.#reports.push(report);
    const { kind, method, error } = report;
    if (error !== undefined) this.failed.push(`${kind} ${method}: ${error}`);
    // Installs have a limit of their own, and the check of a root key takes as long without buckets
    if (/pgrade|^start$|^init$/.test(kind) || method.startsWith('vetkd')) return;
    if (report.instructions > (this.#largest?.instructions ?? 0n)) this.#largest = report;
  }

  /** Returns the reports since the last call. */
  take(): readonly MessageReport[] {
    return this.#reports.splice(0);
  }

  get largest(): MessageReport | undefined {
    return this.#largest;
  }
}

const figures = new Figures();
const service = new ServiceOfVolumes();
/** The front's update and callback, and the volume's update. */
const isShare = ({ method }: MessageReport) => /^createBucket/.test(method);
const millions = (instructions: bigint) => Number(instructions / 10_000n) / 100;
const nameOf = (volume: number, bucket: number) => `bucket-${bucket}-of-${volume}`;

function show(name: string, values: object): void {
  console.log(`${name}: ${JSON.stringify(values)}`);
}

/** Returns the instructions and cycles of the messages that match, in millions. */
function costOf(reports: readonly MessageReport[]): { instructions: number; cycles: number } {
  const sum = (of: (report: MessageReport) => bigint) =>
    millions(reports.reduce((before, report) => before + of(report), 0n));
  return {
    instructions: sum(({ instructions }) => instructions),
    cycles: sum(({ cycles }) => cycles),
  };
}

/** Creates a bucket at the front; returns the cost in all canisters together. */
async function costOfCreation(bucket: string): Promise<number> {
  figures.take();
  const outcome = await service.create(bucket);
  expect(outcome.err).toBeUndefined();
  return costOf(figures.take().filter(isShare)).instructions;
}

async function averageCreation(prefix: string): Promise<number> {
  const costs: number[] = [];
  for (let turn = 0; turn < 5; turn++) costs.push(await costOfCreation(`${prefix}-${turn}`));
  return costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
}

async function fill(at: Principal, number: number, part: 0 | 1): Promise<void> {
  const half = Math.floor(bucketCount / 2);
  const [first, end] = part === 0 ? [0, half] : [half, bucketCount];
  for (let bucket = first; bucket < end; bucket++) {
    const options = { isPublic: [bucket % 50 === 0] };
    const { err } = await service.create(nameOf(number, bucket), { at, options });
    expect(err).toBeUndefined();
  }
}

/** Creates half of a volume's buckets before it has a front. */
async function fillBefore(volume: Principal, number: number): Promise<void> {
  await fill(volume, number, 0);
  await service.setFront(volume);
  await service.wait(6);
}

/** Creates the other half at the front, while all other volumes are closed. */
async function fillLater(number: number): Promise<void> {
  await setClosed(number, false);
  await fill(service.frontId, number, 1);
  await setClosed(number, true);
}

async function setClosed(number: number, isClosed: boolean): Promise<void> {
  const change = { volume: service.volumes[number], isClosed: [isClosed] };
  await service.front.call('updateVolume', [VolumeChange], [change]);
}

/** Waits until every volume is open and the front knows the names. */
async function reported(expected: number): Promise<void> {
  const knows = async () => {
    const listed = await service.listed();
    const sum = listed.reduce((count, { buckets }) => count + Number(buckets), 0);
    return sum === expected && listed.every(({ state }) => state === 'open');
  };
  const turnsMax = 20 + Math.ceil((4 * bucketCount) / bucketsPerReport);
  for (let turn = 0; turn < turnsMax && !(await knows()); turn++) await service.wait(6);
  const listed = await service.listed();
  expect(listed.map(({ state }) => state)).toEqual(listed.map(() => 'open'));
  expect(listed.reduce((count, { buckets }) => count + Number(buckets), 0)).toBe(expected);
}

async function replyBytes(method: string): Promise<object> {
  figures.take();
  const reply = await service.replica.query(service.frontId, method, IDL.encode([], []));
  const report = figures.take().find((one) => one.method === method);
  return { bytes: reply.length, instructions: millions(report?.instructions ?? 0n) };
}

/** Returns the front's cost of every report between the two moments. */
function reportCosts(reports: readonly MessageReport[], canisterId: Principal): object {
  const own = reports.filter(
    (report) =>
      report.method === 'reportPublicBuckets' && report.canisterId === canisterId.toText(),
  );
  const sizes = own.map(({ instructions }) => instructions);
  const most = sizes.reduce((one, two) => (one > two ? one : two), 0n);
  return { reports: own.length, ...costOf(own), mostInstructions: millions(most) };
}

async function upgradeCost(id: Principal): Promise<number> {
  figures.take();
  await service.upgrade(id);
  const own = figures.take().filter(({ canisterId }) => canisterId === id.toText());
  return costOf(own.filter(({ kind }) => /^(?:preUpgrade|postUpgrade|start)$/.test(kind)))
    .instructions;
}

const upgraded = { before: 0, after: 0 };
const creation = { before: 0, after: 0 };

beforeAll(async () => {
  await service.start(1, { onReport: (report) => figures.note(report) });
  await service.front.call('updateAccess', [Access], [{ allow: [[stranger]] }]);
  creation.before = await averageCreation('small');
  upgraded.before = await upgradeCost(service.frontId);
  for (let turn = 0; turn < 5; turn++) await remove(`small-${turn}`);
  await service.wait(6);
  const startedMs = performance.now();
  figures.take();
  const [first] = service.volumes as [Principal];
  await service.setFront(first, false);
  await fillBefore(first, 0);
  for (let number = 1; number < volumeCount; number++) {
    const id = await service.install({ volume: { front: [] } });
    await service.front.call('addVolume', [IDL.Principal], [id]);
    service.volumes.push(id);
    await fillBefore(id, number);
  }
  await reported(volumeCount * Math.floor(bucketCount / 2));
  show('reports of the first half', reportCosts(figures.take(), service.frontId));
  for (const number of service.volumes.keys()) await setClosed(number, true);
  for (const number of service.volumes.keys()) await fillLater(number);
  for (const number of service.volumes.keys()) await setClosed(number, false);
  await reported(total);
  show('reports of the second half', reportCosts(figures.take(), service.frontId));
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  show('filled', { volumes: volumeCount, buckets: total, seconds });
}, hourMs);
afterAll(() => service.stop());

/** Deletes the bucket at the volume that has it. */
async function remove(bucket: string): Promise<void> {
  const [place = expect.fail(bucket)] = await service.placesOf(bucket);
  await service.remove(bucket, service.volumes[place] as Principal);
}

describe(`createBucket at a front with ${total} names at ${volumeCount} volumes`, () => {
  test('costs about as much as in a small service', async () => {
    creation.after = await averageCreation('large');
    show('createBucket, M instructions in both canisters', creation);
    expect(creation.after).toBeLessThan(1.25 * creation.before);
    expect(creation.after).toBeLessThan(40);
  });

  test('refuses names that any volume has', async () => {
    for (let volume = 0; volume < volumeCount; volume++) {
      for (const bucket of [0, Math.floor(bucketCount / 2), bucketCount - 1]) {
        const name = nameOf(volume, bucket);
        const refused = await service.create(name, { sender: stranger });
        expect(refused.err, name).toMatch(/^BucketExists/);
        // A request of the owner counts as repeated, and returns the same bucket
        expect((await service.create(name)).ok?.id).toBe(name);
        expect(await service.placesOf(name)).toEqual([volume]);
      }
    }
  });

  test('creates a deleted bucket again, for another owner', async () => {
    const name = nameOf(volumeCount - 1, 7);
    await remove(name);
    await service.wait(6);
    const created = await service.create(name, { sender: stranger });
    expect(created.ok?.owner.toText()).toBe(stranger.toText());
    expect(await service.placesOf(name, stranger)).toHaveLength(1);
    expect((await service.create(name)).err).toMatch(/^BucketExists/);
  });
});

describe.each(['listVolumes', 'getVolumeProof'])('%s', (method) => {
  test('stays small', async () => {
    const { bytes, instructions } = (await replyBytes(method)) as {
      readonly bytes: number;
      readonly instructions: number;
    };
    show(method, { bytes, instructions });
    expect(bytes).toBeLessThan(10_000);
    expect(instructions).toBeGreaterThan(0);
    // Counts the names of each volume by two descents into the directory
    expect(instructions).toBeLessThan(4 * volumeCount);
  });
});

describe('an upgrade', () => {
  test('of the front costs as much as without names, and keeps them', async () => {
    const before = await service.listed();
    upgraded.after = await upgradeCost(service.frontId);
    show('upgrade of the front, M instructions', upgraded);
    expect(upgraded.after).toBeLessThan(1.1 * upgraded.before);
    const counts = (listed: typeof before) => listed.map(({ buckets }) => buckets);
    expect(counts(await service.listed())).toEqual(counts(before));
    const refused = await service.create(nameOf(0, 1), { sender: stranger });
    expect(refused.err).toMatch(/^BucketExists/);
  });

  test('of a volume leads to a report of all its buckets', async () => {
    const id = service.volumes[0] as Principal;
    show('upgrade of a volume, M instructions', { instructions: await upgradeCost(id) });
    figures.take();
    const pages = Math.ceil(bucketCount / bucketsPerReport);
    for (let turn = 0; turn < pages + 5; turn++) await service.wait(6);
    const sent = figures.take().filter(({ method }) => method === 'reportPublicBuckets');
    const own = sent.filter(({ canisterId }) => canisterId === service.frontId.toText());
    show('its reports', reportCosts(own, service.frontId));
    expect(own.length).toBeGreaterThanOrEqual(pages);
    await reported(total + 5);
  });
});

test('reportPublicBuckets and all other messages are within a tenth of the limit', async () => {
  // A day later, all volumes report everything again
  await service.wait(daySeconds);
  for (let turn = 0; turn < 5; turn++) await service.wait(6);
  await reported(total + 5);
  const largest = figures.largest ?? expect.fail();
  show('the largest message', {
    method: largest.method,
    kind: largest.kind,
    instructions: millions(largest.instructions),
  });
  expect(figures.failed).toEqual([]);
  expect(largest.instructions).toBeLessThan(networkLimits.updateInstructions / 10n);
});
