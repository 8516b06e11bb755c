// The System API table: runs every function in every context.

import { describe, expect, it } from 'vitest';
import type { HostSlot, World } from '../../../packages/replica/src/execution/canister.ts';
import { openContext } from '../../../packages/replica/src/execution/canister.ts';
import { newRecord } from '../../../packages/replica/src/execution/canister-record.ts';
import type { Context } from '../../../packages/replica/src/execution/context.ts';
import { contexts } from '../../../packages/replica/src/execution/context.ts';
import { createCanister } from '../../../packages/replica/src/execution/core-state.ts';
import { createExecution } from '../../../packages/replica/src/execution/execution.ts';
import { createHost } from '../../../packages/replica/src/execution/ic0-host.ts';
import { ic0Interface, ic0Table } from '../../../packages/replica/src/execution/ic0-table.ts';
import { networkLimits } from '../../../packages/replica/src/execution/limits.ts';
import { runEntry } from '../../../packages/replica/src/execution/run-entry.ts';
import { Sandbox } from '../../../packages/replica/src/execution/sandbox.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';
import { createCompiler } from '../../../packages/replica/src/wasm/compile.ts';
import { anybody, plenty } from '../../support/wasm-canisters/test-replica.ts';
import { assemble } from '../../support/wasm-canisters/text-module.ts';
import { specifiedContexts } from './system-api-contexts.ts';

const types = { i: 'i32', I: 'i64' } as const;
const compile = createCompiler(ic0Interface);

function letters(text: string): string[] {
  return [...text].map((letter) => (letter === 'i' ? types.i : types.I));
}

/** Returns a module whose function `f` calls one function of `ic0` with zeros. */
function callerOf(name: string, withArguments?: string): Uint8Array {
  const { params = '', results = '' } = ic0Interface.i.get(name) ?? {};
  const signature = [
    ...letters(params).map((type) => `(param ${type})`),
    ...letters(results).map((type) => `(result ${type})`),
  ].join(' ');
  const zeros = letters(params).map((type) => `(${type}.const 0)`);
  const call = withArguments ?? `(call $f ${zeros.join(' ')})`;
  return assemble(`(module (import "ic0" "${name}" (func $f ${signature})) (memory 1)
    (func (export "f") ${results ? `(drop ${call})` : call}))`);
}

const world: World = {
  waitingCalls: { count: 0 },
  now: () => 1n,
  limits: networkLimits,
  dataCertificate: () => Uint8Array.of(1),
  rootKey: () => Uint8Array.of(1),
  subnetId: () => Uint8Array.of(1),
  subnetType: 'application',
  onPrint: () => undefined,
  reservedIds: new Set(),
};

/** Runs the function in that context; the message is empty if it does not trap. */
function attempt(
  sandbox: Sandbox,
  slot: HostSlot,
  context: Context,
): { readonly message: string; readonly instructions: bigint } {
  const canister = createCanister(anybody, newRecord([anybody], plenty));
  const execution = createExecution({
    world,
    context,
    canister,
    sandbox,
    stable: createMemoryStore().stableMemory('x'),
    limit: 1_000_000n,
    time: 1n,
    callContext: openContext({ canister, caller: Uint8Array.of(4), respond: () => undefined }),
    hasCertificate: true,
    rejectMessage: Uint8Array.of(65),
  });
  const result = runEntry({ execution, slot, invoke: (own) => own.callExport('f') });
  sandbox.rollback();
  const pages = BigInt(result.heapPages) * 1_000n;
  return {
    message: result.trap?.message ?? '',
    instructions: result.instructions - pages,
  };
}

function isSpecified(name: string, context: Context): boolean {
  const words = (specifiedContexts[name] ?? '').split(' ');
  return words.includes(context) || (words.includes('*') && context !== 's');
}

/** Fixed costs of the functions whose fixed cost is not 500. */
const specialCosts: Readonly<Record<string, number>> = {
  call_new: 1_500,
  call_perform: 5_000,
  is_controller: 1_000,
  performance_counter: 200,
  debug_print: 100,
  stable_size: 20,
  stable_read: 20,
  stable_write: 20,
  stable64_size: 20,
  stable64_read: 20,
  stable64_write: 20,
  stable_grow: 100,
  stable64_grow: 100,
  mint_cycles128: 0,
};

describe('the cost of a call', () => {
  it.each(Object.keys(specifiedContexts))("of %s equals the network's charge", (name) => {
    const slot: HostSlot = { execution: undefined };
    const sandbox = new Sandbox(compile(callerOf(name), name), createHost(slot, 'i'));
    const context = contexts.find((one) => isSpecified(name, one)) ?? 'U';
    const used = attempt(sandbox, slot, context).instructions;
    const { params = '', results = '' } = ic0Interface.i.get(name) ?? {};
    const wasm = 1 + params.length + 5 + results.length;
    expect(Number(used) - wasm).toBe(specialCosts[name] ?? 500);
  });

  it.each([
    ['certified_data_set', 'I', '(call $f (i32.const 0) (i32.const 30))', 30],
    ['msg_reply_data_append', 'U', '(call $f (i32.const 0) (i32.const 30))', 30 * 50],
    ['msg_reject', 'U', '(call $f (i32.const 0) (i32.const 30))', 30 * 50],
    ['stable64_read', 'U', '(call $f (i64.const 0) (i64.const 0) (i64.const 30))', 30],
  ] as const)('of %s grows with its bytes', (name, context, call, bytes) => {
    const slot: HostSlot = { execution: undefined };
    const sandbox = new Sandbox(
      compile(callerOf(name, call), `${name} ${call}`),
      createHost(slot, 'i'),
    );
    const { instructions } = attempt(sandbox, slot, context);
    const params = ic0Interface.i.get(name)?.params.length ?? 0;
    expect(Number(instructions)).toBe(1 + params + 5 + (specialCosts[name] ?? 500) + bytes);
  });
});

describe('the System API table', () => {
  it('has every function of the specification, once, and no other', () => {
    const names = ic0Table.map((row) => row.name);
    expect([...names].sort()).toEqual(Object.keys(specifiedContexts).sort());
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(Object.keys(specifiedContexts))('%s is legal only in its contexts', (name) => {
    const slot: HostSlot = { execution: undefined };
    const sandbox = new Sandbox(compile(callerOf(name), name), createHost(slot, 'i'));
    const legal = contexts.filter((context) => {
      const { message } = attempt(sandbox, slot, context);
      return !/"ic0_\w+" cannot be executed in .* mode/.test(message);
    });
    expect(legal).toEqual(contexts.filter((context) => isSpecified(name, context)));
  });
});
