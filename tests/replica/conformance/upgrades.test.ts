// The state that survives an upgrade, and the two guards of enhanced orthogonal persistence.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { custom } from '../../support/wasm-canisters/raw-module.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'replica-upgrades-'));
let replica: Replica;
const start = async () => {
  replica = await startReplica({ server: false, stateDir, sync: false });
};
beforeAll(start);
afterAll(async () => {
  await replica.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

/**
 * Address 1000 counts the calls of `inc`; 1004 has a bit for each of start, pre_upgrade and
 * post_upgrade that has run; 600 has the seed.
 */
function counter(seed: string, pages = 1, postUpgrade = ''): Uint8Array {
  const body = `(memory ${pages}) (data (i32.const 600) "${seed}") (start $start)
    (global $calls (mut i32) (i32.const ${pages}))
    (func $note (param i32)
      (i32.store (i32.const 1004) (i32.or (i32.load (i32.const 1004)) (local.get 0))))
    (func $start (call $note (i32.const 1)))
    (func (export "canister_pre_upgrade") (call $note (i32.const 2)))
    (func (export "canister_post_upgrade") (call $note (i32.const 4)) ${postUpgrade})
    (func (export "canister_update inc") (global.set $calls (i32.const 77))
      (i32.store (i32.const 1000) (i32.add (i32.load (i32.const 1000)) (i32.const 1)))
      (call $msg_reply))
    (func (export "canister_update grow")
      (drop (memory.grow (i32.const 3))) (i32.store (i32.const 200000) (i32.const 5))
      (call $msg_reply))
    (func (export "canister_query calls") (call $reply32 (i32.load (i32.const 1000))))
    (func (export "canister_query ran") (call $reply32 (i32.load (i32.const 1004))))
    (func (export "canister_query seed") (call $reply32 (i32.load8_u (i32.const 600))))
    (func (export "canister_query global") (call $reply32 (global.get $calls)))
    (func (export "canister_query pages") (call $reply32 (memory.size)))
    (func (export "canister_query grown") (call $reply32 (i32.load (i32.const 200000))))`;
  return canister([], body);
}

function persistent(module: Uint8Array): Uint8Array {
  const section = custom('icp:private enhanced-orthogonal-persistence');
  return Uint8Array.from([...module, ...section]);
}

async function read(id: string): Promise<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const name of ['calls', 'ran', 'seed', 'global', 'pages']) {
    values[name] = Buffer.from(await replica.query(id, name)).readInt32LE(0);
  }
  return values;
}

async function install(module: Uint8Array): Promise<string> {
  const id = (await replica.createCanister()).toText();
  await replica.install(id, module);
  await replica.call(id, 'inc');
  return id;
}

const a = 'a'.charCodeAt(0);
const b = 'b'.charCodeAt(0);
const first = persistent(counter('a'));
const before = { calls: 1, ran: 1, seed: a, global: 77, pages: 1 };

describe('Interface specification, "Canister upgrades": wasm_memory_persistence', () => {
  it('keeps the heap as pre_upgrade leaves it, and no other state, and applies no data segments', async () => {
    const id = await install(first);
    await replica.call(id, 'grow');
    await replica.upgrade(id, persistent(counter('b', 2)), undefined, {
      wasmMemoryPersistence: 'keep',
    });
    const after = { calls: 1, ran: 1 | 2 | 4, seed: a, global: 2, pages: 4 };
    expect(await read(id)).toEqual(after);
    expect(Buffer.from(await replica.query(id, 'grown')).readInt32LE(0)).toBe(5);
    await replica.stop();
    await start();
    expect(await read(id)).toEqual(after);
  });

  it('keeps the heap if pre_upgrade is skipped, in a memory that begins larger', async () => {
    const id = await install(first);
    const options = { wasmMemoryPersistence: 'keep', skipPreUpgrade: true } as const;
    await replica.upgrade(id, persistent(counter('b', 3)), undefined, options);
    expect(await read(id)).toEqual({ calls: 1, ran: 1 | 4, seed: a, global: 3, pages: 3 });
  });

  it('replaces the heap if requested, and by default if the module was not persistent', async () => {
    const fresh = { calls: 0, ran: 1 | 4, seed: b, global: 1, pages: 1 };
    const id = await install(first);
    await replica.upgrade(id, counter('b'), undefined, { wasmMemoryPersistence: 'replace' });
    expect(await read(id)).toEqual(fresh);
    await replica.call(id, 'inc');
    await replica.upgrade(id, persistent(counter('b')));
    expect(await read(id)).toEqual(fresh);
  });

  test.each([
    [
      'without the option, of a canister that has the section',
      persistent(counter('b')),
      {},
      'IC0504',
      'Missing upgrade option: Enhanced orthogonal persistence requires the ' +
        '`wasm_memory_persistence` upgrade option.',
    ],
    [
      'with `keep`, to a module without the section',
      counter('b'),
      { wasmMemoryPersistence: 'keep' },
      'IC0504',
      'Invalid upgrade option: The `wasm_memory_persistence: opt Keep` upgrade option requires ' +
        'that the new canister module supports enhanced orthogonal persistence.',
    ],
    [
      'with `keep`, whose post_upgrade traps',
      persistent(counter('b', 1, 'unreachable')),
      { wasmMemoryPersistence: 'keep' },
      'IC0502',
      'trapped: unreachable',
    ],
  ] as const)('an upgrade %s changes nothing', async (_what, module, options, errorCode, words) => {
    const id = await install(first);
    const refused = replica.upgrade(id, module, undefined, options);
    await expect(refused).rejects.toMatchObject({ errorCode });
    await expect(refused).rejects.toThrow(words);
    expect(await read(id)).toEqual(before);
  });
});
