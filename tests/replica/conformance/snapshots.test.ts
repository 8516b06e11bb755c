// Snapshots are taken, listed, loaded, read, uploaded, deleted, and kept over a restart.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Replica } from '../../../packages/replica/src/index.ts';
import { startReplica } from '../../../packages/replica/src/index.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { alice, bob, manage } from './management-client.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'snapshots-'));
/** Number of writes to the disk that still succeed. */
let writesLeft = Number.POSITIVE_INFINITY;
const start = () =>
  startReplica({
    server: false,
    stateDir,
    onDiskWrite: () => {
      writesLeft -= 1;
      if (writesLeft < 0) throw new Error('the disk is full');
    },
  });
let replica: Replica;
beforeAll(async () => {
  replica = await start();
});
afterAll(async () => {
  await replica.stop();
  rmSync(stateDir, { recursive: true });
});

/** Counts in a global, in the heap and in stable memory, which has a gap of 64 MiB. */
const counter = canister(
  ['stable64_grow', 'stable64_write', 'stable64_read', 'certified_data_set'].concat(
    'global_timer_set',
  ),
  `(global $count (mut i64) (i64.const 40))
  (global $half (mut f64) (f64.const 0.5))
  (global $fixed i32 (i32.const 3))
  (func (export "canister_init") (drop (call $stable64_grow (i64.const 1040))))
  (func (export "canister_update add")
    (global.set $count (i64.add (global.get $count) (i64.const 1)))
    (global.set $half (f64.mul (global.get $half) (f64.const 0.5)))
    (i64.store (i32.const 1000) (global.get $count))
    (call $stable64_write (i64.const 67108870) (i64.const 1000) (i64.const 8))
    (call $certified_data_set (i32.const 1000) (i32.const 8))
    (call $reply64 (global.get $count)))
  (func (export "canister_query count") (call $reply64 (global.get $count)))
  (func (export "canister_query heap") (call $reply64 (i64.load (i32.const 1000))))
  (func (export "canister_query stable")
    (call $stable64_read (i64.const 2000) (i64.const 67108870) (i64.const 8))
    (call $reply64 (i64.load (i32.const 2000))))`,
);

async function install(code = counter): Promise<Principal> {
  const method = 'provisional_create_canister_with_cycles';
  const id = (await manage(replica, method, {})).canister_id;
  await replica.install(id, code, new Uint8Array(), { sender: alice });
  return id;
}

const add = (id: Principal) => replica.call(id, 'add');
const numberOf = (bytes: Uint8Array) => Number(Buffer.from(bytes).readBigInt64LE());
const all = async (id: Principal) =>
  Promise.all(
    ['count', 'heap', 'stable'].map(async (name) => numberOf(await replica.query(id, name))),
  );
const take = (id: Principal, more: object = {}) =>
  manage(replica, 'take_canister_snapshot', { canister_id: id, ...more });
const load = (id: Principal, snapshot: Uint8Array, more: object = {}) =>
  manage(replica, 'load_canister_snapshot', { canister_id: id, snapshot_id: snapshot, ...more });
const list = (id: Principal, more: object = {}) =>
  manage(replica, 'list_canister_snapshots', { canister_id: id, ...more });
const foldersOf = (id: Principal) =>
  readdirSync(join(stateDir, 'canisters')).filter((name) => name.startsWith(`${id}-s`));

describe('Interface specification, "IC method take_canister_snapshot", "IC method load_…"', () => {
  test('a snapshot restores code, heap, globals, stable memory and certified data', async () => {
    const id = await install();
    await add(id);
    const snapshot = await take(id);
    const certified = replica.canisters().find((one) => one.id.toText() === id.toText());
    await add(id);
    await add(id);
    expect(await all(id)).toEqual([43, 43, 43]);
    const other = canister([], '(func (export "canister_query none"))');
    await replica.upgrade(id, other, new Uint8Array(), { sender: alice });
    await load(id, snapshot.id);
    expect(await all(id)).toEqual([41, 41, 41]);
    const loaded = replica.canisters().find((one) => one.id.toText() === id.toText());
    expect(loaded?.certifiedData).toEqual(certified?.certifiedData);
    expect(loaded?.moduleHash).toEqual(certified?.moduleHash);
    await add(id);
    expect(await all(id)).toEqual([42, 42, 42]);
  });

  test('canister_status has the size of the snapshots, and counts it as memory', async () => {
    const id = await install();
    const status = async () => manage(replica, 'canister_status', { canister_id: id });
    const before = await status();
    expect(before.memory_metrics.snapshots_size).toBe(0n);
    const first = await take(id);
    const second = await take(id);
    const { memory_size: memory, memory_metrics: metrics } = await status();
    expect(metrics.snapshots_size).toBe(first.total_size + second.total_size);
    expect(memory - before.memory_size).toBe(metrics.snapshots_size);
  });

  test('a snapshot survives a restart, and is deleted with its canister', async () => {
    const id = await install();
    await add(id);
    const { id: snapshot, total_size: size } = await take(id);
    expect(size).toBe(BigInt(1_040 * 65_536 + 65_536 + counter.length));
    await add(id);
    await replica.stop();
    replica = await start();
    expect((await list(id)).map((one: { id: Uint8Array }) => one.id)).toEqual([snapshot]);
    expect(await all(id)).toEqual([42, 42, 42]);
    await load(id, snapshot);
    await replica.stop();
    replica = await start();
    expect(await all(id)).toEqual([41, 41, 41]);
    expect(foldersOf(id)).toEqual([`${id}-s0`]);
    await manage(replica, 'stop_canister', { canister_id: id });
    await manage(replica, 'delete_canister', { canister_id: id });
    expect(foldersOf(id)).toEqual([]);
  });

  test('a snapshot can be loaded onto another canister of the same controllers', async () => {
    const [one, other] = [await install(), await install()];
    await add(one);
    const { id: snapshot } = await take(one);
    await load(other, snapshot);
    expect(await all(other)).toEqual([41, 41, 41]);
    await manage(replica, 'update_settings', {
      canister_id: other,
      settings: { controllers: [alice, bob] },
    });
    await expect(load(other, snapshot, { sender: bob })).rejects.toThrow('Only controllers');
  });

  test('a canister has at most ten snapshots, and a new one may replace another', async () => {
    const id = await install();
    const taken: { id: Uint8Array }[] = [];
    for (let round = 0; round < 10; round += 1) taken.push(await take(id));
    await expect(take(id)).rejects.toThrow('maximum number of snapshots allowed: 10');
    const [first, second] = taken;
    const next = await take(id, { replace_snapshot: first?.id });
    expect(await list(id)).toHaveLength(10);
    await expect(load(id, first?.id ?? new Uint8Array())).rejects.toThrow('Could not find');
    await manage(replica, 'delete_canister_snapshot', { canister_id: id, snapshot_id: second?.id });
    await expect(take(id, { replace_snapshot: second?.id })).rejects.toThrow('Could not find');
    expect(await list(id)).toHaveLength(9);
    await load(id, next.id);
  });

  test('on a full disk, taking and loading a snapshot fail without a change', async () => {
    const id = await install();
    await add(id);
    for (const writes of [0, 1]) {
      writesLeft = writes;
      await expect(take(id)).rejects.toThrow('the disk is full');
      writesLeft = Number.POSITIVE_INFINITY;
      expect(await list(id)).toEqual([]);
      await add(id);
    }
    const { id: snapshot } = await take(id);
    await add(id);
    writesLeft = 0;
    await expect(load(id, snapshot)).rejects.toThrow('the disk is full');
    writesLeft = Number.POSITIVE_INFINITY;
    expect(await all(id)).toEqual([44, 44, 44]);
    await load(id, snapshot);
    expect(await all(id)).toEqual([43, 43, 43]);
  });

  test('taking a snapshot can uninstall the code in the same call, and requires code', async () => {
    const id = await install();
    const snapshot = await take(id, { uninstall_code: true });
    await expect(take(id)).rejects.toThrow('for empty canister');
    await load(id, snapshot.id);
    expect(numberOf(await replica.query(id, 'count'))).toBe(40);
  });
});

describe('Interface specification, "IC method read_canister_snapshot_data", "IC method upload_…"', () => {
  const read = async (id: Principal, snapshot: Uint8Array, kind: object) =>
    (
      await manage(replica, 'read_canister_snapshot_data', {
        canister_id: id,
        snapshot_id: snapshot,
        kind,
      })
    ).chunk;

  test('a downloaded snapshot can be uploaded to another canister and loaded there', async () => {
    const [one, other] = [await install(), await install()];
    await add(one);
    const chunk = new Uint8Array(5).fill(9);
    const { hash } = await manage(replica, 'upload_chunk', { canister_id: one, chunk });
    const { id: snapshot } = await take(one);
    const metadata = await manage(replica, 'read_canister_snapshot_metadata', {
      canister_id: one,
      snapshot_id: snapshot,
    });
    expect(metadata).toMatchObject({
      source: { taken_from_canister: null },
      globals: [{ i64: 41n }, { f64: 0.25 }],
      wasm_module_size: BigInt(counter.length),
      wasm_memory_size: 65_536n,
      stable_memory_size: 1_040n * 65_536n,
      wasm_chunk_store: [{ hash }],
      global_timer: [{ inactive: null }],
      on_low_wasm_memory_hook_status: [{ condition_not_satisfied: null }],
    });
    const { snapshot_id: copy } = await manage(replica, 'upload_canister_snapshot_metadata', {
      ...metadata,
      canister_id: other,
      global_timer: { active: 2n ** 63n },
      on_low_wasm_memory_hook_status: { condition_not_satisfied: null },
    });
    const span = { offset: 67_108_864n, size: 65_536n };
    const pieces = [
      ['wasm_module', { offset: 0n, size: BigInt(counter.length) }],
      ['wasm_memory', { offset: 0n, size: 65_536n }],
      ['stable_memory', span],
    ] as const;
    const upload = (kind: object, bytes: Uint8Array) =>
      manage(replica, 'upload_canister_snapshot_data', {
        canister_id: other,
        snapshot_id: copy,
        kind,
        chunk: bytes,
      });
    await expect(load(other, copy)).rejects.toThrow('cannot be loaded');
    for (const [kind, part] of pieces) {
      const bytes = await read(one, snapshot, { [kind]: part });
      await upload({ [kind]: { offset: part.offset } }, bytes);
    }
    await upload({ wasm_chunk: null }, await read(one, snapshot, { wasm_chunk: { hash } }));
    await load(other, copy);
    expect(await all(other)).toEqual([41, 41, 41]);
    const chunks = await manage(replica, 'stored_chunks', { canister_id: other });
    expect(chunks).toEqual([{ hash }]);
  });

  test.each([
    ['beyond the end', { wasm_memory: { offset: 65_530n, size: 7n } }, /are beyond its 65536/],
    ['too much', { stable_memory: { offset: 0n, size: 2_000_001n } }, /at most 2000000 bytes/],
    ['no chunk', { wasm_chunk: { hash: new Uint8Array(32) } }, /no chunk with that hash/],
  ])('read_canister_snapshot_data is refused: %s', async (_what, kind, message) => {
    const id = await install();
    const { id: snapshot } = await take(id);
    await expect(read(id, snapshot, kind)).rejects.toThrow(message);
  });

  test('a snapshot that was taken is read-only, and sizes are limited', async () => {
    const id = await install();
    const { id: snapshot } = await take(id);
    const upload = manage(replica, 'upload_canister_snapshot_data', {
      canister_id: id,
      snapshot_id: snapshot,
      kind: { wasm_memory: { offset: 0n } },
      chunk: Uint8Array.of(1),
    });
    await expect(upload).rejects.toThrow('only one that was created by uploading metadata');
    const none = { wasm_module_size: 1n, globals: [], wasm_memory_size: 0n };
    const sized = (stable: bigint) =>
      manage(replica, 'upload_canister_snapshot_metadata', {
        ...none,
        canister_id: id,
        stable_memory_size: stable,
        certified_data: new Uint8Array(),
      });
    await expect(sized(1n)).rejects.toThrow('multiples of 65536');
    await expect(sized(2n ** 40n)).rejects.toThrow('exceeds');
  });

  test('a snapshot is open to the principals that snapshot_visibility names', async () => {
    const id = await install();
    const { id: snapshot } = await take(id);
    await expect(list(id, { sender: bob })).rejects.toThrow('Only controllers');
    await manage(replica, 'update_settings', {
      canister_id: id,
      settings: { snapshot_visibility: { allowed_viewers: [bob] } },
    });
    expect(await list(id, { sender: bob })).toHaveLength(1);
    const removal = { canister_id: id, snapshot_id: snapshot, sender: bob };
    await expect(manage(replica, 'delete_canister_snapshot', removal)).rejects.toThrow(
      'Only controllers',
    );
  });
});
