// Rules of a bucket on the canister: many files in bounded steps, through upgrades and lost
// messages, the cost of rules in which nothing is due, and no work while cycles are low.

import { IDL } from '@dfinity/candid';
import { expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { ruledFilesPerMessage } from '../../src/limits.ts';
import type { KeyNetwork } from '../support/key-network.ts';
import { networkWithStoredKey } from '../support/lost-timers.ts';

const daySeconds = 86_400;
const Entry = IDL.Record({ path: IDL.Text, contentType: IDL.Text, bytes: IDL.Vec(IDL.Nat8) });
const Batch = IDL.Record({ bucketId: IDL.Text, files: IDL.Vec(Entry) });
const Status = IDL.Variant({ ok: IDL.Record({ files: IDL.Nat }), err: IDL.Text });
const Rule = IDL.Record({
  id: IDL.Text,
  isEnabled: IDL.Bool,
  prefix: IDL.Opt(IDL.Text),
  deleteAfterDays: IDL.Opt(IDL.Nat),
});

async function store(network: KeyNetwork, folder: string, count: number): Promise<void> {
  const perCall = 60;
  for (let start = 0; start < count; start += perCall) {
    const files = Array.from({ length: Math.min(perCall, count - start) }, (_, index) => {
      return { path: `${folder}/${start + index}`, contentType: 'text/plain', bytes: [1] };
    });
    await network.send('uploadFiles', [Batch], [{ bucketId: 'photos', files }]);
  }
}

async function setRules(network: KeyNetwork, days: bigint, ...prefixes: string[]): Promise<void> {
  const rules = prefixes.map((prefix) => {
    return { id: `rule ${prefix}`, isEnabled: true, prefix: [prefix], deleteAfterDays: [days] };
  });
  await network.send('setRules', [IDL.Text, IDL.Vec(Rule)], ['photos', rules]);
}

async function countFiles(network: KeyNetwork): Promise<number> {
  const calls = createInProcessCalls(network.engine);
  const reply = await calls.query(network.canisterId(), 'getStatus');
  const [{ ok }] = IDL.decode([Status], reply) as unknown as [{ ok: { files: bigint } }];
  return Number(ok.files);
}

/** Lets time pass and returns the reports of the steps that deleted files. */
async function workFor(network: KeyNetwork, seconds: number): Promise<MessageReport[]> {
  network.reports.length = 0;
  for (let turn = 0; turn < seconds; turn++) await network.wait(1);
  return network.reports.filter(({ instructions }) => instructions > 300_000_000n);
}

test('setRules deletes 10,000 due files in bounded steps, with upgrades in between', async () => {
  const network = await networkWithStoredKey();
  await store(network, 'old', 10_000);
  await network.wait(2 * daySeconds);
  await store(network, 'new', 10);
  await setRules(network, 2n, 'old/', 'new/');
  const first = await workFor(network, 2);
  expect(first.length).toBeGreaterThan(0);
  const left = await countFiles(network);
  expect(left, 'a message deletes only some').toBeGreaterThan(9_000);
  await network.upgrade();
  const steps = await workFor(network, 60);
  expect(await countFiles(network)).toBe(10);
  expect(first.length + steps.length).toBeGreaterThanOrEqual(10_000 / ruledFilesPerMessage);
  for (const { instructions, error } of [...first, ...steps]) {
    expect(error).toBeUndefined();
    expect(instructions).toBeLessThan(1_500_000_000n);
  }
});

test('a check of rules without due files costs the same with 2,000 files as with 20', async () => {
  const costs: bigint[] = [];
  for (const count of [20, 2_000]) {
    const network = await networkWithStoredKey();
    await store(network, 'a', count);
    await setRules(network, 100n, '', 'a/', 'b/', 'a/1');
    network.reports.length = 0;
    await network.wait(1);
    await network.wait(1);
    const instructions = network.reports.map((report) => report.instructions);
    costs.push(instructions.reduce((most, one) => (one > most ? one : most)));
  }
  const [few = 0n, many = 0n] = costs;
  expect(few).toBeGreaterThan(0n);
  expect(many).toBeLessThan((few * 3n) / 2n);
});

/** Sets the freezing threshold so that `cycles` of the balance are above the reserve. */
function leaveLiquid(network: KeyNetwork, cycles: bigint): void {
  const { engine } = network;
  const id = network.canisterId();
  const { cycles: balance = 0n, idleCyclesPerDay = 1n } = engine.balance(id) ?? {};
  const freezingThreshold = ((balance - cycles) * 86_400n) / idleCyclesPerDay;
  engine.updateSettings(id, { freezingThreshold });
}

test('rules rest while cycles are low, and go on afterwards', async () => {
  const network = await networkWithStoredKey();
  await store(network, 'a', 3);
  await setRules(network, 2n, 'a/');
  const { freezingThreshold = 0n } = network.engine.settings(network.canisterId()) ?? {};
  leaveLiquid(network, 95_000_000_000n);
  for (let turn = 0; turn < 3 * 144; turn++) await network.wait(600);
  expect(await countFiles(network)).toBe(3);
  network.engine.updateSettings(network.canisterId(), { freezingThreshold });
  for (let turn = 0; turn < 6; turn++) await network.wait(600);
  expect(await countFiles(network)).toBe(0);
});

test('rules without due files let upkeep rest until the first file is due', async () => {
  const network = await networkWithStoredKey();
  await store(network, 'a', 1);
  await setRules(network, 3n, 'a/');
  for (let turn = 0; turn < 144; turn++) await network.wait(600);
  network.reports.length = 0;
  for (let turn = 0; turn < 144; turn++) await network.wait(600);
  const turns = network.reports.filter(({ kind }) => kind === 'update').length;
  expect(turns).toBeLessThanOrEqual(2);
  for (let turn = 0; turn < 144 + 3; turn++) await network.wait(600);
  expect(await countFiles(network)).toBe(0);
});
