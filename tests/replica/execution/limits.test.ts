// Limits and traps: the message fails with the network's error text, and nothing else fails.

import { describe, expect, it } from 'vitest';
import { numberOf, startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const limits = { updateInstructions: 1_000_000n, queryInstructions: 500_000n };
const alive = '(func (export "canister_query alive") (call $reply32 (i32.const 1)))';

async function run(options: {
  readonly imports?: readonly string[];
  readonly body: string;
  readonly kind?: 'update' | 'query';
}): Promise<string> {
  const { kind = 'update', imports = [], body } = options;
  const replica = startTestReplica({ limits });
  const id = await replica.install(
    canister(imports, `${alive} (func $f (export "canister_${kind} f") ${body})`),
  );
  const text = textOf(await replica[kind](id, 'f'));
  expect(numberOf(await replica.query(id, 'alive'))).toBe(1);
  return text;
}

describe('instructions', () => {
  it('of an update in an endless loop reach the limit', async () => {
    expect(await run({ body: '(loop $l (br $l))' })).toMatch(
      /^IC0522: Error from Canister .*: Canister exceeded the limit of 1000000 instructions for /,
    );
  });

  it('of a query have a separate limit', async () => {
    const text = await run({ body: '(loop $l (br $l))', kind: 'query' });
    expect(text).toContain('the limit of 500000 instructions');
  });

  it('are also charged for system calls', async () => {
    const body = '(loop $l (drop (call $time)) (br $l))';
    expect(await run({ imports: ['time'], body })).toContain('IC0522');
  });

  it('are counted by performance_counter for this message only', async () => {
    const replica = startTestReplica();
    const body = `(func (export "canister_update f")
      (call $reply64 (call $performance_counter (i32.const 0))))`;
    const id = await replica.install(canister(['performance_counter'], body));
    const counted = 1 + 1 + 5 + 5 + 200;
    expect(numberOf(await replica.update(id, 'f'))).toBe(counted);
    expect(numberOf(await replica.update(id, 'f'))).toBe(counted);
  });
});

describe("a trap has the network's error text for", () => {
  it.each([
    ['unreachable', 'unreachable'],
    ['(drop (i32.load (i32.const 65536)))', 'heap out of bounds'],
    ['(drop (i32.div_u (i32.const 1) (i32.const 0)))', 'integer division by 0'],
    ['(drop (i32.trunc_f64_s (f64.const nan)))', 'unknown'],
    ['(drop (i32.div_s (i32.const -2147483648) (i32.const -1)))', 'unknown'],
  ])('%s', async (body, message) => {
    expect(await run({ body })).toMatch(
      new RegExp(
        `^IC0502: Error from Canister .*: Canister trapped: ${message}\\.\\nConsider .*#trapped$`,
      ),
    );
  });

  it('a recursion without end, which overflows the stack', async () => {
    const replica = startTestReplica();
    const module = canister([], `${alive} (func $f (export "canister_update f") (call $f))`);
    const id = await replica.install(module);
    expect(textOf(await replica.update(id, 'f'))).toMatch(
      /^IC0502: .*trapped: stack overflow\.\nConsider /,
    );
    expect(numberOf(await replica.query(id, 'alive'))).toBe(1);
  });

  it('ic0.trap with its message', async () => {
    const body = '(call $trap (i32.const 0) (i32.const 0))';
    expect(await run({ imports: ['trap'], body })).toMatch(
      /^IC0503: Error from Canister .*: Canister called `ic0.trap` with message: ''\.\nConsider .*#trapped-explicitly$/,
    );
  });

  it('stable memory out of bounds', async () => {
    const body = '(call $stable64_write (i64.const 0) (i64.const 0) (i64.const 1))';
    expect(await run({ imports: ['stable64_write'], body })).toContain(
      'Canister trapped: stable memory out of bounds',
    );
  });

  it('addresses outside the heap', async () => {
    const body = '(call $msg_reply_data_append (i32.const 65530) (i32.const 7))';
    expect(await run({ body })).toMatch(
      /^IC0504: .*Canister violated contract: .*exceeds the slice/,
    );
  });
});

describe('a reply', () => {
  const append = (bytes: number) =>
    `(memory 64) (func (export "canister_update f")
      (call $msg_reply_data_append (i32.const 0) (i32.const ${bytes})) (call $msg_reply))
    (func (export "canister_query q")
      (call $msg_reply_data_append (i32.const 0) (i32.const ${bytes})) (call $msg_reply))`;

  it.each([
    ['update', 2_097_152],
    ['query', 3_145_728],
  ] as const)('of an %s has at most %i bytes', async (kind, most) => {
    const replica = startTestReplica();
    const method = kind === 'update' ? 'f' : 'q';
    const good = await replica.install(canister([], append(most)));
    const reply = await replica[kind](good, method);
    expect(reply.status === 'replied' && reply.arg.length).toBe(most);
    const bad = await replica.install(canister([], append(most + 1)));
    expect(textOf(await replica[kind](bad, method))).toContain(
      `application payload size (${most + 1}) cannot be larger than ${most}`,
    );
  });
});

describe('certified data', () => {
  it('has at most 32 bytes', async () => {
    const body = '(call $certified_data_set (i32.const 0) (i32.const 33))';
    expect(await run({ imports: ['certified_data_set'], body })).toContain(
      'the passed data must be no larger than 32 bytes. Found 33 bytes',
    );
  });
});

describe('stable memory', () => {
  it('has a limit of changes per message', async () => {
    const replica = startTestReplica({ limits: { updateStableBytesMax: 8_192 } });
    const write = (page: number) =>
      `(call $stable64_write (i64.const ${page * 4096}) (i64.const 0) (i64.const 1))`;
    const module = canister(
      ['stable64_grow', 'stable64_write'],
      `(func (export "canister_init") (drop (call $stable64_grow (i64.const 1))))
      (func (export "canister_update two") ${write(0)} ${write(1)} (call $msg_reply))
      (func (export "canister_update three")
        ${write(2)} ${write(3)} ${write(4)} (call $msg_reply))`,
    );
    const id = await replica.install(module);
    expect((await replica.update(id, 'two')).status).toBe('replied');
    expect(textOf(await replica.update(id, 'three'))).toMatch(
      /^IC0524: .*modified pages .*limit 8 KB for regular messages/,
    );
  });
});

describe('the heap', () => {
  it('stays below wasm_memory_limit', async () => {
    const replica = startTestReplica();
    const grow = `(memory 1) (func (export "canister_update f")
      (drop (memory.grow (i32.const 2))) (call $reply32 (i32.const 0)))`;
    const id = await replica.install(canister([], grow));
    replica.engine.updateSettings(id, { wasmMemoryLimit: 131_072n });
    expect(textOf(await replica.update(id, 'f'))).toMatch(/^IC0539: .*131072 bytes/);
    replica.engine.updateSettings(id, { wasmMemoryLimit: 1_000_000n });
    expect(numberOf(await replica.update(id, 'f'))).toBe(0);
  });
});

describe('cycles', () => {
  it('pay for reception, execution and instructions', async () => {
    const replica = startTestReplica();
    const id = await replica.install(
      canister([], '(func (export "canister_update f") (call $msg_reply))'),
    );
    const before = replica.engine.canister(id)?.cycles ?? 0n;
    await replica.update(id, 'f', new Uint8Array(99));
    const report = replica.engine.lastReport();
    const price = 1_200_000n + 2_000n * 100n + 5_000_000n + (report?.instructions ?? 0n);
    expect(report?.cycles).toBe(price);
    expect(before - (replica.engine.canister(id)?.cycles ?? 0n)).toBe(price);
  });

  it('that are insufficient cause a transient reject', async () => {
    const replica = startTestReplica({ limits: { installInstructions: 1_000_000n } });
    const module = canister([], '(func (export "canister_update f") (call $msg_reply))');
    const id = await replica.install(module, 100_000_000n);
    expect(textOf(await replica.update(id, 'f'))).toMatch(/^IC0207: Canister .* is out of cycles/);
  });
});
