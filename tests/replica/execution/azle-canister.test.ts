// A canister as Azle builds it: its cost, timers, calls and maps. The meter must match the
// network's charges for the same code, which were measured.

import { randomBytes } from 'node:crypto';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildAzle } from '../../support/wasm-canisters/azle-project.ts';
import type { TestReplica } from '../../support/wasm-canisters/test-replica.ts';
import {
  anybody,
  installOn,
  plenty,
  startTestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';

const source = `
import { call, IDL, query, setTimer, StableBTreeMap, trap, update } from 'azle';
let ticks = 0;
const fetchRandom = () => call('aaaaa-aa', 'raw_rand', { returnIdlType: IDL.Vec(IDL.Nat8) });
export default class {
  map = new StableBTreeMap<string, string>(0);
  @query([], IDL.Nat32)
  empty() { return 1; }
  @query([], IDL.Nat32)
  ticks() { return ticks; }
  @update([IDL.Text, IDL.Text])
  put(key: string, value: string) { this.map.insert(key, value); }
  @query([IDL.Text], IDL.Opt(IDL.Text))
  get(key: string) { const value = this.map.get(key); return value ? [value] : []; }
  @update([IDL.Text])
  putAndTrap(key: string) { ticks += 1000; this.map.insert(key, key); trap('on purpose'); }
  @update([], IDL.Vec(IDL.Nat8))
  async random() { ticks += 1; return await fetchRandom(); }
  @update([])
  async trapLater() { ticks += 5; await fetchRandom(); ticks += 1000; trap('after the await'); }
  @update([])
  later() { setTimer(1, async () => { await fetchRandom(); ticks += 10; }); }
  @query([])
  spin() { for (;;) { ticks += 1; } }
}`;

const none = new Uint8Array(IDL.encode([], []));
let wasm: Uint8Array;
let replica: TestReplica;
let id: Principal;

beforeAll(async () => {
  wasm = await buildAzle(source);
});

async function start(): Promise<void> {
  replica = startTestReplica({
    answer: (call) => {
      const bytes = new Uint8Array(randomBytes(32));
      const arg = new Uint8Array(IDL.encode([IDL.Vec(IDL.Nat8)], [bytes]));
      return { outcome: { status: 'replied', arg }, refundedCycles: call.cycles };
    },
  });
  const created = replica.engine.create({ controllers: [anybody], cycles: plenty });
  if ('status' in created) throw new Error(created.message);
  id = created;
  expect(await installOn(replica.engine, { canisterId: id, module: wasm, arg: none })).toBe(
    undefined,
  );
}

async function ask<T>(method: string, type: IDL.Type, ...texts: string[]): Promise<T> {
  const arg = new Uint8Array(
    IDL.encode(
      texts.map(() => IDL.Text),
      texts,
    ),
  );
  const outcome = await replica.query(id, method, arg);
  if (outcome.status === 'rejected') throw new Error(outcome.message);
  return IDL.decode([type], new Uint8Array(outcome.arg))[0] as T;
}

function tell(method: string, ...texts: string[]) {
  const arg = new Uint8Array(
    IDL.encode(
      texts.map(() => IDL.Text),
      texts,
    ),
  );
  return replica.update(id, method, arg);
}

const ticks = () => ask<number>('ticks', IDL.Nat32);
const get = (key: string) => ask<string[]>('get', IDL.Opt(IDL.Text), key);

describe('an Azle canister', () => {
  it('costs about 1,000 M to install and about 1.5 M for an empty query', async () => {
    await start();
    const installed = Number(replica.engine.lastReport()?.instructions);
    expect(installed / 1e6).toBeGreaterThan(900);
    expect(installed / 1e6).toBeLessThan(1_150);
    expect(await ask('empty', IDL.Nat32)).toBe(1);
    const queried = Number(replica.engine.lastReport()?.instructions);
    expect(queried / 1e6).toBeGreaterThan(1.2);
    expect(queried / 1e6).toBeLessThan(1.8);
  });

  it('keeps its maps, but not its variables, over upgrades and restarts', async () => {
    await start();
    await tell('put', 'a', 'b');
    await tell('random');
    expect(await ticks()).toBe(1);
    const mode = 'upgrade';
    expect(await installOn(replica.engine, { canisterId: id, module: wasm, mode, arg: none })).toBe(
      undefined,
    );
    expect(await get('a')).toEqual(['b']);
    expect(await ticks()).toBe(0);
    replica = startTestReplica({ store: replica.store });
    expect(await replica.engine.resume()).toEqual([]);
    expect(await get('a')).toEqual(['b']);
  });

  it('rolls back variables and maps of a message that traps', async () => {
    await start();
    expect(textOf(await tell('putAndTrap', 'x'))).toMatch(/^IC0503: .*'on purpose'\.\n/);
    expect(await ticks()).toBe(0);
    expect(await get('x')).toEqual([]);
  });

  it('keeps the changes before an await if it traps after it', async () => {
    await start();
    expect(textOf(await tell('trapLater'))).toContain('after the await');
    expect(await ticks()).toBe(5);
  });

  it('gets random bytes in an update and in a timer', async () => {
    await start();
    const first = textOf(await tell('random'));
    expect(first).not.toBe(textOf(await tell('random')));
    const before = await ticks();
    await tell('later');
    replica.time.now += 2_000_000_000n;
    await replica.engine.tick();
    expect(await ticks()).toBe(before + 10);
  });

  it('is aborted in an endless loop of JavaScript', async () => {
    await start();
    await expect(ask('spin', IDL.Null)).rejects.toThrow('exceeded the limit of 5000000000');
    expect(await ask('empty', IDL.Nat32)).toBe(1);
  });
});
