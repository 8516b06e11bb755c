// A front's limits for the cycles that it sends to its volumes.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  changeTopUpLimits,
  checkRequest,
  dueTopUp,
  forgetTopUp,
  isAnyLow,
  lastTopUps,
  recordTopUp,
  type TopUp,
  topUpLimits,
} from '../../src/domain/administration/top-ups.ts';
import { receiveReport } from '../../src/domain/administration/volume-reports.ts';
import { volumeState } from '../../src/domain/administration/volume-states.ts';
import { saveRole } from '../../src/domain/shared/role-record.ts';
import { topUpRecordsMax } from '../../src/limits.ts';
import { callOf, expectRefusal } from '../support/domain-fixture.ts';
import { createMemoryStores, type MemoryStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';

const front = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const [one, two] = ['rwlgt-iiaaa-aaaaa-aaaaa-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'] as const;
const volumes = [one, two];
const controller = callOf('controller');
const tera = 1e12;
const limits = {
  volumeMinimum: tera,
  volumeTarget: 2 * tera,
  daily: 5 * tera,
  dailyPerVolume: 3 * tera,
  frontMinimum: tera,
};
const hourNs = 3_600_000_000_000n;

let stores: MemoryStores;
let nowNs = controller.nowNs;

beforeEach(async () => {
  stores = await createMemoryStores();
  nowNs = controller.nowNs;
  saveRole(stores, { kind: 'front', id: front, volumes });
  changeTopUpLimits(stores, controller, limits);
});

function report(volumeId: string, cycles: number): void {
  const state = { others: [], atNs: nowNs, stableBytes: 0, cycles, reservedCycles: 0 };
  const range = { after: '', through: undefined, buckets: [] };
  receiveReport(
    stores,
    { volumeId, origin: `https://${volumeId}.icp.net`, ...range, state },
    nowNs,
  );
}

/** Sends all that is due, and returns the cycles that each volume got. */
function send(spendable = 100 * tera): [string, number][] {
  const sent: [string, number][] = [];
  for (let left = spendable; ; ) {
    const due = dueTopUp(stores, { nowNs, spendable: left });
    if (due === undefined) return sent;
    recordTopUp(stores, due);
    left -= due.cycles;
    sent.push([due.volumeId, due.cycles]);
  }
}

describe('dueTopUp', () => {
  test('fills volumes below the minimum up to the target', () => {
    report(one, 0.4 * tera);
    report(two, tera);
    expect(isAnyLow(stores)).toBe(true);
    expect(send()).toEqual([[one, 1.6 * tera]]);
    expect(isAnyLow(stores)).toBe(false);
    expect(volumeState(stores, one).cycles).toBe(2 * tera);
  });

  test('sends nothing before a report, and nothing without limits or with a daily one of 0', async () => {
    expect(send()).toEqual([]);
    report(one, 0);
    changeTopUpLimits(stores, controller, { ...limits, daily: 0 });
    expect(send()).toEqual([]);
    expect(isAnyLow(stores)).toBe(false);
    stores = await createMemoryStores();
    saveRole(stores, { kind: 'front', id: front, volumes });
    report(one, 0);
    expect(topUpLimits(stores)).toBeUndefined();
    expect(send()).toEqual([]);
  });

  test('keeps the cycles of the front, also on a network without prices, where it has none', () => {
    report(one, 0);
    expect(send(0)).toEqual([]);
    expect(send(tera)).toEqual([]);
    expect(send(1.5 * tera)).toEqual([[one, 0.5 * tera]]);
  });

  test('sends to a volume once an hour, and not to one that rejected a call', () => {
    report(one, 0);
    expect(send()).toHaveLength(1);
    report(one, 0);
    expect(send()).toEqual([]);
    nowNs += hourNs;
    const [due] = [dueTopUp(stores, { nowNs, spendable: 9 * tera })];
    recordTopUp(stores, due as TopUp);
    forgetTopUp(stores, due as TopUp, nowNs);
    expect(volumeState(stores, one).cycles).toBe(0);
    expect(send()).toEqual([]);
    report(two, 0);
    expect(send()).toEqual([[two, 2 * tera]]);
  });

  test.each(seedsOr(1, 2, 3))('exceeds no limit within any 24 hours (seed %i)', (seed) => {
    const random = randomNumbers(seed);
    const sent: TopUp[] = [];
    for (let turn = 0; turn < 400; turn++) {
      nowNs += (BigInt(random(180)) * hourNs) / 60n;
      report(volumes[random(2)] as string, random(2_000) * 1e9);
      const spendable = random(6_000) * 1e9;
      const due = dueTopUp(stores, { nowNs, spendable });
      if (due === undefined) continue;
      recordTopUp(stores, due);
      expect(spendable - due.cycles).toBeGreaterThanOrEqual(limits.frontMinimum);
      sent.push(due);
    }
    expect(sent.length).toBeGreaterThan(50);
    for (const { atNs } of sent) {
      const day = sent.filter((other) => other.atNs <= atNs && atNs - other.atNs < 24n * hourNs);
      const sum = (topUps: TopUp[]) => topUps.reduce((total, { cycles }) => total + cycles, 0);
      expect(sum(day)).toBeLessThanOrEqual(limits.daily);
      for (const id of volumes) {
        const own = day.filter(({ volumeId }) => volumeId === id);
        expect(sum(own)).toBeLessThanOrEqual(limits.dailyPerVolume);
      }
    }
  });
});

describe('lastTopUps', () => {
  test('returns the newest first, and remembers a bounded number', () => {
    for (let number = 1; number <= topUpRecordsMax + 5; number++) {
      recordTopUp(stores, {
        atNs: BigInt(number),
        volumeId: one,
        cycles: number,
        cause: 'request',
      });
    }
    const all = lastTopUps(stores, 2 * topUpRecordsMax);
    expect(all).toHaveLength(topUpRecordsMax);
    expect(all[0]).toMatchObject({ cycles: topUpRecordsMax + 5, cause: 'request' });
    expect(all.at(-1)?.cycles).toBe(6);
    expect(lastTopUps(stores, 3).map(({ cycles }) => cycles)).toEqual([1_005, 1_004, 1_003]);
  });

  test('adds up two top-ups of one moment', () => {
    const topUp = { atNs: 5n, volumeId: one, cycles: 7, cause: 'request' } as const;
    recordTopUp(stores, topUp);
    recordTopUp(stores, topUp);
    forgetTopUp(stores, topUp, nowNs);
    expect(lastTopUps(stores, 9)).toEqual([topUp]);
  });
});

describe('changeTopUpLimits', () => {
  test('refuses others than controllers, a volume, and impossible limits', () => {
    const refused = (change: object, code = 'InvalidArgument', call = controller) =>
      expectRefusal(stores, code as 'InvalidArgument', () =>
        changeTopUpLimits(stores, call, { ...limits, ...change }),
      );
    refused({}, 'AccessDenied', callOf('alice'));
    refused({ volumeTarget: limits.volumeMinimum });
    refused({ daily: -1 });
    refused({ frontMinimum: 2 ** 53 });
    saveRole(stores, { kind: 'volume', id: one, front: undefined });
    refused({});
  });

  test('keeps the limits that a change does not name', () => {
    expect(topUpLimits(stores)).toEqual(limits);
    expect(changeTopUpLimits(stores, controller, { daily: 7 })).toEqual({ ...limits, daily: 7 });
    expect(topUpLimits(stores)).toEqual({ ...limits, daily: 7 });
  });

  test('sends nothing after a first change without a daily maximum', async () => {
    stores = await createMemoryStores();
    saveRole(stores, { kind: 'front', id: front, volumes });
    changeTopUpLimits(stores, controller, { volumeMinimum: 3 * tera });
    report(one, 0);
    expect(send()).toEqual([]);
  });
});

test('checkRequest: controllers send cycles to listed volumes only', () => {
  const refused = (request: object, code: 'InvalidArgument' | 'AccessDenied', call = controller) =>
    expectRefusal(stores, code, () =>
      checkRequest(stores, call, { volumeId: one, cycles: 1, ...request }),
    );
  refused({}, 'AccessDenied', callOf('alice'));
  refused({ volumeId: front }, 'InvalidArgument');
  refused({ cycles: 0 }, 'InvalidArgument');
  checkRequest(stores, controller, { volumeId: two, cycles: 1 });
});
