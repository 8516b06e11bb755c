// The checks of the page Service: which figures need somebody, and the commands.

import { expect, test } from 'vitest';
import {
  type Check,
  checksOf,
  type ServiceFacts,
  type VolumeFacts,
} from '../../console/src/service-checks.ts';
import { cyclesLeft } from '../../console/src/service-figures.ts';
import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import type { ServiceStatus } from '../../packages/client/src/types/service.ts';
import type { UploadSession } from '../../packages/client/src/types/transfers.ts';
import './support/english.ts';

const gib = 2 ** 30;
const full = { burst: 300, perMinute: 20, left: 300 };
const fine: ServiceStatus = {
  version: '0.2.0',
  buckets: 1,
  files: 3,
  bytesStored: 1_000,
  stableBytes: gib,
  heapBytes: 0,
  cycles: 1e13,
  anonymousUpdates: full,
  linkUpdates: full,
  refusals: full,
  derivations: full,
  encryption: { rootKey: 'vetkd', keyName: 'key_1', isKeyPresent: true, isRotating: false },
  certified: 'response-verification-v2',
};
const now = Date.parse('2026-06-01T12:00:00Z');
const facts: ServiceFacts = {
  volumes: [{ canisterId: 'aaaaa-aa', status: fine, isKeyLate: false }],
  buckets: [],
  isLocal: false,
  isAtFront: true,
  now,
};
const record = {
  id: 'demo',
  fileCount: 3,
  byteCount: 1_000,
  overheadBytes: 0,
  versionBytes: 0,
  openUploads: 0,
} as BucketRecord;

const oneVolume = (change: Partial<VolumeFacts>) => ({
  volumes: [{ canisterId: 'aaaaa-aa', status: fine, isKeyLate: false, ...change }],
});
const commandsOf = (checks: readonly Check[]) =>
  checks.flatMap(({ acts }) => acts.map(({ command }) => command));
const commands = (change: Partial<ServiceStatus>) =>
  commandsOf(checksOf({ ...facts, ...oneVolume({ status: { ...fine, ...change } }) }));
const ofBuckets = (...buckets: NonNullable<ServiceFacts['buckets']>) =>
  checksOf({ ...facts, buckets });
const check = (checks: readonly Check[], title: string) =>
  checks.find((one) => one.title === title) ?? expect.fail(title);

test('cyclesLeft counts the days before the reserve, and the cycles for an upgrade and an upload', () => {
  const perDay = 127_000 * 86_400;
  const left = (cycles: number) => cyclesLeft({ ...fine, stableBytes: 100 * gib, cycles });
  expect(left(100 * perDay * 91)).toMatchObject({ days: 61, isLow: false });
  expect(left(100 * perDay * 89)).toMatchObject({ days: 59, isLow: true, acceptsUploads: true });
  expect(left(100 * perDay * 20)).toMatchObject({ days: 0, acceptsUploads: false });
  const small = { ...fine, stableBytes: gib / 100 };
  expect(cyclesLeft({ ...small, cycles: 5e10 })).toMatchObject({
    days: 425,
    acceptsUploads: false,
    isLow: true,
  });
  const forUploads = cyclesLeft({ ...small, cycles: 3e11 });
  expect(forUploads).toMatchObject({ acceptsUploads: true, isLow: true });
  expect(cyclesLeft({ ...fine, cycles: undefined })).toBeUndefined();
});

test('checksOf finds nothing to do on a service with room and cycles', () => {
  const checks = checksOf(facts);
  expect(checks.map(({ state }) => state)).toEqual(Array(7).fill('fine'));
  expect(commandsOf(checks)).toEqual([]);
});

test('checksOf asks nobody for cycles where the subnet charges nothing', () => {
  const status = { ...fine, cycles: 0, chargesCycles: false };
  const found = check(checksOf({ ...facts, ...oneVolume({ status }) }), 'Cycles');
  expect(found).toMatchObject({ state: 'fine', acts: [] });
  expect(found.lines[0]?.text).toContain('needs no cycles');
  expect(cyclesLeft(status)).toBeUndefined();
  expect(commands({ cycles: 0 })).toHaveLength(1);
});

test('checksOf names no limit of room on a cloud engine, because the network reports none', () => {
  const status = { ...fine, chargesCycles: false, stableBytes: 460 * gib };
  const found = check(checksOf({ ...facts, ...oneVolume({ status }) }), 'Room');
  expect(found).toMatchObject({ state: 'fine', acts: [] });
  expect(found).not.toHaveProperty('bar');
  expect(found.lines[0]?.text).toBe('494 GB for files, limit unknown.');
});

test('checksOf names the command for each figure that needs somebody', () => {
  expect(commands({ cycles: 5e10 })).toEqual(['icp canister top-up aaaaa-aa --amount 1t -n ic']);
  const stableBytes = 460 * gib;
  expect(commands({ stableBytes, cycles: 1e16 })).toEqual(['efs rm -r <bucket>/<folder>']);
  expect(commands({ heapBytes: 2.8 * gib })).toEqual(['icp deploy -e ic']);
  const used = { ...full, left: 10 };
  const more = '--burst 600 --per-minute 40';
  expect(commands({ anonymousUpdates: used })).toEqual([`efs access anonymous ${more}`]);
  expect(commands({ linkUpdates: used })).toEqual([`efs access links ${more}`]);
  expect(commands({ derivations: used })).toEqual([`efs access derivations ${more}`]);
  const late = checksOf({ ...facts, ...oneVolume({ isKeyLate: true }) });
  expect(commandsOf(late)).toEqual(['icp canister logs aaaaa-aa -n ic']);
});

test('checksOf leaves alone what ends by itself or was chosen', () => {
  expect(commands({ refusals: { ...full, left: 0 } })).toEqual([]);
  expect(commands({ anonymousUpdates: { burst: 0, perMinute: 0, left: 0 } })).toEqual([]);
  const isRotating = true;
  const rotating = { ...fine, encryption: { ...fine.encryption, isRotating } };
  const checks = checksOf({ ...facts, ...oneVolume({ status: rotating }) });
  expect(check(checks, 'Encryption').state).toBe('wait');
});

test('checksOf says which figures the caller does not see', () => {
  const status = { ...fine, cycles: undefined };
  const checks = checksOf({ ...facts, ...oneVolume({ status }), buckets: undefined });
  expect(check(checks, 'Cycles').state).toBe('unseen');
  expect(check(checks, 'Uploads under way').state).toBe('unseen');
  expect(commandsOf(checks)).toEqual([]);
});

test('checksOf reports nearly full quotas, and uploads that leave no room only if idle', () => {
  const quota = { ...record, quotaBytes: 1_050, quotaFiles: 3 };
  expect(commandsOf(ofBuckets({ record: quota }))).toEqual([
    'efs bucket set demo --quota 2100',
    'efs bucket set demo --quota-files 6',
  ]);
  const begun = (minutes: number) => {
    const time = new Date(now - minutes * 60_000).toISOString();
    const sizes = { isSizeKnown: true, totalSize: 9_000, uploadedSize: 10 };
    return { ...sizes, createdAt: time, updatedAt: time } as UploadSession;
  };
  const busy = { ...record, openUploads: 2, quotaBytes: 10_000 };
  const active = ofBuckets({ record: busy, uploads: [begun(5)] });
  expect(commandsOf(active)).toEqual([]);
  const idle = ofBuckets({ record: busy, uploads: [begun(5), begun(90)] });
  expect(commandsOf(idle)).toEqual(['efs uploads ls demo']);
  expect(check(idle, 'Uploads under way').lines[0]).toEqual({
    bucket: 'demo',
    text: '2 uploads of 18 kB, the oldest begun 2 hours ago; 1 idle for more than an hour',
  });
  const roomy = { ...busy, quotaBytes: undefined };
  expect(commandsOf(ofBuckets({ record: roomy, uploads: [begun(90)] }))).toEqual([]);
  const many = { ...roomy, openUploads: 50 };
  expect(commandsOf(ofBuckets({ record: many, uploads: [begun(90)] }))).toHaveLength(1);
});

test('checksOf: with several volumes, each check names its canister', () => {
  const two = { canisterId: 'bbbbb-bb', status: { ...fine, cycles: 1e11 }, isKeyLate: false };
  const silent = { canisterId: 'ccccc-cc', status: undefined, isKeyLate: false };
  const full = { ...record, byteCount: 990, quotaBytes: 1_000 };
  const volumes = [...facts.volumes, two, silent];
  const checks = checksOf({ ...facts, volumes, buckets: [{ record: full }] });
  expect(commandsOf(checks).sort()).toEqual([
    'efs bucket set demo --quota 2000',
    'icp canister status ccccc-cc -n ic',
    'icp canister top-up bbbbb-bb --amount 1t -n ic',
  ]);
  const titles = checks.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.filter((title) => title.endsWith(' – bbbbb-bb'))).toHaveLength(5);
});

test('checksOf shows the cycles that the network keeps for growth, if it keeps any', () => {
  const linesOf = (reservedCycles: number) => {
    const readAt = new Date(now).toISOString();
    const storageReservation = { reservedCycles, limitCycles: 5e12, readAt };
    const status = { ...fine, storageReservation };
    return check(checksOf({ ...facts, ...oneVolume({ status }) }), 'Room').lines;
  };
  expect(linesOf(0)).toHaveLength(2);
  expect(linesOf(1.2e12)[2]?.text).toBe(
    'The network keeps 1.2 T of cycles for growth, because the subnet has little room. ' +
      'At 5 T, the canister can no longer grow.',
  );
});
