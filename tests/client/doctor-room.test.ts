// `efs doctor`: the check of room, judged on figures, and on a replica whose subnet is nearly full.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCanisterCode } from '../../packages/client/src/actor/canister-code.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { actorConnection } from '../../packages/client/src/storage.ts';
import { upgradeCycles, upgradeFaults } from '../../packages/efs/src/doctor/doctor-cycles.ts';
import { judgeRoom } from '../../packages/efs/src/doctor/doctor-room.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const gib = 2 ** 30;
const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const small = { stableBytes: 1 };
const reservation = (reserved: number) => {
  return { reservedCycles: reserved * 1e12, reservedCyclesLimit: 5e12 };
};

describe('judgeRoom()', () => {
  test('warns from 80 % of 500 GiB of stable memory', () => {
    expect(judgeRoom(id, { stableBytes: 399 * gib }, undefined).isGood).toBe(true);
    expect(judgeRoom(id, { stableBytes: 400 * gib }, undefined)).toMatchObject({
      isGood: false,
      message: expect.stringMatching(/^Nearly full: /),
    });
  });

  test('warns from 80 % of the cycles that the network may reserve', () => {
    expect(judgeRoom(id, small, reservation(3.99)).isGood).toBe(true);
    expect(judgeRoom(id, small, { reservedCycles: 0, reservedCyclesLimit: 0 }).isGood).toBe(true);
    const { isGood, message, advice } = judgeRoom(id, small, reservation(4));
    expect([isGood, message]).toEqual([
      false,
      `The network reserves 4.00 T cycles of ${id} for its memory, and may reserve 5.00 T: then ` +
        'it cannot grow.',
    ]);
    expect(advice).toContain(`icp canister settings update ${id} --reserved-cycles-limit`);
  });
});

describe('judgeRoom() on a cloud engine', () => {
  test('names no limit and does not warn, however much is stored', () => {
    const engine = { stableBytes: 450 * gib, chargesCycles: false };
    expect(judgeRoom(id, engine, undefined)).toEqual({
      isGood: true,
      message: `483 GB of stable memory; the limit is the engine's own, which the network does not report.`,
    });
  });
});

describe('upgradeFaults()', () => {
  const state = { cycles: 0.8027e12, cyclesPerDay: 1e10, freezingSeconds: 50 * 86_400 };

  test('warns below 0.3027 T cycles above the freezing reserve', () => {
    expect(upgradeFaults(id, { ...state, reservedCycles: 0 })).toEqual([]);
    const [fault] = upgradeFaults(id, { ...state, cycles: 0.7e12, reservedCycles: 0 });
    expect(fault?.problem).toBe(
      `An upgrade needs 0.3027 T cycles above the freezing reserve, and ${id} lacks 0.1027 T of them.`,
    );
    expect(fault?.advice).toContain(`icp canister top-up ${id}`);
  });

  test('counts reserved cycles toward the freezing reserve, and accepts 0 cycles without prices', () => {
    expect(upgradeFaults(id, { ...state, cycles: 0.7e12, reservedCycles: 0.1027e12 })).toEqual([]);
    const free = { cycles: 0, cyclesPerDay: 0, freezingSeconds: 2_592_000, reservedCycles: 0 };
    expect(upgradeFaults(id, free)).toEqual([]);
    expect(upgradeFaults(id, undefined)).toEqual([]);
  });

  test('has the figure of docs/operations.md', async () => {
    const page = await readFile('docs/operations.md', 'utf8');
    expect(page).toContain(`| an upgrade | ${upgradeCycles / 1e12} T |`);
  });
});

describe('efs doctor', () => {
  let service: Service;
  let folder: string;

  beforeAll(async () => {
    // Whatever the canister allocates reserves cycles.
    service = await openService({ limits: { subnetStorageThreshold: 2n ** 20n } });
    folder = await mkdtemp(join(tmpdir(), 'efs-room-'));
    await writeFile(join(folder, 'owner.pem'), service.identityPem);
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('reports the room of the canister', async () => {
    const environment = {
      ...{ EFS_HOST: service.host, EFS_CANISTER_ID: service.canisterId },
      EFS_IDENTITY: 'owner.pem',
    };
    const { output } = await callCommand(['doctor', '--json'], { folder, environment });
    const room = JSON.parse(output).find(({ check }: { check: string }) => check === 'room');
    expect(room).toMatchObject({ isGood: true });
    expect(room.message).toMatch(/^\S+ [kM]B of \S+ GB of stable memory\./);
  });

  test('reads the reserved cycles and their limit from canister_status', async () => {
    const { host, canisterId } = service;
    await writeFile(join(folder, 'large.bin'), new Uint8Array(6_000_000));
    const environment = { EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY: 'owner.pem' };
    const put = ['put', 'large.bin', `${service.bucket}/`];
    expect((await callCommand(put, { folder, environment })).code).toBe(0);
    const identity = identityFromPem(service.identityPem);
    const code = await openCanisterCode(actorConnection({ host, canisterId, identity }));
    const { reservedCycles, reservedCyclesLimit } = await code.state(canisterId);
    expect(reservedCycles).toBeGreaterThan(0);
    expect(reservedCyclesLimit).toBeGreaterThan(reservedCycles);
  });
});
