import { describe, expect, it } from 'vitest';
import {
  counterExport,
  exhaustedExport,
  instrument,
} from '../../../packages/replica/src/wasm/instrument.ts';
import { cutSections } from '../../../packages/replica/src/wasm/sections.ts';
import type { WasmGlobal } from '../../../packages/replica/src/wasm/web-assembly.ts';
import { webAssembly } from '../../../packages/replica/src/wasm/web-assembly.ts';
import { assemble } from '../../support/wasm-canisters/text-module.ts';

const plenty = 1_000_000_000n;

function load(text: string, limit = plenty) {
  const { module, ...shape } = instrument(cutSections(assemble(text)));
  const { exports } = new webAssembly.Instance(new webAssembly.Module(module), {});
  const counter = exports[counterExport] as WasmGlobal;
  const exhausted = exports[exhaustedExport] as WasmGlobal;
  return {
    shape,
    exhausted,
    cost(name: string, ...args: number[]): number {
      counter.value = limit;
      (exports[name] as (...args: number[]) => void)(...args);
      return Number(limit - (counter.value as bigint));
    },
  };
}

/** Returns the cost of one call of a function. */
function costOf(body: string, ...args: number[]): number {
  return load(`(module (memory 1) (table 4 funcref) (global $g (mut i32) (i32.const 0))
    (func $other) (elem declare func $other) (data $d "abcd") (func (export "f") ${body}))`).cost(
    'f',
    ...args,
  );
}

describe('a function is charged', () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ['1 for its entry when it is empty', '', 1],
    ['1 for a constant and 1 for a drop', '(drop (i32.const 1))', 3],
    ['10 for a division', '(drop (i32.div_u (i32.const 1) (i32.const 1)))', 1 + 2 + 10 + 1],
    ['2 for a global', '(global.set $g (global.get $g))', 1 + 4],
    ['5 for a call and 1 for the entry of its function', '(call $other)', 1 + 5 + 1],
    ['20 for memory.size', '(drop (memory.size))', 1 + 20 + 1],
    ['300 for memory.grow', '(drop (memory.grow (i32.const 1)))', 1 + 1 + 300 + 1],
    ['8 for f64.sqrt', '(drop (f64.sqrt (f64.const 4)))', 1 + 1 + 8 + 1],
    ['18 for f32.min', '(drop (f32.min (f32.const 1) (f32.const 2)))', 1 + 2 + 18 + 1],
    ['16 for an unsigned conversion', '(drop (f64.convert_i32_u (i32.const 1)))', 1 + 1 + 16 + 1],
    ['130 for ref.func', '(drop (ref.func $other))', 1 + 130 + 1],
    ['5 for table.get', '(drop (table.get 0 (i32.const 0)))', 1 + 1 + 5 + 1],
    ['300 for data.drop', '(data.drop $d)', 1 + 300],
    ['0 for block and end', '(block (nop))', 1 + 1],
    [
      '4 for i64x2.mul',
      '(drop (i64x2.mul (v128.const i64x2 1 1) (v128.const i64x2 2 2)))',
      1 + 2 + 4 + 1,
    ],
    ['14 for f64x2.sqrt', '(drop (f64x2.sqrt (v128.const i64x2 1 1)))', 1 + 1 + 14 + 1],
    [
      '100 and 1 per byte for memory.fill',
      '(memory.fill (i32.const 0) (i32.const 0) (i32.const 777))',
      1 + 3 + 100 + 777,
    ],
    [
      '100 and 1 per byte for memory.copy',
      '(memory.copy (i32.const 0) (i32.const 8) (i32.const 50))',
      1 + 3 + 100 + 50,
    ],
    [
      '100 and 1 per byte for memory.init',
      '(memory.init $d (i32.const 0) (i32.const 0) (i32.const 4))',
      1 + 3 + 100 + 4,
    ],
  ];
  it.each(cases)('%s', (_law, body, cost) => {
    expect(costOf(body)).toBe(cost);
  });

  it('only for the branch that it takes', () => {
    const body = '(param i32) (if (local.get 0) (then (nop)) (else (nop) (nop) (nop)))';
    expect(costOf(body, 1)).toBe(1 + 1 + 2 + 1);
    expect(costOf(body, 0)).toBe(1 + 1 + 2 + 3);
  });

  it('for each iteration of a loop', () => {
    const body = `(param i32) (loop $again
      (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
      (br_if $again (local.get 0)))`;
    const turn = 4 + 1 + 2;
    expect(costOf(body, 1)).toBe(1 + turn);
    expect(costOf(body, 1000)).toBe(1 + 1000 * turn);
  });
});

describe('the limit', () => {
  it('aborts an endless loop and reports the limit as the cause', () => {
    const module = load('(module (func (export "f") (loop $l (br $l))))', 10_000n);
    expect(() => module.cost('f')).toThrow('unreachable');
    expect(module.exhausted.value).toBe(1);
  });

  it('aborts an endless recursion of cheap calls', () => {
    const module = load('(module (func $f (export "f") (call $f)))', 1_000n);
    expect(() => module.cost('f')).toThrow('unreachable');
    expect(module.exhausted.value).toBe(1);
  });

  it('aborts a bulk instruction before it runs', () => {
    const fill = '(memory.fill (i32.const 0) (i32.const 1) (i32.const 60000))';
    const module = load(`(module (memory 1) (func (export "f") ${fill}))`, 1_000n);
    expect(() => module.cost('f')).toThrow('unreachable');
    expect(module.exhausted.value).toBe(1);
  });

  it('is not reported as the cause of a trap for another reason', () => {
    const module = load('(module (func (export "f") unreachable))');
    expect(() => module.cost('f')).toThrow('unreachable');
    expect(module.exhausted.value).toBe(0);
  });
});

describe('instrument()', () => {
  it('accepts modules without memory, table, globals or functions', () => {
    expect(() => load('(module)')).not.toThrow();
    expect(load('(module)').shape).toEqual({
      globalTypes: [],
      address: 'i',
      tableAddress: 'i',
      // Three globals of the network, of two instructions each.
      instructions: 6,
      hasStart: false,
      globals: [],
      vectors: [],
    });
  });

  it.each([
    ['an empty function: its end, a charge of 4, a check of 6', '(func)', 1 + 10],
    ['a loop: another charge and check', '(func (loop (nop)))', 4 + 10 + 10],
    ['an empty loop: the check needs its charge', '(func (loop))', 3 + 10 + 10],
    ['a branch: another charge', '(func (if (i32.const 1) (then (nop))))', 5 + 10 + 4],
    ['memory.grow: 3', '(memory 1) (func (drop (memory.grow (i32.const 1))))', 4 + 10 + 3],
    [
      'a length of 32 bits: 3',
      '(memory 1) (func (memory.fill (i32.const 0) (i32.const 1) (i32.const 6)))',
      5 + 10 + 3,
    ],
    ['a global: 2', '(global i32 (i32.const 1))', 2],
  ])('counts what the network compiles for %s', (_, text, instructions) => {
    expect(load(`(module ${text})`).shape.instructions).toBe(6 + instructions);
  });

  it('exports only the mutable globals', () => {
    const text = '(module (global i32 (i32.const 1)) (global (mut i64) (i64.const 1)))';
    expect(load(text).shape.globals).toEqual([1]);
  });

  it('keeps a dropped segment available', () => {
    const text = `(module (memory 1) (data $d "abcd")
      (func (export "f")
        (memory.init $d (i32.const 0) (i32.const 0) (i32.const 4)) (data.drop $d)))`;
    const module = load(text);
    module.cost('f');
    expect(() => module.cost('f')).not.toThrow();
  });

  it('refuses a truncated module', () => {
    const whole = assemble('(module (memory 1) (func (export "f") (loop (br 0))))');
    for (let length = 0; length < whole.length; length += 1) {
      const part = whole.slice(0, length);
      // A cut between two sections leaves a shorter, well-formed module.
      try {
        instrument(cutSections(part));
      } catch (error) {
        expect((error as Error).name).toBe('InvalidModule');
      }
    }
  });
});
