// Reports of buckets: their pages at a volume, and their names and redirects at a front.

import { beforeEach, describe, expect, test } from 'vitest';
import { countNames, volumeOfBucket } from '../../src/domain/administration/bucket-names.ts';
import {
  findPublicAddress,
  publicAddresses,
} from '../../src/domain/administration/public-addresses.ts';
import { changeVolumes } from '../../src/domain/administration/service-role.ts';
import {
  receiveReport,
  type VolumeReport,
} from '../../src/domain/administration/volume-reports.ts';
import { conditionOf, volumeState } from '../../src/domain/administration/volume-states.ts';
import { forgetBucket, noteBucket } from '../../src/domain/buckets/bucket-directory.ts';
import {
  forgetPublicBuckets,
  noteChanged,
  notePublic,
  noteUnreported,
  type ReportPage,
  takeUnreported,
} from '../../src/domain/buckets/public-buckets.ts';
import type { PublicAddress } from '../../src/domain/shared/publication.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { saveRole } from '../../src/domain/shared/role-record.ts';
import { isOriginOf, originOfVolume } from '../../src/domain/shared/service-role.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { bucketsPerReport, publicAddressCountMax } from '../../src/limits.ts';
import { callOf, expectRefusal } from '../support/domain-fixture.ts';
import { createMemoryStores, type MemoryStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';

const front = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const [one, two] = ['rwlgt-iiaaa-aaaaa-aaaaa-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'] as const;
const originOf = (volumeId: string) => `https://${volumeId}.icp.net`;
const everything = { after: '', through: undefined };

let memory: MemoryStores;
/** The stores of a volume and of a front at once: they share no entries. */
let stores: Stores;
/** Addresses that the front has published. */
let published: Map<string, string>;

beforeEach(async () => {
  memory = await createMemoryStores();
  published = new Map();
  const publication = {
    ...memory.publication,
    putAddress: ({ bucketId, origin }: PublicAddress) => void published.set(bucketId, origin),
    removeAddress: (bucketId: string) => void published.delete(bucketId),
  };
  stores = { ...memory, publication };
  saveRole(stores, { kind: 'front', id: front, volumes: [one, two] });
});

type SentPage = Omit<ReportPage, 'others'> & { readonly others?: readonly string[] };

let nowNs = 1n;

function send(volumeId: string, page: SentPage, origin = originOf(volumeId)): void {
  const { others = [], ...range } = page;
  const state = { others, atNs: nowNs, stableBytes: 1_000, cycles: 0, reservedCycles: 0 };
  receiveReport(stores, { volumeId, origin, ...range, state }, nowNs);
}

/** A bucket of the volume is now public, private or deleted. */
function note(id: string, state: 'public' | 'private' | 'deleted'): void {
  if (state === 'deleted') forgetBucket(stores.directory, id);
  else noteBucket(stores.directory, id);
  noteChanged(stores, id, state === 'public');
}

const report = (volumeId: string, ...buckets: string[]) =>
  send(volumeId, { ...everything, buckets });

/** The addresses as the front finds and as it has published them. */
function shown(): Record<string, string> {
  const listed = publicAddresses(stores).map(({ bucketId, origin }) => [bucketId, origin]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(published));
  for (const [bucketId, origin] of published) {
    expect(findPublicAddress(stores, bucketId)).toEqual({ bucketId, origin });
  }
  return Object.fromEntries([...published].sort());
}

describe('takeUnreported', () => {
  test('reaches all buckets while the first one changes before each report', () => {
    const ids = Array.from({ length: 2 * bucketsPerReport }, (_, index) => `b${1_000 + index}`);
    for (const id of ids) note(id, 'public');
    const reported = new Set<string>();
    for (let turn = 0; turn < 6; turn++) {
      note('a', turn % 2 === 0 ? 'public' : 'private');
      for (const id of takeUnreported(stores)?.buckets ?? []) reported.add(id);
    }
    expect(ids.filter((id) => !reported.has(id))).toEqual([]);
    for (let turn = 0; turn < 4; turn++) takeUnreported(stores);
    expect(takeUnreported(stores)).toBeUndefined();
  });

  test('returns each bucket that was created, shown, hidden or deleted', () => {
    note('a', 'private');
    const range = { after: '', through: 'a' };
    expect(takeUnreported(stores)).toEqual({ ...range, buckets: [], others: ['a'] });
    note('a', 'public');
    expect(takeUnreported(stores)).toEqual({ ...range, buckets: ['a'], others: [] });
    note('a', 'deleted');
    expect(takeUnreported(stores)).toEqual({ ...range, buckets: [], others: [] });
    expect(takeUnreported(stores)).toBeUndefined();
  });

  test('returns a range with only the changed bucket', () => {
    for (const id of ['a', 'b', 'c']) note(id, 'public');
    takeUnreported(stores);
    const range = { after: 'a', through: 'b' };
    note('b', 'private');
    expect(takeUnreported(stores)).toEqual({ ...range, buckets: [], others: ['b'] });
    note('b', 'public');
    expect(takeUnreported(stores)).toEqual({ ...range, buckets: ['b'], others: [] });
  });

  test('returns pages that cover all ids, and none that a change has extended too little', () => {
    const ids = Array.from({ length: 2 * bucketsPerReport }, (_, index) => `n${1000 + index}`);
    for (const id of ids) note(id, 'public');
    noteUnreported(stores);
    const first = takeUnreported(stores) ?? expect.fail();
    expect(first).toMatchObject({ after: '', through: ids[bucketsPerReport - 1] });
    note('a', 'public');
    const rest = takeUnreported(stores) ?? expect.fail();
    expect([...first.buckets, ...rest.buckets]).toEqual(ids);
    expect(rest.through).toBeUndefined();
    expect(takeUnreported(stores)).toEqual({ after: '', through: 'a', buckets: ['a'], others: [] });
    expect(takeUnreported(stores)).toBeUndefined();
  });

  test('forgetPublicBuckets: all buckets are private until they are noted again', () => {
    for (const id of ['a', 'b']) note(id, 'public');
    forgetPublicBuckets(stores);
    notePublic(stores, 'b', true);
    noteUnreported(stores);
    expect(takeUnreported(stores)).toMatchObject({ buckets: ['b'], others: ['a'] });
  });
});

describe('receiveReport: addresses', () => {
  test('replaces only the range of the volume that reports', () => {
    report(one, 'a', 'b', 'b-1', 'c');
    report(two, 'x');
    send(one, { after: 'a', through: 'b', buckets: [] });
    expect(shown()).toEqual({
      a: originOf(one),
      'b-1': originOf(one),
      c: originOf(one),
      x: originOf(two),
    });
    report(one, 'd');
    expect(shown()).toEqual({ d: originOf(one), x: originOf(two) });
  });

  test('leaves a name to the volume that reported it first, until that volume gives it up', () => {
    report(one, 'a');
    report(two, 'a', 'b');
    expect(shown()).toEqual({ a: originOf(one), b: originOf(two) });
    report(two);
    expect(shown()).toEqual({ a: originOf(one) });
    report(two, 'a');
    report(one);
    expect(shown()).toEqual({});
    report(two, 'a');
    expect(shown()).toEqual({ a: originOf(two) });
  });

  test('writes nothing if nothing has changed', () => {
    report(one, 'a', 'b');
    const before = memory.writeCount();
    report(one, 'b', 'a', 'a');
    // The volume's state
    expect(memory.writeCount()).toBe(before + 1);
  });

  test('takes another origin of the volume', () => {
    report(one, 'a', 'b');
    const local = `http://${one}.localhost:4943`;
    send(one, { after: '', through: 'a', buckets: ['a'] }, local);
    expect(shown()).toEqual({ a: local, b: originOf(one) });
  });

  test('changeVolumes removes the addresses of a volume that leaves, and frees its names', () => {
    report(one, 'a', 'b');
    report(two, 'b', 'c');
    changeVolumes(stores, callOf('controller'), { remove: [one] });
    expect(shown()).toEqual({ c: originOf(two) });
    report(two, 'b', 'c');
    expect(shown()).toEqual({ b: originOf(two), c: originOf(two) });
  });

  const refused = (code: RefusalCode, change: Partial<VolumeReport>) => {
    report(one, 'kept');
    const sound = { volumeId: one, origin: originOf(one), ...everything, buckets: ['a'] };
    expectRefusal(memory, code, () => receiveReport(stores, { ...sound, ...change }, nowNs));
    expect(shown()).toEqual({ kept: originOf(one) });
  };

  test('refuses a volume that is not in the list, and every caller at a volume', () => {
    const other = 'rdmx6-jaaaa-aaaaa-aaadq-cai';
    refused('AccessDenied', { volumeId: other, origin: originOf(other) });
    saveRole(stores, { kind: 'volume', id: one, front: undefined });
    const sound = { volumeId: two, origin: originOf(two), ...everything, buckets: ['a'] };
    expectRefusal(memory, 'AccessDenied', () => receiveReport(stores, sound, nowNs));
  });

  test.each([
    '',
    'https://evil.example',
    `https://${two}.icp.net`,
    `https://${one}.evil.example`,
    `https://${one}.icp.net.evil.example`,
    `https://${one}.icp.net/`,
    `https://${one}.icp.net:444`,
    `https://user@${one}.icp.net`,
    `http://${one}.icp.net`,
    `http://${one}.localhost.evil.example`,
    `http://${one}.localhost:4943/x`,
    `http://x.${one}.localhost`,
    `//${one}.icp.net`,
    `https://${one}.icp.net\r\nSet-Cookie: a=b`,
  ])('refuses the origin %j', (origin) => {
    refused('InvalidArgument', { origin });
  });

  test('refuses a report with an invalid id, or one outside of its range, whole', () => {
    for (const id of ['', '-a', 'a/b', 'a.b', 'ä', 'a'.repeat(65), 'a\0b', '<*>']) {
      refused('InvalidBucketId', { buckets: ['good', id] });
      refused('InvalidBucketId', {
        state: { others: [id], atNs: nowNs, stableBytes: 0, cycles: 0, reservedCycles: 0 },
      });
      if (id !== '') refused('InvalidBucketId', { after: id });
      refused('InvalidBucketId', { through: id });
    }
    refused('InvalidArgument', { after: 'a' });
    refused('InvalidArgument', { through: 'B' });
  });

  test('refuses times and sizes that do not fit into a record', () => {
    const sound = { others: [], atNs: nowNs, stableBytes: 0, cycles: 0, reservedCycles: 0 };
    refused('InvalidArgument', { state: { ...sound, atNs: -1n } });
    refused('InvalidArgument', { state: { ...sound, atNs: 1n << 64n } });
    refused('InvalidArgument', { state: { ...sound, stableBytes: 1e300 } });
    refused('InvalidArgument', { state: { ...sound, cycles: -1 } });
  });

  test('refuses more buckets than a report may have', () => {
    const ids = Array.from({ length: bucketsPerReport + 1 }, (_, index) => `n${index}`);
    refused('EntityTooLarge', { buckets: ids });
    const others = ids.slice(1);
    refused('EntityTooLarge', {
      buckets: ids.slice(0, 1),
      state: { others, atNs: 0n, stableBytes: 0, cycles: 0, reservedCycles: 0 },
    });
  });

  test('adds no address beyond the limit of a volume, and still removes and replaces', () => {
    const ids = Array.from({ length: bucketsPerReport }, (_, index) => `n${index}`);
    const pageOf = (page: number) => {
      const prefix = `p${100 + page}`;
      const buckets = ids.map((id) => prefix + id);
      return { after: prefix, through: `p${101 + page}`, buckets };
    };
    for (let page = 0; page < 6; page++) send(one, pageOf(page));
    expect(published.size).toBe(publicAddressCountMax);
    send(two, { after: 'z', through: undefined, buckets: ['z1'] });
    const local = `http://${one}.localhost:4943`;
    send(one, { ...pageOf(1), buckets: [...pageOf(1).buckets.slice(1), 'p101a'] }, local);
    expect(shown()).toMatchObject({ p101a: local, p101n1: local, z1: originOf(two) });
    expect(findPublicAddress(stores, 'p101n0')).toBeUndefined();
    expect(published.size).toBe(publicAddressCountMax + 1);
    report(one);
    expect(shown()).toEqual({ z1: originOf(two) });
  });
});

describe('receiveReport: names', () => {
  const owners = (...ids: string[]) => ids.map((id) => volumeOfBucket(stores, id));

  test('knows public and other buckets, in the reported range', () => {
    send(one, { ...everything, buckets: ['a'], others: ['b', 'c'] });
    expect(owners('a', 'b', 'c', 'd')).toEqual([one, one, one, undefined]);
    nowNs += 1n;
    send(one, { after: 'a', through: 'b', buckets: [] });
    expect(owners('a', 'b', 'c')).toEqual([one, undefined, one]);
    expect(countNames(stores, one)).toBe(2);
  });

  test('keeps a bucket that is newer than the report', () => {
    send(one, { ...everything, buckets: ['a'] });
    send(one, { ...everything, buckets: [] });
    expect(owners('a')).toEqual([one]);
    nowNs += 1n;
    send(one, { ...everything, buckets: [] });
    expect(owners('a')).toEqual([undefined]);
  });

  test('does not take a report of version 0.2.0 for one of all names', () => {
    const sent = { volumeId: one, origin: originOf(one), ...everything, buckets: ['a'] };
    receiveReport(stores, sent, nowNs);
    expect(owners('a')).toEqual([undefined]);
    expect(conditionOf(volumeState(stores, one))).toBe('unknown');
  });

  test('knows all names after reports that leave no gap', () => {
    const condition = () => conditionOf(volumeState(stores, one));
    send(one, { after: 'm', through: undefined, buckets: ['n'] });
    expect(condition()).toBe('unknown');
    send(one, { after: '', through: 'f', buckets: [] });
    send(one, { after: 'g', through: undefined, buckets: [] });
    expect(condition()).toBe('unknown');
    send(one, { after: 'f', through: undefined, buckets: [] });
    expect(condition()).toBe('open');
    send(one, { after: 'b', through: 'c', buckets: [] });
    expect(condition()).toBe('open');
  });
});

describe('originOfVolume', () => {
  test.each([
    [`https://${front}.icp.net`, `https://${one}.icp.net`],
    [`https://${front}.icp0.io`, `https://${one}.icp0.io`],
    [`http://${front}.localhost:4943`, `http://${one}.localhost:4943`],
    ['https://files.example.com', `https://${one}.icp.net`],
    [`https://${front}.example.com`, `https://${one}.icp.net`],
    ['http://localhost:4943', `https://${one}.icp.net`],
  ])('at the front %s is %s', (url, origin) => {
    expect(originOfVolume(one, { id: front, url })).toBe(origin);
    expect(isOriginOf(one, origin)).toBe(true);
  });
});

/** Names that are prefixes of each other and sort differently from their lengths. */
function nameOf(number: number): string {
  return number % 3 === 0 ? `b${number}` : `B-${number % 7}-${number}`;
}

test.each(seedsOr(1, 2, 3))(
  'receiveReport: reports with lost and failed calls agree with a model, seed %i',
  (seed) => {
    const random = randomNumbers(seed);
    const shownAtVolume = new Set<string>();
    const hiddenAtVolume = new Set<string>();
    const ofOther = new Set<string>();
    const owners = new Map<string, string>();
    const replace = (volumeId: string, names: ReadonlySet<string>, page: ReportPage) => {
      const isIn = (id: string) =>
        id > page.after && (page.through === undefined || id <= page.through);
      for (const [id, owner] of owners) {
        if (owner === volumeId && isIn(id) && !names.has(id)) owners.delete(id);
      }
      for (const id of names) if (isIn(id) && !owners.has(id)) owners.set(id, volumeId);
    };
    const deliver = () => {
      const page = takeUnreported(stores);
      if (page === undefined) return false;
      send(one, page);
      replace(one, shownAtVolume, page);
      return true;
    };
    for (let step = 0; step < 4_000; step++) {
      const id = nameOf(random(1_000));
      const kind = random(40);
      if (kind < 28) {
        const state = (['public', 'public', 'private', 'deleted'] as const)[random(4)];
        note(id, state ?? 'public');
        for (const set of [shownAtVolume, hiddenAtVolume]) set.delete(id);
        if (state === 'public') shownAtVolume.add(id);
        if (state === 'private') hiddenAtVolume.add(id);
        nowNs += 1n;
      } else if (kind < 34) {
        deliver();
      } else if (kind === 34) {
        // The call fails, and the page is reported again.
        const page = takeUnreported(stores);
        if (page !== undefined) noteUnreported(stores, page);
      } else if (kind === 35) {
        // The notice is lost: only a contact repairs it.
        takeUnreported(stores);
      } else if (kind < 39) {
        if (ofOther.size < 100) ofOther.add(id);
        else ofOther.clear();
        const page = { ...everything, buckets: [...ofOther], others: [] };
        send(two, page);
        replace(two, ofOther, page);
      } else {
        noteUnreported(stores);
      }
    }
    nowNs += 1n;
    noteUnreported(stores);
    while (deliver());
    const expected = [...owners].map(([id, owner]) => [id, originOf(owner)] as const);
    expect(owners.size).toBeGreaterThan(2 * bucketsPerReport);
    expect(shown()).toEqual(Object.fromEntries(expected));
    for (const id of shownAtVolume) expect(owners.has(id), id).toBe(true);
    expect(countNames(stores, one)).toBe(shownAtVolume.size + hiddenAtVolume.size);
    expect(countNames(stores, two)).toBe(ofOther.size);
  },
);
