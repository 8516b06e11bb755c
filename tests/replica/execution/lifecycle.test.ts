// A canister's life: install, upgrade, reinstall, stop, delete, and the restart of the process.

import { gzipSync } from 'node:zlib';
import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import {
  anybody,
  installOn,
  numberOf,
  plenty,
  startTestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = [
  'stable64_size',
  'stable64_grow',
  'stable64_write',
  'stable64_read',
  'certified_data_set',
  'global_timer_set',
  'canister_version',
  'canister_status',
  'trap',
];

const readers = `
  (func (export "canister_query version") (call $reply64 (call $canister_version)))
  (func (export "canister_query pages") (call $reply64 (call $stable64_size)))
  (func (export "canister_query heap") (call $reply32 (i32.load (i32.const 1000))))
  (func (export "canister_query stable")
    (call $stable64_read (i64.const 2000) (i64.const 8) (i64.const 4))
    (call $reply32 (i32.load (i32.const 2000))))`;

const first = canister(
  imports,
  `(data (i32.const 100) "certified")
  ${readers}
  (func $write (param i32)
    (i32.store (i32.const 1000) (local.get 0))
    (call $stable64_write (i64.const 8) (i64.const 1000) (i64.const 4)))
  (func (export "canister_init")
    (drop (call $stable64_grow (i64.const 1)))
    (call $certified_data_set (i32.const 100) (i32.const 9))
    (drop (call $global_timer_set (i64.const 1)))
    (call $write (i32.const 1)))
  (func (export "canister_update write") (call $write (i32.const 2)) (call $msg_reply))
  (func (export "canister_pre_upgrade") (call $write (i32.const 3)))
  (func (export "canister_global_timer") (call $write (i32.const 4)))`,
);

const second = canister(
  imports,
  `${readers} (func (export "canister_query second") (call $reply32 (i32.const 1)))
  (func (export "canister_post_upgrade") (i32.store (i32.const 1000) (i32.const 50)))`,
);

const failing = canister(
  imports,
  `${readers}
  (func (export "canister_post_upgrade")
    (call $stable64_write (i64.const 8) (i64.const 0) (i64.const 4))
    (call $certified_data_set (i32.const 0) (i32.const 1)) unreachable)`,
);

async function installed(module = first) {
  const replica = startTestReplica();
  const id = await replica.install(module);
  const read = async (method: string) => numberOf(await replica.query(id, method));
  return { replica, engine: replica.engine, id, read };
}

describe('install', () => {
  it('runs start before init, and accepts gzip', async () => {
    const module = canister(
      [],
      `(global $order (mut i32) (i32.const 0))
      (start $begin) (func $begin (global.set $order (i32.const 5)))
      (func (export "canister_init")
        (global.set $order (i32.mul (global.get $order) (i32.const 7))))
      (func (export "canister_query order") (call $reply32 (global.get $order)))`,
    );
    for (const bytes of [module, new Uint8Array(gzipSync(module))]) {
      const { read, replica, engine, id } = await installed(bytes);
      expect(await read('order')).toBe(35);
      expect(replica.reports.map((report) => report.kind)).toEqual(['start', 'init', 'query']);
      const stored = replica.store.getModule(
        Buffer.from(engine.canister(id)?.moduleHash ?? []).toString('hex'),
      );
      expect(stored).toEqual(bytes);
    }
  });

  it('that traps leaves the canister empty', async () => {
    const replica = startTestReplica();
    const id = replica.engine.create({ controllers: [anybody], cycles: plenty });
    if ('status' in id) throw new Error(id.message);
    const module = canister(
      ['stable64_grow'],
      '(func (export "canister_init") (drop (call $stable64_grow (i64.const 1))) unreachable)',
    );
    expect(await installOn(replica.engine, { canisterId: id, module })).toContain('unreachable');
    expect(replica.engine.canister(id)).toMatchObject({ moduleHash: undefined, stableBytes: 0 });
    expect(textOf(await replica.query(id, 'x'))).toMatch(/^IC0537: .*contains no Wasm module/);
  });

  it.each([
    ['an unknown function of ic0', '(import "ic0" "nope" (func))', /'nope' from 'ic0'/],
    ['another module', '(import "env" "f" (func))', /'f' from 'env'/],
    [
      'a memory',
      '(import "ic0" "m" (memory 1))',
      /Failed to instantiate module: unknown import: `ic0::m` has/,
    ],
    [
      'a wrong signature',
      '(import "ic0" "time" (func))',
      /Expected return type \[I64\] for 'time', got \[\]/,
    ],
  ])('refuses the import of %s', async (_what, text, message) => {
    const { assemble } = await import('../../support/wasm-canisters/text-module.ts');
    const module = assemble(`(module ${text})`);
    await expect(installed(module)).rejects.toThrow(message);
  });

  it('refuses bytes that are not a module', async () => {
    await expect(installed(Uint8Array.of(1, 2, 3))).rejects.toThrow('not valid');
    await expect(installed(Uint8Array.of(0x1f, 0x8b, 8, 0))).rejects.toThrow('not valid');
  });

  it('refuses a canister that has code, and an upgrade of one without code', async () => {
    const { engine, id } = await installed();
    expect(await installOn(engine, { canisterId: id, module: first })).toContain('not empty');
    engine.uninstall(id);
    const mode = 'upgrade';
    expect(await installOn(engine, { canisterId: id, module: first, mode })).toContain('no Wasm');
  });
});

describe('upgrade', () => {
  it('keeps stable memory and certified data, and drops heap and timer', async () => {
    const { engine, id, read, replica } = await installed();
    expect(await installOn(engine, { canisterId: id, module: second, mode: 'upgrade' })).toBe(
      undefined,
    );
    expect(await read('second')).toBe(1);
    expect(await read('stable')).toBe(3);
    expect(await read('heap')).toBe(50);
    expect(Buffer.from(engine.canister(id)?.certifiedData ?? []).toString()).toBe('certified');
    await engine.tick();
    expect(replica.reports.some((report) => report.kind === 'timer')).toBe(false);
  });

  it('that traps changes nothing: the old code keeps running with its heap', async () => {
    const { engine, id, read } = await installed();
    await engine.tick();
    const before = engine.canister(id);
    const refused = await installOn(engine, { canisterId: id, module: failing, mode: 'upgrade' });
    expect(refused).toContain('unreachable');
    expect(await read('heap')).toBe(4);
    expect(await read('stable')).toBe(4);
    expect(engine.canister(id)?.version).toBe(before?.version);
    expect(engine.canister(id)?.moduleHash).toEqual(before?.moduleHash);
    expect(engine.canister(id)?.certifiedData).toEqual(before?.certifiedData);
  });

  it('raises the version by one', async () => {
    const { engine, id } = await installed();
    const before = engine.canister(id)?.version ?? 0n;
    await installOn(engine, { canisterId: id, module: second, mode: 'upgrade' });
    expect(engine.canister(id)?.version).toBe(before + 1n);
  });
});

describe('reinstall', () => {
  it('starts with an empty state', async () => {
    const { engine, id, read } = await installed();
    await installOn(engine, { canisterId: id, module: second, mode: 'reinstall' });
    expect(await read('pages')).toBe(0);
    expect(await read('heap')).toBe(0);
    expect(engine.canister(id)?.certifiedData).toHaveLength(0);
  });

  it('that traps changes nothing', async () => {
    const { engine, id, read } = await installed();
    const trapping = canister([], '(func (export "canister_init") unreachable)');
    await installOn(engine, { canisterId: id, module: trapping, mode: 'reinstall' });
    expect(await read('stable')).toBe(1);
    expect(await read('heap')).toBe(1);
  });
});

describe('stopping', () => {
  it('refuses calls until the canister is started again', async () => {
    const { engine, id, replica } = await installed();
    expect(await engine.stop(id)).toBeUndefined();
    expect(textOf(await replica.update(id, 'write'))).toMatch(/^IC0508: Canister .* is stopped$/);
    expect(textOf(await replica.query(id, 'heap'))).toMatch(/^IC0508/);
    const message = { sender: anybody, canisterId: id, method: 'write', arg: new Uint8Array() };
    expect((await engine.checkIngress(message))?.errorCode).toBe('IC0508');
    engine.start(id);
    expect((await replica.update(id, 'write')).status).toBe('replied');
  });

  it('waits for open call contexts, and only then allows the deletion', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const replica = startTestReplica({
      answer: async () => {
        await answered;
        return { outcome: { status: 'replied', arg: new Uint8Array() }, refundedCycles: 0n };
      },
    });
    const module = canister(
      ['call_new', 'call_perform'],
      `(table 1 funcref) (elem (i32.const 0) $done)
      (func $done (param i32) (call $reply32 (i32.const 1)))
      (func (export "canister_update wait")
        (call $call_new (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
        (drop (call $call_perform)))`,
    );
    const id = await replica.install(module);
    const call = replica.update(id, 'wait');
    await new Promise((resolve) => setTimeout(resolve, 10));
    const stopped = replica.engine.stop(id);
    expect(replica.engine.canister(id)?.status).toBe('stopping');
    expect(textOf(await replica.update(id, 'wait'))).toMatch(/^IC0509/);
    expect(replica.engine.remove(id)?.errorCode).toBe('IC0510');
    answer();
    expect(numberOf(await call)).toBe(1);
    expect(await stopped).toBeUndefined();
    expect(replica.engine.remove(id)).toBeUndefined();
    expect(replica.engine.canister(id)).toBeUndefined();
    expect(textOf(await replica.query(id, 'x'))).toMatch(/^IC0301: Canister .* not found$/);
  });
});

describe('canister ids', () => {
  it('consist of a counter of eight bytes and 01 01', async () => {
    const { engine, id } = await installed();
    expect(id.toText()).toBe('rwlgt-iiaaa-aaaaa-aaaaa-cai');
    const next = engine.create({ controllers: [anybody], cycles: 1n });
    expect((next as Principal).toText()).toBe('rrkah-fqaaa-aaaaa-aaaaq-cai');
  });
});

describe('the restart of a replica', () => {
  it('starts canisters without a stored heap as an upgrade without pre_upgrade does', async () => {
    const { replica, id } = await installed();
    await replica.update(id, 'write');
    const again = startTestReplica({ store: replica.store });
    expect(await again.engine.resume()).toEqual([]);
    expect(numberOf(await again.query(id, 'stable'))).toBe(2);
    expect(numberOf(await again.query(id, 'heap'))).toBe(0);
    expect(again.engine.canister(id)?.controllers).toEqual([anybody]);
    const next = again.engine.create({ controllers: [anybody], cycles: 1n });
    expect((next as Principal).toText()).not.toBe(id.toText());
  });

  it('reports those that trap, keeps their state, and runs the others', async () => {
    const { replica, id: good } = await installed();
    const bad = await replica.install(failing);
    const again = startTestReplica({ store: replica.store });
    expect(await again.engine.resume()).toEqual([
      { canisterId: bad.toText(), reason: expect.stringContaining('Canister trapped') },
    ]);
    expect(numberOf(await again.query(good, 'stable'))).toBe(1);
    expect(textOf(await again.query(bad, 'pages'))).toContain('could not be resumed');
    expect(replica.store.load().map((stored) => stored.id)).toContain(bad.toText());
    const mode = 'upgrade';
    expect(await installOn(again.engine, { canisterId: bad, module: second, mode })).toBe(
      undefined,
    );
    expect(numberOf(await again.query(bad, 'second'))).toBe(1);
  });
});
