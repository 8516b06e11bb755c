// After a stop and after a kill, a canister's heap, globals, timers and certified data are as after
// the last answered message, and a reject answers each open call.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import type { Replica, ReplicaOptions } from '../../packages/replica/src/replica.ts';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { canister } from '../support/wasm-canisters/text-module.ts';

const root = mkdtempSync(join(tmpdir(), 'replica-restart-'));
const running: Replica[] = [];
let folders = 0;

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
  rmSync(root, { recursive: true, force: true });
});

async function start(options: ReplicaOptions): Promise<Replica> {
  const replica = await startReplica({ server: false, ...options });
  running.push(replica);
  return replica;
}

function newFolder(): string {
  folders += 1;
  return join(root, `state-${folders}`);
}

/** Copies the folder as a kill at this moment would leave it. */
function folderAfterKill(folder: string): string {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true });
  rmSync(join(copy, 'lock'));
  return copy;
}

/** Restarts after a stop, and after a kill. */
async function restarts(replica: Replica, folder: string): Promise<[string, Replica][]> {
  const killed = folderAfterKill(folder);
  await replica.stop();
  return [
    ['a kill', await start({ stateDir: killed })],
    ['a stop', await start({ stateDir: folder })],
  ];
}

async function install(wasm: Uint8Array, options: ReplicaOptions = {}) {
  const stateDir = newFolder();
  const replica = await start({ stateDir, ...options });
  const id = (await replica.createCanister()).toText();
  await replica.install(id, wasm);
  return { replica, id, stateDir };
}

async function numberOf(replica: Replica, id: string, method: string): Promise<number> {
  return Buffer.from(await replica.query(id, method)).readInt32LE(0);
}

const counter = canister(
  ['stable64_grow', 'stable64_write', 'certified_data_set'],
  `(data (i32.const 600) "seed") (memory 2)
  (global $calls (mut i64) (i64.const 40))
  (global $half (mut f64) (f64.const 0.5))
  (global $lanes (mut v128) (v128.const i64x2 1 -2))
  (func $inc (i32.store (i32.const 1000) (i32.add (i32.load (i32.const 1000)) (i32.const 1))))
  (func (export "canister_init")
    (drop (call $stable64_grow (i64.const 1))) (i32.store (i32.const 600) (i32.const 0)))
  (func (export "canister_post_upgrade") (i32.store (i32.const 1000) (i32.const -1)))
  (func (export "canister_pre_upgrade") (i32.store (i32.const 1000) (i32.const -2))
    (call $stable64_write (i64.const 0) (i64.const 1000) (i64.const 4)))
  (func (export "canister_update inc") (call $inc)
    (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
    (global.set $half (f64.mul (global.get $half) (f64.const -0.5)))
    (global.set $lanes (i64x2.add (global.get $lanes) (global.get $lanes)))
    (call $certified_data_set (i32.const 1000) (i32.const 4))
    (call $msg_reply))
  (func (export "canister_update trap") (call $inc) unreachable)
  (func (export "canister_update grow")
    (drop (memory.grow (i32.const 3))) (i32.store (i32.const 300000) (i32.const 77))
    (call $msg_reply))
  (func (export "canister_query asked") (call $inc) (call $reply32 (i32.load (i32.const 1000))))
  (func (export "canister_query count") (call $reply32 (i32.load (i32.const 1000))))
  (func (export "canister_query calls") (call $reply64 (global.get $calls)))
  (func (export "canister_query half")
    (call $reply32 (i32.trunc_f64_s (f64.mul (global.get $half) (f64.const 64)))))
  (func (export "canister_query lanes") (call $reply32 (i32.sub
    (i32x4.extract_lane 0 (global.get $lanes)) (i32x4.extract_lane 2 (global.get $lanes)))))
  (func (export "canister_query seed") (call $reply32 (i32.load (i32.const 600))))
  (func (export "canister_query size") (call $reply32 (memory.size)))
  (func (export "canister_query far") (call $reply32 (i32.load (i32.const 300000))))`,
);

describe('after a restart', () => {
  it('heap, globals and certified data are as after the last answered message', async () => {
    const { replica, id, stateDir } = await install(counter);
    for (let count = 0; count < 3; count += 1) await replica.call(id, 'inc');
    await expect(replica.call(id, 'trap')).rejects.toThrow('unreachable');
    await replica.query(id, 'asked');
    await replica.call(id, 'asked');
    const before = replica.canisters()[0];
    for (const [how, again] of await restarts(replica, stateDir)) {
      expect(again.resumeFailures, how).toEqual([]);
      expect(await numberOf(again, id, 'count'), how).toBe(3);
      expect(await numberOf(again, id, 'calls'), how).toBe(43);
      expect(await numberOf(again, id, 'half'), how).toBe(-4);
      expect(await numberOf(again, id, 'lanes'), how).toBe(8 + 16);
      // A data segment that was overwritten with zeros stays zero.
      expect(await numberOf(again, id, 'seed'), how).toBe(0);
      expect(again.canisters()[0]?.certifiedData, how).toEqual(Uint8Array.of(3, 0, 0, 0));
      expect(again.canisters()[0]?.version, how).toBe(before?.version);
      await again.call(id, 'inc');
      expect(await numberOf(again, id, 'count'), how).toBe(4);
    }
  });

  it('a heap that has grown keeps its size, and a trap undoes only its own message', async () => {
    const { replica, id, stateDir } = await install(counter);
    await replica.call(id, 'grow');
    for (const [how, again] of await restarts(replica, stateDir)) {
      expect(await numberOf(again, id, 'size'), how).toBe(5);
      expect(await numberOf(again, id, 'far'), how).toBe(77);
      await expect(again.call(id, 'trap')).rejects.toThrow('unreachable');
      expect(await numberOf(again, id, 'seed'), how).toBe(0);
    }
  });

  it('pre_upgrade sees the heap, and new code begins with a new heap', async () => {
    const { replica, id, stateDir } = await install(counter);
    await replica.call(id, 'inc');
    const [[, again]] = (await restarts(replica, stateDir)) as [[string, Replica]];
    await again.upgrade(id, counter);
    expect(Buffer.from(again.stableMemory(id).read(0, 4)).readInt32LE(0)).toBe(-2);
    expect(await numberOf(again, id, 'count')).toBe(-1);
  });

  it('a reinstalled canister does not get its former heap back', async () => {
    const { replica, id, stateDir } = await install(counter);
    await replica.call(id, 'inc');
    await replica.install(id, counter, undefined, { mode: 'reinstall' });
    for (const [how, again] of await restarts(replica, stateDir)) {
      expect(await numberOf(again, id, 'count'), how).toBe(0);
    }
  });

  it('a timer that came due while the replica was down fires, and one that has fired does not repeat', async () => {
    const wasm = canister(
      ['global_timer_set'],
      `(func (export "canister_init") (drop (call $global_timer_set (i64.const 50))))
      (func (export "canister_global_timer")
        (i32.store (i32.const 1000) (i32.add (i32.load (i32.const 1000)) (i32.const 1))))
      (func (export "canister_query fired") (call $reply32 (i32.load (i32.const 1000))))`,
    );
    let time = 10n;
    const { replica, id, stateDir } = await install(wasm, { now: () => time });
    const killed = folderAfterKill(stateDir);
    time = 60n;
    await replica.tick();
    await replica.stop();
    for (const folder of [killed, stateDir]) {
      const again = await start({ stateDir: folder, now: () => time });
      await again.tick();
      expect(await numberOf(again, id, 'fired')).toBe(1);
    }
  });

  it('a call in progress is rejected, and its cleanup runs if the reject callback traps', async () => {
    const waiting = canister(
      ['call_new', 'call_perform', 'call_on_cleanup', 'msg_reject_code'],
      `(table 3 funcref) (elem (i32.const 0) $done $lost $clean)
      (data (i32.const 100) "raw_rand")
      (func $done (param i32) (i32.store (i32.const 1000) (i32.const 1)))
      (func $lost (param i32)
        (i32.store (i32.const 1000) (call $msg_reject_code))
        (if (local.get 0) (then unreachable)))
      (func $clean (param i32) (i32.store (i32.const 1004) (local.get 0)))
      (func $call (param i32)
        (call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 8)
          (i32.const 0) (i32.const 0) (i32.const 1) (local.get 0))
        (call $call_on_cleanup (i32.const 2) (i32.const 9))
        (drop (call $call_perform)) (call $msg_reply))
      (func (export "canister_update wait") (call $call (i32.const 0)))
      (func (export "canister_update fail") (call $call (i32.const 1)))
      (func (export "canister_query code") (call $reply32 (i32.load (i32.const 1000))))
      (func (export "canister_query cleaned") (call $reply32 (i32.load (i32.const 1004))))`,
    );
    for (const [method, code, cleaned] of [
      ['wait', 6, 0],
      ['fail', 0, 9],
    ] as const) {
      const { replica, id, stateDir } = await install(waiting);
      await replica.call(id, method);
      const [[, again]] = (await restarts(replica, stateDir)) as [[string, Replica]];
      await again.tick();
      expect(await numberOf(again, id, 'code'), method).toBe(code);
      expect(await numberOf(again, id, 'cleaned'), method).toBe(cleaned);
    }
  });
});

describe('a call of a canister to itself, interrupted by a kill of the replica', () => {
  const caller = canister(
    ['call_new', 'call_perform', 'msg_reject_code', 'canister_self_copy'],
    `(table 2 funcref) (elem (i32.const 0) $done $lost)
    (data (i32.const 100) "step")
    (func $done (param i32) (i32.store (i32.const 1000) (i32.const 1)))
    (func $lost (param i32) (i32.store (i32.const 1000) (call $msg_reject_code)))
    (func (export "canister_update ask")
      (call $canister_self_copy (i32.const 200) (i32.const 0) (i32.const 10))
      (call $call_new (i32.const 200) (i32.const 10) (i32.const 100) (i32.const 4)
        (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
      (drop (call $call_perform)) (call $msg_reply))
    (func (export "canister_update step") (i32.store (i32.const 1004) (i32.const 7))
      (call $msg_reply))
    (func (export "canister_query code") (call $reply32 (i32.load (i32.const 1000))))
    (func (export "canister_query stepped") (call $reply32 (i32.load (i32.const 1004))))`,
  );
  it.each([
    ['is rejected as not executed (code 2) if its execution is not stored yet', 'step', 2, 0],
    ['is rejected with an unknown outcome (code 6) if its execution is stored', 'reply', 6, 7],
  ])('%s', async (_, at, code, stepped) => {
    const killed: string[] = [];
    const onReport = ({ method, kind }: MessageReport) => {
      if (method === 'step' && (kind === 'reply') === (at === 'reply')) {
        killed.push(folderAfterKill(stateDir));
      }
    };
    const { replica, id, stateDir } = await install(caller, { onReport });
    await replica.call(id, 'ask');
    await replica.tick();
    expect(await numberOf(replica, id, 'code')).toBe(1);
    expect(killed).toHaveLength(1);
    const again = await start({ stateDir: killed[0] as string });
    await again.tick();
    expect(await numberOf(again, id, 'code')).toBe(code);
    expect(await numberOf(again, id, 'stepped')).toBe(stepped);
  });
});

describe('state that cannot be restored', () => {
  it('is reported at start and in a reject', async () => {
    const { replica, id, stateDir } = await install(counter);
    await replica.stop();
    const [module] = replica.canisters();
    const hash = Buffer.from(module?.moduleHash ?? []).toString('hex');
    const path = join(stateDir, 'modules', `${hash}.wasm`);
    const bytes = readFileSync(path);
    rmSync(path);
    const notes: string[] = [];
    const again = await start({ stateDir, onNote: (sentence) => notes.push(sentence) });
    expect(notes.join()).toMatch(/could not be resumed: its module .* is missing/);
    await expect(again.query(id, 'count')).rejects.toThrow('could not be resumed');
    await again.stop();
    writeFileSync(path, bytes);
    expect(await numberOf(await start({ stateDir }), id, 'count')).toBe(0);
  });
});
