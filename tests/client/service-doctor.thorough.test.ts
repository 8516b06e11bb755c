// `efs doctor` for a service with a front has a finding for each canister.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { judge } from '../../packages/efs/src/doctor/doctor-service.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { readSections, withCustomSection, writeSections } from '../../scripts/wasm-sections.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { runCommand } from './command-runs.ts';

interface Row {
  readonly check: string;
  readonly isGood: boolean | null;
  readonly message: string;
  readonly advice?: string;
  readonly canisterId?: string;
}

let folder: string;
let replica: Replica;
let wasm: Uint8Array;
let front: string;
let volumes: readonly string[];
let sender: Principal;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const stateDir = join(folder, '.replica');
  await copyPreparedState(stateDir);
  replica = await startReplica({ stateDir, sync: false, port: 0 });
  wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  const made = await deployLocally({ replica, stateDir, wasm, hasFront: true, volumeCount: 3 });
  front = made.front?.canisterId ?? '';
  volumes = made.front?.volumes ?? [];
  sender = principalOf(made.identityPem);
  await writeFile(join(folder, 'stranger.pem'), newIdentity(), { mode: 0o600 });
  await vi.waitFor(async () => expect((await efs('volume', 'ls')).output).not.toContain('unkn'), {
    timeout: 20_000,
    interval: 200,
  });
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => runCommand(words, { folder });

async function findings(...words: string[]): Promise<readonly Row[]> {
  const rows = JSON.parse((await efs(...words, 'doctor', '--json')).output) as Row[];
  return rows.filter(({ canisterId }) => canisterId !== undefined);
}

async function findingOf(id: string | undefined): Promise<Row | undefined> {
  return (await findings()).find(({ canisterId }) => canisterId === id);
}

const managed = (method: Parameters<typeof manage>[1], id: string) =>
  manage(replica, method, { canister_id: Principal.fromText(id), sender });

describe('efs doctor with a front', () => {
  test('reports version, state, room and cycles of each canister that works', async () => {
    const { code, output, errors } = await efs('doctor');
    expect(code, `${output}${errors}`).toBe(0);
    for (const id of volumes) {
      expect(output).toMatch(new RegExp(`volume +${id}: version 0.3.0, open, .* of 429 GB, cyc`));
    }
    expect(output).toMatch(new RegExp(`front +${front}: version 0.3.0, cycles for `));
    const asStranger = await findings('--identity', 'stranger.pem');
    expect(asStranger.map(({ message }) => message).join()).not.toContain('cycles');
    expect(asStranger.every(({ isGood }) => isGood)).toBe(true);
  });

  test('reports a closed volume as a choice, and a nearly full one as a problem', async () => {
    const [first = '', second = ''] = volumes;
    await efs('volume', 'close', first);
    expect(await findingOf(first)).toMatchObject({
      ...{ check: 'volume', isGood: null, advice: expect.stringContaining('efs volume open') },
    });
    await efs('volume', 'open', first);
    const listed = JSON.parse((await efs('volume', 'ls', '--json')).output) as {
      readonly canisterId: string;
      readonly stableBytes: number;
    }[];
    const { stableBytes = 0 } = listed.find(({ canisterId }) => canisterId === second) ?? {};
    await efs('volume', 'set', second, '--limit', String(Math.ceil(stableBytes / 0.9)));
    const nearlyFull = { isGood: false, message: expect.stringMatching(/: Nearly full: .* of /) };
    expect(await findingOf(second)).toMatchObject(nearlyFull);
    await efs('volume', 'set', second, '--limit', String(stableBytes));
    expect((await findingOf(second))?.message).toContain(': Full: ');
    await efs('volume', 'set', second, '--limit', '300GiB');
    expect((await findingOf(second))?.isGood).toBe(true);
  });

  test('reports a canister of an older version than another one', async () => {
    const [, , third = ''] = volumes;
    const newer = withCustomSection(readSections(gunzipSync(wasm)), {
      ...{ name: 'icp:public efs:version', content: Buffer.from('0.3.1') },
    });
    await replica.upgrade(third, gzipSync(writeSections(newer)));
    const rows = await findings();
    expect(rows.filter(({ isGood }) => isGood).map(({ canisterId }) => canisterId)).toEqual([
      third,
    ]);
    expect(rows[0]).toMatchObject({
      ...{ check: 'front', canisterId: front, isGood: false },
      message: `${front}: Runs version 0.3.0, and another canister of the service 0.3.1.`,
      advice: expect.stringContaining('efs service upgrade'),
    });
    await replica.upgrade(third, wasm);
  });

  test('reports a volume that is stopped, has no code or does not exist, and a dead front', async () => {
    const [, second = '', third = ''] = volumes;
    await managed('stop_canister', second);
    const stopped = { isGood: false, message: `The canister ${second} is stopped.` };
    expect(await findingOf(second)).toMatchObject(stopped);
    expect((await efs('doctor')).code).toBe(1);
    await managed('start_canister', second);
    await managed('uninstall_code', third);
    expect((await findingOf(third))?.message).toContain(`${third} has no code`);
    await managed('stop_canister', third);
    await managed('delete_canister', third);
    expect((await findingOf(third))?.message).toContain(`Canister ${third} does not exist`);
    expect((await findingOf(second))?.isGood).toBe(true);
    await managed('stop_canister', front);
    expect(await findingOf(front)).toMatchObject({
      ...{ check: 'front', isGood: false, message: `The canister ${front} is stopped.` },
    });
  });
});

describe('efs doctor with the facts of a canister', () => {
  const canisterId = 'aaaaa-aa';
  const surroundings = { newest: '0.3.0', nowMs: Date.parse('2026-01-04T00:00:00Z') };
  const volume = { canisterId, state: 'open', stableBytes: 1, limitBytes: 100, reservedCycles: 0 };
  const state = {
    status: 'running',
    cycles: 29e12,
    cyclesPerDay: 1e12,
    freezingSeconds: 0,
    environment: {},
    memoryBytes: 0,
    reservedCycles: 0,
    reservedCyclesLimit: 5e12,
  } as const;

  test('reports a last report older than two days, and a first one that is missing', () => {
    const reported = (reportedAt: string) =>
      judge({ canisterId, volume: { ...volume, reportedAt } }, surroundings);
    expect(reported('2026-01-02T00:00:01Z').isGood).toBe(true);
    const old = reported('2026-01-01T23:59:59Z');
    expect([old.isGood, old.message]).toEqual([false, expect.stringContaining('Its last report')]);
    const unknown = judge({ canisterId, volume: { ...volume, state: 'unknown' } }, surroundings);
    expect(unknown.message).toContain('waits for its first report');
  });

  test('reports cycles for less than 30 days, and all problems of a canister together', () => {
    expect(judge({ canisterId, state: { ...state, cycles: 30e12 } }, surroundings).isGood).toBe(
      true,
    );
    const nearlyFull = { ...volume, stableBytes: 80 };
    const { isGood, message } = judge({ canisterId, state, volume: nearlyFull }, surroundings);
    expect([isGood, message]).toEqual([
      false,
      `${canisterId}: Its cycles pay for 29 days of storage. Nearly full: 80 B of 100 B.`,
    ]);
  });

  test('reports a volume for whose growth the network keeps cycles', () => {
    const dear = { ...volume, state: 'full', reservedCycles: 2e12 };
    const { isGood, message, advice } = judge({ canisterId, volume: dear }, surroundings);
    expect(isGood).toBe(false);
    expect(message).toContain('Full: the network keeps 2.00 T cycles for its growth');
    expect(advice).toContain('--subnet <id>');
  });
});
