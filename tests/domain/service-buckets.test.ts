// Reservations of names at a front, and orders at a volume.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  allReservations,
  countNames,
  volumeOfBucket,
} from '../../src/domain/administration/bucket-names.ts';
import {
  createBucketFor,
  endRejected,
  endReservation,
  nextOverdueNs,
  overdueReservations,
  type ReservedBucket,
  requireFrontOf,
  reserveBucket,
} from '../../src/domain/administration/service-buckets.ts';
import { receiveReport } from '../../src/domain/administration/volume-reports.ts';
import { changeVolume } from '../../src/domain/administration/volume-states.ts';
import type { Call } from '../../src/domain/shared/caller.ts';
import { saveRole } from '../../src/domain/shared/role-record.ts';
import { reservationCountMax } from '../../src/limits.ts';
import { callOf, expectRefusal } from '../support/domain-fixture.ts';
import { createMemoryStores, type MemoryStores } from '../support/memory-stores.ts';

const front = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const [one, two] = ['rwlgt-iiaaa-aaaaa-aaaaa-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'] as const;
const controller = callOf('controller');
const [ada, ben] = ['ada', 'ben'] as const;
const minuteNs = 60_000_000_000n;

let stores: MemoryStores;

beforeEach(async () => {
  stores = await createMemoryStores();
  saveRole(stores, { kind: 'front', id: front, volumes: [one, two] });
  for (const volumeId of [one, two]) report(volumeId);
});

function report(volumeId: string, ...buckets: string[]): void {
  const origin = `https://${volumeId}.icp.net`;
  const state = {
    others: [],
    atNs: controller.nowNs,
    stableBytes: 0,
    cycles: 0,
    reservedCycles: 0,
  };
  const range = { after: '', through: undefined };
  receiveReport(stores, { volumeId, origin, ...range, buckets, state }, controller.nowNs);
}

const later = (minutes: bigint): Call => ({
  ...controller,
  nowNs: controller.nowNs + minutes * minuteNs,
});
const reserve = (bucket: string, caller: string, call = controller, tried = new Set<string>()) =>
  reserveBucket(stores, call, { bucket, caller, tried });
const close = (volumeId: string, isClosed = true) =>
  changeVolume(stores, controller, { volumeId, isClosed });

const reservationOf = ({ isChosen: _, ...reservation }: ReservedBucket) => reservation;

describe('reserveBucket', () => {
  test('keeps a name at its volume for its caller, whatever is open now', () => {
    const first = reserve('a', ada);
    expect(first.volumeId).toBe(one);
    close(one);
    expect(reserve('a', ada, later(1n))).toEqual({
      ...first,
      untilNs: later(3n).nowNs,
      isChosen: false,
    });
    expectRefusal(stores, 'BucketExists', () => reserve('a', ben));
    expect(allReservations(stores)).toHaveLength(1);
  });

  test('asks the volume that has had a bucket of that name', () => {
    report(two, 'b');
    expect(reserve('b', ben).volumeId).toBe(two);
  });

  test('chooses the volume with the fewest buckets among those with equal room', () => {
    report(one, 'x', 'y');
    expect(reserve('c', ada).volumeId).toBe(two);
    const gibibyte = 1_073_741_824n;
    changeVolume(stores, controller, { volumeId: two, limitBytes: 50n * gibibyte });
    expect(reserve('d', ada).volumeId).toBe(one);
  });

  test('refuses more names at a time than the front follows', () => {
    for (let index = 0; index < reservationCountMax; index++) reserve(`n${index}`, ada);
    expectRefusal(stores, 'SlowDown', () => reserve('more', ada));
    expect(reserve('n7', ada).bucketId).toBe('n7');
  });
});

describe('endReservation', () => {
  test('makes the bucket known, also before the volume reports it', () => {
    const reserved = reserve('a', ada);
    endReservation(stores, reserved, 5n);
    expect(allReservations(stores)).toEqual([]);
    expect(volumeOfBucket(stores, 'a')).toBe(one);
    expect(countNames(stores, one)).toBe(1);
  });

  test('frees the name if there is no bucket, unless the caller has asked again', () => {
    const reserved = reserve('a', ada);
    const again = reserve('a', ada, later(1n));
    endReservation(stores, reserved, undefined);
    expect(allReservations(stores)).toEqual([reservationOf(again)]);
    endReservation(stores, again, undefined);
    expect(allReservations(stores)).toEqual([]);
    expect(reserve('a', ben).owner).toBe(ben);
  });

  test('leaves the reservation of another caller alone', () => {
    const reserved = reserve('a', ada);
    endReservation(stores, reserved, undefined);
    const other = reserve('a', ben);
    endReservation(stores, reserved, undefined);
    expect(allReservations(stores)).toEqual([reservationOf(other)]);
  });
});

test('overdueReservations: a volume is asked once it cannot create the bucket any more', () => {
  reserve('a', ada);
  expect(overdueReservations(stores, later(2n).nowNs)).toEqual([]);
  expect(nextOverdueNs(stores)).toBe(later(3n).nowNs);
  expect(overdueReservations(stores, later(3n).nowNs)).toHaveLength(1);
});

describe('endRejected', () => {
  test('frees the name, and the next choice is a volume that was not tried', () => {
    const reserved = reserve('a', ada);
    expect(reserved).toMatchObject({ volumeId: one, isChosen: true });
    expect(endRejected(stores, reserved, controller.nowNs)).toBe(true);
    expect(allReservations(stores)).toEqual([]);
    expect(reserve('a', ada, controller, new Set([one])).volumeId).toBe(two);
  });

  test('makes the volume the last choice for ten minutes, unless it is the only one', () => {
    endRejected(stores, reserve('a', ada), controller.nowNs);
    expect(reserve('b', ada).volumeId).toBe(two);
    close(two);
    expect(reserve('c', ada).volumeId).toBe(one);
    close(two, false);
    expect(reserve('d', ada, later(10n)).volumeId).toBe(one);
  });

  test('keeps a name that the volume may have, and one whose caller asked again at once', () => {
    report(two, 'old');
    expect(endRejected(stores, reserve('old', ada), controller.nowNs)).toBe(false);
    const first = reserve('a', ada);
    const second = reserve('a', ada);
    expect(second.untilNs).toBeGreaterThan(first.untilNs);
    expect(endRejected(stores, first, controller.nowNs)).toBe(false);
    expect(endRejected(stores, second, controller.nowNs)).toBe(false);
    expect(allReservations(stores)).toHaveLength(2);
  });
});

describe('createBucketFor', () => {
  const order = { bucket: 'a', callerId: front, owner: controller.caller.principal };
  const untilNs = later(2n).nowNs;

  beforeEach(() => {
    saveRole(stores, { kind: 'volume', id: one, front: { id: front, url: 'https://x.org' } });
  });

  test('creates the bucket of the named owner, and returns it again', () => {
    const owner = callOf('alice').caller.principal;
    const created = createBucketFor(stores, controller, { ...order, owner, untilNs });
    expect(created.owner).toEqual(owner);
    expect(createBucketFor(stores, later(1n), { ...order, owner, untilNs })).toEqual(created);
    expectRefusal(stores, 'BucketExists', () =>
      createBucketFor(stores, controller, { ...order, untilNs }),
    );
  });

  test('refuses a late order, and orders of others', () => {
    expectRefusal(stores, 'ServiceUnavailable', () =>
      createBucketFor(stores, later(3n), { ...order, untilNs }),
    );
    expectRefusal(stores, 'AccessDenied', () =>
      createBucketFor(stores, controller, { ...order, callerId: two, untilNs }),
    );
    saveRole(stores, { kind: 'volume', id: one, front: undefined });
    expectRefusal(stores, 'AccessDenied', () => requireFrontOf(stores, front));
  });
});
