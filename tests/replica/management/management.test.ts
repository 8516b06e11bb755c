// Calls to the management canister: arguments in Candid, answers, cycles.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { sha256 } from '@noble/hashes/sha2';
import { describe, expect, test } from 'vitest';
import {
  about,
  blob,
  canisterRecord,
  createFixture,
  encode,
  installMode,
  installRecord,
  owner,
  rejected,
  replied,
  stranger,
} from './management-fixture.ts';

const empty = new Uint8Array(IDL.encode([], []));
const byCanister = { caller: stranger, fromCanister: true };
const module = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

describe('creation', () => {
  const settings = IDL.Record({
    controllers: IDL.Opt(IDL.Vec(IDL.Principal)),
    freezing_threshold: IDL.Opt(IDL.Nat),
    compute_allocation: IDL.Opt(IDL.Nat),
  });
  const creation = IDL.Record({ settings: IDL.Opt(settings) });
  const provisional = IDL.Record({
    amount: IDL.Opt(IDL.Nat),
    specified_id: IDL.Opt(IDL.Principal),
    settings: IDL.Opt(settings),
  });

  test('create_canister credits the new canister with the cycles less the fee', async () => {
    const { call, lifecycle } = createFixture();
    const options = { ...byCanister, cycles: 700_000_000_000n };
    const result = await call('create_canister', encode(creation, { settings: [] }), options);
    const { canister_id: id } = replied(canisterRecord, result) as { canister_id: Principal };
    expect(lifecycle.entries.get(id.toText())).toMatchObject({
      controllers: [stranger],
      cycles: 200_000_000_000n,
    });
    expect(result.refundedCycles).toBe(0n);
  });

  test('create_canister refuses too few cycles and returns them', async () => {
    const { call, lifecycle } = createFixture();
    const options = { ...byCanister, cycles: 499_999_999_999n };
    const result = await call('create_canister', encode(creation, { settings: [] }), options);
    expect(rejected(result)).toMatchObject({ code: 4, errorCode: 'IC0403' });
    expect(result.refundedCycles).toBe(499_999_999_999n);
    expect(lifecycle.entries.size).toBe(0);
  });

  test('provisional_create_canister_with_cycles applies amount, id and settings', async () => {
    const { call, lifecycle } = createFixture();
    const id = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');
    const wanted = {
      controllers: [[stranger, owner]],
      freezing_threshold: [7n],
      compute_allocation: [],
    };
    const arg = encode(provisional, { amount: [42n], specified_id: [id], settings: [wanted] });
    const result = await call('provisional_create_canister_with_cycles', arg);
    expect((replied(canisterRecord, result) as { canister_id: Principal }).canister_id).toEqual(id);
    expect(lifecycle.entries.get(id.toText())).toMatchObject({
      controllers: [stranger, owner],
      cycles: 42n,
      settings: { freezingThreshold: 7n },
    });
  });

  test('provisional_create_canister_with_cycles without an amount credits 100 T', async () => {
    const { call, lifecycle } = createFixture();
    const arg = encode(provisional, { amount: [], specified_id: [], settings: [] });
    await call('provisional_create_canister_with_cycles', arg);
    expect([...lifecycle.entries.values()][0]?.cycles).toBe(100_000_000_000_000n);
  });

  test.each([
    ['eleven controllers', { controllers: [Array(11).fill(owner)] }],
    ['a compute allocation of 101', { compute_allocation: [101n] }],
    ['a freezing threshold past 64 bits', { freezing_threshold: [2n ** 64n] }],
  ])('settings with %s are refused and nothing is created', async (_, bad) => {
    const { call, lifecycle } = createFixture();
    const none = { controllers: [], freezing_threshold: [], compute_allocation: [] };
    const value = { amount: [], specified_id: [], settings: [{ ...none, ...bad }] };
    const result = await call(
      'provisional_create_canister_with_cycles',
      encode(provisional, value),
    );
    expect(rejected(result).message).toMatch(/exceed the maximum|expected to be in the range/);
    expect(lifecycle.entries.size).toBe(0);
  });

  test('update_settings changes only the named settings', async () => {
    const { call, lifecycle, newCanister } = createFixture();
    const id = newCanister();
    const update = IDL.Record({ canister_id: IDL.Principal, settings });
    const changed = { controllers: [], freezing_threshold: [9n], compute_allocation: [] };
    const result = await call(
      'update_settings',
      encode(update, { canister_id: id, settings: changed }),
    );
    expect(result.outcome.status).toBe('replied');
    expect(lifecycle.entries.get(id.toText())).toMatchObject({
      controllers: [owner],
      settings: { freezingThreshold: 9n },
    });
  });
});

describe('code', () => {
  test.each([
    [{ install: null }, 'install', undefined],
    [{ reinstall: null }, 'reinstall', undefined],
    [{ upgrade: [] }, 'upgrade', { skipPreUpgrade: false }],
    [
      { upgrade: [{ skip_pre_upgrade: [true], wasm_memory_persistence: [] }] },
      'upgrade',
      { skipPreUpgrade: true },
    ],
    [
      { upgrade: [{ skip_pre_upgrade: [], wasm_memory_persistence: [{ replace: null }] }] },
      'upgrade',
      { skipPreUpgrade: false, wasmMemoryPersistence: 'replace' },
    ],
    [
      { upgrade: [{ skip_pre_upgrade: [], wasm_memory_persistence: [{ keep: null }] }] },
      'upgrade',
      { skipPreUpgrade: false, wasmMemoryPersistence: 'keep' },
    ],
  ])('install_code with mode %j asks the engine for it', async (mode, name, upgrade) => {
    const { call, lifecycle, newCanister } = createFixture();
    const id = newCanister();
    const value = { mode, canister_id: id, wasm_module: module, arg: Uint8Array.of(5) };
    const result = await call('install_code', encode(installRecord, value));
    expect(result.outcome).toEqual({ status: 'replied', arg: empty });
    const [install] = lifecycle.installs;
    expect(install).toMatchObject({ canisterId: id, mode: name, module, sender: owner });
    expect(install?.arg).toEqual(Uint8Array.of(5));
    expect(install?.upgrade).toEqual(upgrade);
  });

  test('install_code understands the older mode without options', async () => {
    const { call, lifecycle, newCanister } = createFixture();
    const old = IDL.Record({
      mode: IDL.Variant({ install: IDL.Null, reinstall: IDL.Null, upgrade: IDL.Null }),
      canister_id: IDL.Principal,
      wasm_module: blob,
      arg: blob,
    });
    const value = {
      mode: { upgrade: null },
      canister_id: newCanister(),
      wasm_module: module,
      arg: [],
    };
    await call('install_code', encode(old, value));
    expect(lifecycle.installs).toMatchObject([
      { mode: 'upgrade', upgrade: { skipPreUpgrade: false } },
    ]);
  });

  test('install_code returns refusals', async () => {
    const { call, lifecycle, newCanister } = createFixture();
    const value = { canister_id: newCanister(), wasm_module: module, arg: [] };
    lifecycle.refusal = { status: 'rejected', code: 5, message: 'no Wasm', errorCode: 'IC0505' };
    const arg = encode(installRecord, { ...value, mode: { install: null } });
    expect(rejected(await call('install_code', arg))).toBe(lifecycle.refusal);
  });
});

describe('chunks', () => {
  const upload = IDL.Record({ canister_id: IDL.Principal, chunk: blob });
  const chunkHash = IDL.Record({ hash: blob });
  const chunked = IDL.Record({
    mode: installMode,
    target_canister: IDL.Principal,
    store_canister: IDL.Opt(IDL.Principal),
    chunk_hashes_list: IDL.Vec(chunkHash),
    wasm_module_hash: blob,
    arg: blob,
  });

  async function uploadTwo(fixture: ReturnType<typeof createFixture>, id: Principal) {
    const hashes: unknown[] = [];
    for (const chunk of [module.subarray(0, 5), module.subarray(5)]) {
      const arg = encode(upload, { canister_id: id, chunk });
      hashes.push(replied(chunkHash, await fixture.call('upload_chunk', arg)));
    }
    return hashes;
  }

  test('a module is joined from its chunks and installed', async () => {
    const fixture = createFixture();
    const store = fixture.newCanister();
    const target = fixture.newCanister();
    const hashes = await uploadTwo(fixture, store);
    expect(hashes).toEqual([
      { hash: sha256(module.subarray(0, 5)) },
      { hash: sha256(module.subarray(5)) },
    ]);
    const stored = await fixture.call('stored_chunks', about(store));
    expect(replied(IDL.Vec(chunkHash), stored)).toEqual(hashes);
    const value = {
      mode: { install: null },
      target_canister: target,
      store_canister: [store],
      chunk_hashes_list: hashes,
      wasm_module_hash: sha256(module),
      arg: [],
    };
    await fixture.call('install_chunked_code', encode(chunked, value));
    expect(fixture.lifecycle.installs).toMatchObject([{ canisterId: target, module }]);
  });

  test("a missing chunk, a wrong hash and another canister's store are refused", async () => {
    const fixture = createFixture();
    const id = fixture.newCanister();
    const hashes = await uploadTwo(fixture, id);
    const good = {
      mode: { install: null },
      target_canister: id,
      store_canister: [],
      chunk_hashes_list: hashes,
      wasm_module_hash: sha256(module),
      arg: [],
    };
    const foreign = fixture.lifecycle.create({ controllers: [stranger], cycles: 0n });
    const bad = [
      [{ chunk_hashes_list: [{ hash: new Uint8Array(32) }] }, /chunk 0+ was not found/],
      [{ wasm_module_hash: new Uint8Array(32) }, /does not match/],
      [{ chunk_hashes_list: [...hashes].reverse() }, /does not match/],
      [{ store_canister: [foreign] }, /Only controllers of canister/],
      [{ store_canister: [stranger] }, /not found/],
    ] as const;
    for (const [change, message] of bad) {
      const result = await fixture.call(
        'install_chunked_code',
        encode(chunked, { ...good, ...change }),
      );
      expect(rejected(result).message).toMatch(message);
    }
    expect(fixture.lifecycle.installs).toEqual([]);
    await fixture.call('clear_chunk_store', about(id));
    const gone = await fixture.call('install_chunked_code', encode(chunked, good));
    expect(rejected(gone).message).toMatch(/was not found/);
  });

  test('a chunk of more than 1 MiB and the 101st chunk are refused', async () => {
    const { call, newCanister } = createFixture();
    const id = newCanister();
    const send = (chunk: Uint8Array) =>
      call('upload_chunk', encode(upload, { canister_id: id, chunk }));
    expect(rejected(await send(new Uint8Array(2 ** 20 + 1))).message).toMatch(
      /exceeds the maximum/,
    );
    for (let count = 0; count < 100; count += 1) await send(Uint8Array.of(count));
    expect(rejected(await send(Uint8Array.of(100))).message).toMatch(/maximum of 100 chunks/);
    // A chunk that is already stored needs no space.
    expect((await send(Uint8Array.of(99))).outcome.status).toBe('replied');
  });
});

describe('lifecycle', () => {
  test('canister_status has the fields of the specification', async () => {
    const { call, newCanister } = createFixture();
    const id = newCanister();
    const status = IDL.Record({
      status: IDL.Variant({ running: IDL.Null, stopping: IDL.Null, stopped: IDL.Null }),
      settings: IDL.Record({
        controllers: IDL.Vec(IDL.Principal),
        compute_allocation: IDL.Nat,
        memory_allocation: IDL.Nat,
        freezing_threshold: IDL.Nat,
        reserved_cycles_limit: IDL.Nat,
        wasm_memory_limit: IDL.Nat,
        // Without these the official tool icp 1.5.0 shows no status
        log_memory_limit: IDL.Nat,
        minimum_incoming_canister_call_cycles: IDL.Nat,
        snapshot_visibility: IDL.Variant({ controllers: IDL.Null }),
        status_visibility: IDL.Variant({ controllers: IDL.Null }),
      }),
      module_hash: IDL.Opt(blob),
      memory_size: IDL.Nat,
      memory_metrics: IDL.Record({ log_memory_store_size: IDL.Nat }),
      cycles: IDL.Nat,
      idle_cycles_burned_per_day: IDL.Nat,
      query_stats: IDL.Record({ num_calls_total: IDL.Nat }),
    });
    for (const caller of [owner, id]) {
      const options = { caller, fromCanister: caller === id };
      const result = await call('canister_status', about(id), options);
      expect(replied(status, result)).toMatchObject({
        status: { running: null },
        settings: { controllers: [owner], freezing_threshold: 2_592_000n },
        module_hash: [],
        memory_size: 2n ** 30n + 65_536n,
        cycles: 5n,
        // 127,000 cycles per second and GiB, and a little for the heap.
        idle_cycles_burned_per_day: 7n,
      });
    }
  });

  test('start, stop, uninstall and delete reach the engine', async () => {
    const { call, lifecycle, newCanister } = createFixture();
    const id = newCanister();
    expect(rejected(await call('delete_canister', about(id))).errorCode).toBe('IC0510');
    await call('stop_canister', about(id));
    expect(lifecycle.entries.get(id.toText())?.status).toBe('stopped');
    await call('start_canister', about(id));
    expect(lifecycle.entries.get(id.toText())?.status).toBe('running');
    await call('uninstall_code', about(id));
    await call('stop_canister', about(id));
    expect((await call('delete_canister', about(id))).outcome.status).toBe('replied');
    expect(lifecycle.entries.size).toBe(0);
  });

  test('deposit_cycles keeps all cycles, provisional_top_up_canister creates cycles', async () => {
    const { call, lifecycle, newCanister } = createFixture();
    const id = newCanister();
    const result = await call('deposit_cycles', about(id), { ...byCanister, cycles: 30n });
    expect(result.refundedCycles).toBe(0n);
    const topUp = IDL.Record({ canister_id: IDL.Principal, amount: IDL.Nat });
    await call('provisional_top_up_canister', encode(topUp, { canister_id: id, amount: 7n }));
    expect(lifecycle.entries.get(id.toText())?.cycles).toBe(42n);
  });
});
