// The replica as others use it: in-process calls, time, restarts, ports.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpAgent } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RejectError } from '../../packages/replica/src/reject-error.ts';
import type { Replica, ReplicaOptions } from '../../packages/replica/src/replica.ts';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { assembledModule } from '../support/gateway-canister/assembled-module.ts';
import { canister } from '../support/wasm-canisters/text-module.ts';

const folder = join(import.meta.dirname, '../support/gateway-canister');
const owner = Principal.fromUint8Array(Uint8Array.of(1, 2, 3, 4));
const second = 1_000_000_000n;

let keeper: Uint8Array;
const running: Replica[] = [];
const stateDirs: string[] = [];

beforeAll(async () => {
  keeper = await assembledModule(join(folder, 'keeper.wat'));
});

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
  for (const stateDir of stateDirs.splice(0)) rmSync(stateDir, { recursive: true });
});

async function start(options: ReplicaOptions = {}): Promise<Replica> {
  const replica = await startReplica({ server: false, ...options });
  running.push(replica);
  return replica;
}

function newStateDir(): string {
  const stateDir = mkdtempSync(join(tmpdir(), 'replica-test-'));
  stateDirs.push(stateDir);
  return stateDir;
}

async function withKeeper(options: ReplicaOptions = {}) {
  const replica = await start(options);
  const id = await replica.createCanister();
  await replica.install(id, keeper);
  const count = async (method: string) =>
    Buffer.from(await replica.query(id, method)).readUInt32LE(0);
  const setTimer = (time: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(time);
    return replica.call(id, 'wake_at', bytes);
  };
  return { replica, id, count, setTimer };
}

describe('call() and query()', () => {
  it('return the reply, and accept principals as text too', async () => {
    const { replica, id } = await withKeeper();
    await replica.call(id.toText(), 'put', Uint8Array.of(5, 6));
    expect(await replica.query(id, 'get')).toEqual(Uint8Array.of(5, 6));
    const bytes = await replica.query(id, 'whoami', undefined, { sender: owner.toText() });
    expect(bytes).toEqual(owner.toUint8Array());
    expect(await replica.query(id, 'whoami')).toEqual(Uint8Array.of(4));
  });

  it('throw a RejectError with code, reason and error code', async () => {
    const { replica, id } = await withKeeper();
    const error = await replica.query(id, 'refuse').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RejectError);
    expect(error).toMatchObject({ code: 4, errorCode: 'IC0406', message: 'not for you' });
    await expect(replica.query('ryjl3-tyaaa-aaaaa-aaaba-cai', 'get')).rejects.toMatchObject({
      code: 3,
    });
    await expect(replica.call(id, 'nonsense')).rejects.toBeInstanceOf(RejectError);
    await expect(replica.query('nonsense', 'get')).rejects.toThrow();
  });

  it('respect canister_inspect_message', async () => {
    const { replica, id } = await withKeeper();
    await expect(replica.call(id, 'forbidden')).rejects.toMatchObject({ errorCode: 'IC0406' });
  });

  it('reach the management canister, which applies its rules', async () => {
    const { replica, id } = await withKeeper();
    const Target = IDL.Record({ canister_id: IDL.Principal });
    const arg = IDL.encode([Target], [{ canister_id: id }]);
    const reply = await replica.call('aaaaa-aa', 'canister_status', arg);
    const Status = IDL.Record({ settings: IDL.Record({ controllers: IDL.Vec(IDL.Principal) }) });
    const [status] = IDL.decode([Status], reply);
    expect(status).toMatchObject({ settings: { controllers: [Principal.anonymous()] } });
    const bySomebody = replica.call('aaaaa-aa', 'canister_status', arg, { sender: owner });
    await expect(bySomebody).rejects.toBeInstanceOf(RejectError);
    await expect(replica.call('aaaaa-aa', 'raw_rand')).rejects.toBeInstanceOf(RejectError);
  });

  it('are reported with their cost', async () => {
    const seen: string[] = [];
    const { replica, id } = await withKeeper({ onReport: ({ method }) => seen.push(method) });
    await replica.call(id, 'put', new Uint8Array(1_000));
    const report = replica.lastMessage();
    expect(report).toMatchObject({
      kind: 'update',
      method: 'put',
      argBytes: 1_000,
      stablePages: 1,
    });
    expect(report?.instructions).toBeGreaterThan(2_000n);
    expect(replica.reports.at(-1)).toBe(report);
    expect(seen.at(-1)).toBe('put');
  });
});

describe('canisters', () => {
  it('have the requested controllers and id', async () => {
    const replica = await start();
    const id = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');
    const created = await replica.createCanister({ controllers: [owner.toText()], id });
    expect(created.toText()).toBe(id.toText());
    const [canister] = replica.canisters();
    expect(canister?.controllers.map((one) => one.toText())).toEqual([owner.toText()]);
    await expect(replica.createCanister({ id })).rejects.toBeInstanceOf(RejectError);
  });

  it('keep stable memory over an upgrade and lose it by a reinstall', async () => {
    const { replica, id, count } = await withKeeper();
    await replica.call(id, 'put', Uint8Array.of(1, 2, 3));
    await replica.upgrade(id, keeper);
    expect(await count('upgrades')).toBe(1);
    expect(await replica.query(id, 'get')).toEqual(Uint8Array.of(1, 2, 3));
    const memory = replica.stableMemory(id);
    expect([memory.bytes, memory.read(64, 4)]).toEqual([65_536, Uint8Array.of(1, 2, 3, 0)]);
    await replica.install(id, keeper, undefined, { mode: 'reinstall' });
    expect(await replica.query(id, 'get')).toEqual(new Uint8Array(0));
    await expect(replica.install(id, keeper)).rejects.toBeInstanceOf(RejectError);
    await expect(replica.upgrade(id, Uint8Array.of(1))).rejects.toBeInstanceOf(RejectError);
  });

  it('print to the listener `onPrint`', async () => {
    const printed: string[] = [];
    let time = 1_800_000_000n * second;
    const onPrint = (canisterId: string, text: string) => printed.push(`${canisterId} ${text}`);
    const { replica, id, setTimer } = await withKeeper({ now: () => time, onPrint });
    await setTimer(time + 1n);
    time += 1n;
    await replica.tick();
    expect(printed).toEqual([`${id.toText()} tick`]);
  });
});

describe('time', () => {
  it('is the given clock, and timers wait for tick()', async () => {
    let time = 1_800_000_000n * second;
    const { replica, count, setTimer } = await withKeeper({ now: () => time });
    await setTimer(time + second);
    await replica.tick();
    expect(await count('fired')).toBe(0);
    time += second;
    expect(await count('fired')).toBe(0);
    await replica.tick();
    await replica.tick();
    expect(await count('fired')).toBe(1);
  });

  it('is advanced by advanceTime(), and never set back', async () => {
    const { replica, count, setTimer } = await withKeeper();
    await setTimer(BigInt(Date.now()) * 1_000_000n + 3_600n * second);
    replica.advanceTime(3_601n * second);
    await replica.tick();
    expect(await count('fired')).toBe(1);
    expect(() => replica.advanceTime(-1n)).toThrow(RangeError);
  });

  it('continues if the given clock is set back, and timers fire at their time', async () => {
    const notes: string[] = [];
    let time = 1_800_000_000n * second;
    const options = {
      stateDir: newStateDir(),
      now: () => time,
      onNote: (note: string) => notes.push(note),
    };
    const { replica, count, setTimer, id } = await withKeeper(options);
    await setTimer(time + 10n * second);
    time -= 3_600n * second;
    await replica.tick();
    expect(notes).toEqual([
      expect.stringMatching(/^The system clock is 3600 s behind .* 3600 s ahead/),
    ]);
    time += 10n * second;
    await replica.tick();
    expect(await count('fired')).toBe(1);
    await setTimer(time + 3_700n * second);
    await replica.stop();
    const again = await start(options);
    time += 100n * second;
    await again.tick();
    expect(notes).toHaveLength(2);
    expect(await again.query(id, 'fired')).toEqual(Uint8Array.of(2, 0, 0, 0));
  });

  it('waits for a clock that is set back by less than a second', async () => {
    const notes: string[] = [];
    let time = 1_800_000_000n * second;
    const { count, setTimer, replica } = await withKeeper({
      now: () => time,
      onNote: (note) => notes.push(note),
    });
    await setTimer(time + 1n);
    time -= second / 2n;
    await replica.tick();
    expect(await count('fired')).toBe(0);
    time += second;
    await replica.tick();
    expect(await count('fired')).toBe(1);
    expect(notes).toEqual([]);
  });

  it('runs timers by itself without a given clock', async () => {
    const { count, setTimer } = await withKeeper();
    await setTimer(BigInt(Date.now()) * 1_000_000n + second / 20n);
    await expect.poll(() => count('fired')).toBe(1);
  });
});

describe('a state folder', () => {
  it('keeps keys, canisters and stable memory over a restart, which runs no upgrade', async () => {
    const stateDir = newStateDir();
    const first = await withKeeper({ stateDir });
    await first.replica.call(first.id, 'put', Uint8Array.of(7, 8, 9));
    const { rootKey } = first.replica;
    await first.replica.stop();
    const again = await start({ stateDir });
    expect(again.rootKey).toEqual(rootKey);
    expect(again.resumeFailures).toEqual([]);
    expect(again.canisters().map(({ id }) => id.toText())).toEqual([first.id.toText()]);
    expect(await again.query(first.id, 'get')).toEqual(Uint8Array.of(7, 8, 9));
    expect(await again.query(first.id, 'upgrades')).toEqual(Uint8Array.of(0, 0, 0, 0));
    const next = await again.createCanister();
    expect(next.toText()).not.toBe(first.id.toText());
  });

  it('is emptied by clean', async () => {
    const stateDir = newStateDir();
    const { replica } = await withKeeper({ stateDir });
    const { rootKey } = replica;
    await replica.stop();
    const anew = await start({ stateDir, clean: true });
    expect(anew.canisters()).toEqual([]);
    expect(anew.rootKey).not.toEqual(rootKey);
  });

  it('can be used by one replica at a time', async () => {
    const stateDir = newStateDir();
    await start({ stateDir });
    await expect(start({ stateDir })).rejects.toThrow(stateDir);
    await expect(start({ stateDir, clean: true })).rejects.toThrow();
  });

  it('is released if the port is in use', async () => {
    const stateDir = newStateDir();
    const { port } = await start({ server: true });
    await expect(start({ stateDir, server: true, port })).rejects.toThrow(`Port ${port} is in use`);
    expect((await start({ stateDir })).canisters()).toEqual([]);
  });
});

describe('the server', () => {
  it('serves agents with their checks enabled', async () => {
    const { replica, id } = await withKeeper({ server: true });
    await replica.call(id, 'put', Uint8Array.of(3));
    expect(replica.url).toBe(`http://localhost:${replica.port}`);
    const agent = await HttpAgent.create({ host: replica.url, shouldFetchRootKey: true });
    expect(agent.rootKey).toEqual(new Uint8Array(replica.rootKey));
    const arg = new Uint8Array(0);
    const answer = await agent.query(id, { methodName: 'get', arg });
    expect(answer).toMatchObject({ status: 'replied', reply: { arg: Uint8Array.of(3) } });
  });

  it('resolves plain localhost to the oldest canister that serves HTTP, or to the configured one', async () => {
    const { replica } = await withKeeper({ server: true });
    const asked = async () => (await fetch(`http://127.0.0.1:${replica.port}/`)).json();
    expect((await asked()).error_type).toBe('canister_id_not_resolved');
    const module = await assembledModule(join(folder, 'canister.wat'));
    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      const id = await replica.createCanister();
      await replica.install(id, module);
      ids.push(id.toText());
      expect((await asked()).details).toContain(ids[0]);
    }
    replica.serveAtPlainAddress(ids[1] ?? '');
    expect((await asked()).details).toContain(ids[1]);
  });

  it('refuses an invalid allowed origin', async () => {
    for (const origin of ['example.org', 'https://example.org/', '*', 'null', 'http://a:80']) {
      const starting = startReplica({ allowedOrigins: [origin] });
      await expect(starting).rejects.toThrow(`An allowed origin must look like https://`);
    }
  });

  it('is closed after stop(), which may be called twice', async () => {
    const { replica } = await withKeeper({ server: true });
    await Promise.all([replica.stop(), replica.stop()]);
    await expect(fetch(`http://127.0.0.1:${replica.port}/health`)).rejects.toThrow();
  });
});

describe('the clock', () => {
  it('fires a timer that install or post_upgrade has set, by itself and soon', async () => {
    const wasm = canister(
      ['global_timer_set', 'time', 'stable64_grow', 'stable64_write', 'stable64_read'],
      `(func $arm (drop (call $global_timer_set (call $time))))
       (func (export "canister_init") (drop (call $stable64_grow (i64.const 1))) (call $arm))
       (func (export "canister_post_upgrade") (call $arm))
       (func (export "canister_global_timer")
         (call $stable64_read (i64.const 0) (i64.const 0) (i64.const 4))
         (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
         (call $stable64_write (i64.const 0) (i64.const 0) (i64.const 4)))
       (func (export "canister_query fired")
         (call $stable64_read (i64.const 0) (i64.const 0) (i64.const 4))
         (call $reply32 (i32.load (i32.const 0))))`,
    );
    const replica = await start();
    const id = await replica.createCanister();
    const fired = async () => Buffer.from(await replica.query(id, 'fired')).readUInt32LE(0);
    await replica.install(id, wasm);
    await expect.poll(fired).toBe(1);
    await replica.upgrade(id, wasm);
    await expect.poll(fired).toBe(2);
  });
});
