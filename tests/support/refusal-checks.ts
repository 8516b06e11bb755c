// Sends the hostile list to a demo service with the built Wasm, and checks all refusals.
// `npm run test:thorough` sends a part of the list, `npm run soak` all of it.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { expect } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, principalOf } from '../../scripts/local-service.ts';
import { copyPreparedState } from './prepared-state.ts';
import {
  interfaceMethods,
  measureRefusals,
  mostExpensive,
  type Refusal,
  type RefusalTarget,
} from './refusal-costs.ts';

/** Maximum instructions of a refusal. */
export const instructionsMax = 20_000_000;

export const beginTypes = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
export const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });

export interface RefusedService {
  readonly replica: Replica;
  readonly canisterId: string;
  readonly apiKey: string;
  readonly refusals: readonly Refusal[];
  close(): Promise<void>;
}

export async function openRefusedService(
  isTried?: RefusalTarget['isTried'],
): Promise<RefusedService> {
  const folder = await mkdtemp(join(tmpdir(), 'refusal-costs-'));
  const stateDir = join(folder, 'state');
  await copyPreparedState(stateDir);
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  // With its own clock, no timer runs between a message and its report.
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const reports: MessageReport[] = [];
  const onReport = (report: MessageReport) => void reports.push(report);
  const options = { server: false, sync: false, now: () => nowNs, onReport };
  const replica = await startReplica({ ...options, stateDir });
  const { canisterId, apiKey, identityPem } = await deployLocally({ replica, stateDir, wasm });
  const owner = principalOf(identityPem);
  await spendBudgets(replica, canisterId, owner);
  const argument = IDL.encode(beginTypes, ['demo', '/u', 'text/plain', 100n, []]);
  const reply = await replica.call(canisterId, 'beginFileUpload', argument, { sender: owner });
  const [begun] = IDL.decode([TextResult], reply) as unknown as [{ ok?: string }];
  const honest = { apiKey, uploadId: begun.ok ?? expect.fail('no upload was begun') };
  const target = { replica, canisterId, reports, honest, owner };
  const refusals = await measureRefusals({ ...target, ...(isTried && { isTried }) });
  const close = async () => {
    await replica.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { replica, canisterId, apiKey, refusals, close };
}

const Budget = IDL.Record({ burst: IDL.Nat, perMinute: IDL.Nat });
const budgetNames = ['anonymousUpdates', 'linkUpdates', 'refusals'] as const;
const AccessChange = IDL.Record(
  Object.fromEntries(budgetNames.map((name) => [name, IDL.Opt(Budget)])),
);

/** Sets all budgets to 0, so that every update by a caller without rights exceeds one. */
async function spendBudgets(replica: Replica, canisterId: string, owner: Principal): Promise<void> {
  const none = budgetNames.map((name) => [name, [{ burst: 0n, perMinute: 0n }]]);
  const argument = IDL.encode([AccessChange], [Object.fromEntries(none)]);
  await replica.call(canisterId, 'updateAccess', argument, { sender: owner });
}

/** With empty budgets, no caller without a right may cause an update by ingress. */
export function expectNoUpdates(refusals: readonly Refusal[]): void {
  const strangers = /^(?:Unauthorized|InvalidApiKey|AccessDenied|NoSuch\w+|InvalidBucketId):/;
  const paid = refusals.filter(({ way, isUpdate, hasKey, err }) => {
    const isStrangers = err !== undefined && (!hasKey || strangers.test(err));
    return way === 'ingress' && isUpdate && isStrangers;
  });
  expect(paid.map(({ method, name, err }) => `${method}: ${name}: ${err}`)).toEqual([]);
}

export function expectEveryWay(refusals: readonly Refusal[]): void {
  for (const { name, isQuery } of interfaceMethods()) {
    const ways = new Set(refusals.filter(({ method }) => method === name).map(({ way }) => way));
    expect([...ways].sort(), name).toEqual(['another canister', isQuery ? 'query' : 'ingress']);
  }
}

export function expectCheap(refusals: readonly Refusal[]): void {
  for (const way of ['ingress', 'another canister', 'query'] as const) {
    const { method, name, instructions } = mostExpensive(refusals, way) ?? expect.fail(way);
    console.log(`${way}: ${(instructions / 1e6).toFixed(1)} M for ${method}, ${name}`);
  }
  const dear = refusals.filter(({ instructions }) => instructions > instructionsMax);
  expect(dear.map(({ way, method, name }) => `${way} ${method}: ${name}`)).toEqual([]);
}

/**
 * The method or the inspection must refuse with a sentence: no trap, and no reject without a
 * reason.
 */
export function expectWords(refusals: readonly Refusal[]): void {
  const traps = refusals.filter(({ trap }) => trap !== undefined);
  expect(traps.map(({ method, name, trap }) => `${method}: ${name}: ${trap}`)).toEqual([]);
  const inWords =
    /message: '(?:[A-Z]\w+: |\w+ does not accept this message)|\w+(?:: (?:the )?argument| takes \()/;
  const wordless = refusals.filter(({ reject }) => reject !== undefined && !inWords.test(reject));
  expect(wordless.map(({ method, name, reject }) => `${method}: ${name}: ${reject}`)).toEqual([]);
}

export function expectNothingWritten(refusals: readonly Refusal[]): void {
  const written = refusals.filter(({ stablePages }) => stablePages > 0);
  expect(written.map(({ method, name }) => `${method}: ${name}`)).toEqual([]);
}
