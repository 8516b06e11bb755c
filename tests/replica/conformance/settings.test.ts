// Canister settings: their effects, and that a restart keeps them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Replica } from '../../../packages/replica/src/index.ts';
import { startReplica } from '../../../packages/replica/src/index.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { alice, bob, manage } from './management-client.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'settings-'));
let replica: Replica;
beforeAll(async () => {
  replica = await startReplica({ server: false, stateDir, sync: false });
});
afterAll(async () => {
  await replica.stop();
  rmSync(stateDir, { recursive: true });
});

const module = canister(
  ['env_var_count', 'env_var_name_size', 'env_var_name_copy', 'env_var_name_exists'].concat([
    'env_var_value_size',
    'env_var_value_copy',
    'msg_arg_data_size',
    'msg_arg_data_copy',
  ]),
  `(memory 1 20)
  (data (i32.const 100) "B")
  (global $hooks (mut i32) (i32.const 0))
  (func $reply (param $size i32)
    (call $msg_reply_data_append (i32.const 0) (local.get $size)) (call $msg_reply))
  (func $argument (result i32)
    (call $msg_arg_data_copy (i32.const 0) (i32.const 0) (call $msg_arg_data_size))
    (i32.load (i32.const 0)))
  (func (export "canister_query count") (call $reply32 (call $env_var_count)))
  (func (export "canister_query name") (local $size i32) (local $index i32)
    (local.set $index (call $argument))
    (local.set $size (call $env_var_name_size (local.get $index)))
    (call $env_var_name_copy (local.get $index) (i32.const 0) (i32.const 0) (local.get $size))
    (call $reply (local.get $size)))
  (func (export "canister_query exists")
    (drop (call $argument))
    (call $reply32 (call $env_var_name_exists (i32.const 0) (call $msg_arg_data_size))))
  (func (export "canister_query value") (local $size i32)
    (drop (call $argument))
    (local.set $size (call $env_var_value_size (i32.const 0) (call $msg_arg_data_size)))
    (call $env_var_value_copy (i32.const 0) (call $msg_arg_data_size)
      (i32.const 1000) (i32.const 0) (local.get $size))
    (call $msg_reply_data_append (i32.const 1000) (local.get $size)) (call $msg_reply))
  (func (export "canister_query beyond")
    (call $env_var_value_copy (i32.const 100) (i32.const 1)
      (i32.const 0) (i32.const 0) (i32.const 1000)))
  (func (export "canister_update grow")
    (call $reply32 (memory.grow (call $argument))))
  (func (export "canister_query hooks") (call $reply32 (global.get $hooks)))
  (func (export "canister_on_low_wasm_memory")
    (global.set $hooks (i32.add (global.get $hooks) (i32.const 1))))`,
);

async function create(settings: object = {}): Promise<Principal> {
  const method = 'provisional_create_canister_with_cycles';
  return (await manage(replica, method, { settings })).canister_id;
}

async function settingsOf(id: Principal) {
  return (await manage(replica, 'canister_status', { canister_id: id })).settings;
}

const numberOf = (bytes: Uint8Array) => Buffer.from(bytes).readInt32LE();
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const int32 = (value: number) => new Uint8Array(Int32Array.of(value).buffer);

const everySetting = {
  controllers: [alice, bob],
  compute_allocation: 3n,
  memory_allocation: 2n ** 30n,
  freezing_threshold: 17n,
  reserved_cycles_limit: 2n ** 128n - 1n,
  minimum_incoming_canister_call_cycles: 2n ** 127n,
  wasm_memory_limit: 2n ** 48n,
  wasm_memory_threshold: 2n ** 48n,
  log_memory_limit: 8_192n,
  log_visibility: { public: null },
  snapshot_visibility: { allowed_viewers: [bob] },
  status_visibility: { allowed_viewers: [bob] },
  environment_variables: [
    { name: 'A', value: 'one' },
    { name: 'B', value: 'zwölf' },
  ],
};

describe('Interface specification, "IC method create_canister": settings', () => {
  test('of a new canister are the defaults', async () => {
    expect(await settingsOf(await create())).toEqual({
      controllers: [alice],
      compute_allocation: 0n,
      memory_allocation: 0n,
      freezing_threshold: 2_592_000n,
      reserved_cycles_limit: 5_000_000_000_000n,
      minimum_incoming_canister_call_cycles: 0n,
      // 3 GiB, from the network's configuration.
      wasm_memory_limit: 3_221_225_472n,
      wasm_memory_threshold: 0n,
      log_memory_limit: 4_096n,
      log_visibility: { controllers: null },
      snapshot_visibility: { controllers: null },
      status_visibility: { controllers: null },
      environment_variables: [],
    });
  });

  test('are the requested ones from the start', async () => {
    const id = await create(everySetting);
    expect(await settingsOf(id)).toEqual(everySetting);
    const status = await manage(replica, 'canister_status', { canister_id: id });
    expect(status.version).toBe(0n);
  });

  test.each([
    ['compute_allocation', 101n, /ComputeAllocation expected to be in the range/],
    ['memory_allocation', 2n ** 64n, /MemoryAllocation expected to be in the range/],
    ['memory_allocation', 2n ** 41n + 1n, /are available in the subnet/],
    ['freezing_threshold', 2n ** 64n, /Freezing threshold expected/],
    ['reserved_cycles_limit', 2n ** 128n, /Reserved cycles limit expected/],
    ['minimum_incoming_canister_call_cycles', 2n ** 128n, /Minimum incoming/],
    ['wasm_memory_limit', 2n ** 48n + 1n, /Wasm memory limit expected/],
    ['wasm_memory_threshold', 2n ** 48n + 1n, /Wasm memory threshold expected/],
    ['log_memory_limit', 2n ** 21n + 1n, /Log memory limit expected/],
    ['log_memory_limit', 4_095n, /Log memory limit expected/],
    ['controllers', Array(11).fill(alice), /11 controllers exceed the maximum of 10/],
    ['log_visibility', { allowed_viewers: Array(11).fill(bob) }, /11 allowed viewers/],
    ['status_visibility', { allowed_viewers: Array(11).fill(bob) }, /11 allowed viewers/],
    ['snapshot_visibility', { allowed_viewers: Array(11).fill(bob) }, /11 allowed viewers/],
    [
      'environment_variables',
      Array.from({ length: 21 }, (_, at) => ({ name: `${at}`, value: '' })),
      /Too many environment variables: 21 \(max: 20\)/,
    ],
    ['environment_variables', [{ name: 'ä'.repeat(65), value: '' }], /name ".*" exceeds/],
    ['environment_variables', [{ name: 'a', value: 'ä'.repeat(65) }], /value ".*" exceeds/],
    [
      'environment_variables',
      [
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ],
      /Duplicate environment variables/,
    ],
  ])('out of range are refused and change nothing: %s', async (name, value, message) => {
    const count = replica.canisters().length;
    await expect(create({ [name]: value })).rejects.toThrow(message);
    expect(replica.canisters()).toHaveLength(count);
    const id = replica.canisters()[0]?.id as Principal;
    const before = await settingsOf(id);
    const change = { canister_id: id, settings: { freezing_threshold: 5n, [name]: value } };
    await expect(manage(replica, 'update_settings', change)).rejects.toThrow(message);
    expect(await settingsOf(id)).toEqual(before);
  });

  test('that allocate more compute than the subnet has are refused', async () => {
    const ids = [await create(), await create(), await create()];
    const ask = (id: Principal | undefined, percent: bigint) =>
      manage(replica, 'update_settings', {
        canister_id: id,
        settings: { compute_allocation: percent, freezing_threshold: 1n },
      });
    await ask(ids[0], 100n);
    await ask(ids[1], 100n);
    await expect(ask(ids[2], 100n)).rejects.toThrow('remaining compute capacity is 96%');
    await ask(ids[2], 96n);
    for (const id of ids) await ask(id, 0n);
  });
});

describe('Interface specification, "IC method update_settings"', () => {
  test('leaves other settings unchanged', async () => {
    const id = await create(everySetting);
    const settings = { freezing_threshold: 18n };
    await manage(replica, 'update_settings', { canister_id: id, settings });
    expect(await settingsOf(id)).toEqual({ ...everySetting, freezing_threshold: 18n });
  });

  test('a restart keeps all settings', async () => {
    const id = await create(everySetting);
    await replica.stop();
    replica = await startReplica({ server: false, stateDir, sync: false });
    expect(await settingsOf(id)).toEqual(everySetting);
  });
});

describe('Interface specification, "Environment Variables"', () => {
  let id: Principal;
  beforeAll(async () => {
    const environment = [
      { name: '\u{10000}', value: 'last by its bytes, not by its UTF-16' },
      { name: '\u{FFFD}', value: '' },
      { name: 'B', value: 'x'.repeat(128) },
    ];
    id = await create({ environment_variables: environment });
    await replica.install(id, module, undefined, { sender: alice });
  });

  test('can be counted, and are listed in the order of their names', async () => {
    expect(numberOf(await replica.query(id, 'count'))).toBe(3);
    const names = await Promise.all([0, 1, 2].map((at) => replica.query(id, 'name', int32(at))));
    expect(names.map(textOf)).toEqual(['B', '\u{FFFD}', '\u{10000}']);
  });

  test('can be found by name', async () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(textOf(await replica.query(id, 'value', bytes('B')))).toBe('x'.repeat(128));
    expect(textOf(await replica.query(id, 'value', bytes('\u{FFFD}')))).toBe('');
    expect(numberOf(await replica.query(id, 'exists', bytes('B')))).toBe(1);
    expect(numberOf(await replica.query(id, 'exists', bytes('b')))).toBe(0);
  });

  test.each([
    [
      'name',
      int32(3),
      /: Environment variable index 3 is out of bounds. The number of environment variables is 3\.$/,
    ],
    ['value', new TextEncoder().encode('b'), /: Environment variable b not found\.$/],
    ['value', new Uint8Array(129).fill(65), /longer than 128 bytes/],
    ['exists', new Uint8Array(129).fill(65), /longer than 128 bytes/],
    ['exists', Uint8Array.of(0xff), /not valid UTF-8/],
    ['beyond', new Uint8Array(), /exceeds the slice size=128/],
  ])('trap where the specification requires it: %s', async (method, arg, message) => {
    await expect(replica.query(id, method, arg)).rejects.toThrow(message);
  });
});

describe('Interface specification, "On Low Wasm Memory"', () => {
  const page = 65_536n;
  const hooks = async (id: Principal) => numberOf(await replica.query(id, 'hooks'));
  const grow = (id: Principal, pages: number) => replica.call(id, 'grow', int32(pages));
  const update = (id: Principal, settings: object) =>
    manage(replica, 'update_settings', { canister_id: id, settings });

  test('runs once when the remaining memory falls below the threshold', async () => {
    const id = await create({ wasm_memory_limit: 10n * page, wasm_memory_threshold: 5n * page });
    await replica.install(id, module, undefined, { sender: alice });
    await grow(id, 4);
    await replica.tick();
    expect(await hooks(id)).toBe(0);
    await grow(id, 1);
    await replica.tick();
    expect(await hooks(id)).toBe(1);
    await grow(id, 1);
    await replica.tick();
    expect(await hooks(id)).toBe(1);
  });

  test('runs again after the remaining memory was above it meanwhile', async () => {
    const id = await create({ wasm_memory_limit: 10n * page, wasm_memory_threshold: 9n * page });
    await replica.install(id, module, undefined, { sender: alice });
    await update(id, { wasm_memory_threshold: 10n * page });
    await replica.tick();
    expect(await hooks(id)).toBe(1);
    await update(id, { wasm_memory_threshold: 0n });
    await update(id, { wasm_memory_threshold: 10n * page });
    await replica.tick();
    expect(await hooks(id)).toBe(2);
  });

  test('waits for a stopped canister to start', async () => {
    const id = await create({ wasm_memory_limit: 10n * page });
    await replica.install(id, module, undefined, { sender: alice });
    await manage(replica, 'stop_canister', { canister_id: id });
    await update(id, { wasm_memory_threshold: 10n * page });
    await replica.tick();
    await manage(replica, 'start_canister', { canister_id: id });
    await replica.tick();
    expect(await hooks(id)).toBe(1);
  });
});
