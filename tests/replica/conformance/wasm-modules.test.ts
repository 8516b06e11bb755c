// The modules that the network accepts and refuses, by its specification and its source.

import { describe, expect, it, test } from 'vitest';
import { ic0Interface } from '../../../packages/replica/src/execution/ic0-table.ts';
import type { CompiledModule } from '../../../packages/replica/src/wasm/compile.ts';
import { createCompiler } from '../../../packages/replica/src/wasm/compile.ts';
import {
  custom,
  exportsOf,
  functions,
  rawModule,
  repeat,
  section,
  sectionId,
  vector,
} from '../../support/wasm-canisters/raw-module.ts';
import { anybody, plenty, startTestReplica } from '../../support/wasm-canisters/test-replica.ts';
import { assemble } from '../../support/wasm-canisters/text-module.ts';

function compile(module: Uint8Array): CompiledModule {
  return createCompiler(ic0Interface)(module, 'a module');
}

function compileText(text: string): CompiledModule {
  return compile(assemble(`(module ${text})`));
}

const nothing = [[]];
const nop = 0x01;
const emptyBlock = [0x02, 0x40, 0x0b];
const methods = (count: number) =>
  repeat(count, '').map((_, index) => `canister_query ${String(index).padStart(20, '0')}`);

describe('Interface specification, "WebAssembly module requirements": limits', () => {
  const withNames = (names: readonly string[]) =>
    rawModule(...functions(nothing, [exportsOf(names)]));
  test.each([
    [
      'functions',
      (more: number) => rawModule(...functions(repeat(50_000 + more, []))),
      'Wasm module defined 50001 functions which exceeds the maximum number allowed 50000.',
    ],
    [
      'globals',
      (more: number) =>
        rawModule(vector(sectionId.global, repeat(1_000 + more, [0x7f, 0, 0x41, 0, 0x0b]))),
      'Wasm module defined 1001 globals which exceeds the maximum number allowed 1000.',
    ],
    [
      'exported custom sections',
      (more: number) =>
        rawModule(...repeat(16 + more, '').map((_, at) => custom(`icp:public ${at}`))),
      'Wasm module defined 17 custom sections which exceeds the maximum number allowed 16.',
    ],
    [
      'bytes of custom sections and their names',
      (more: number) =>
        rawModule(custom('icp:public abcd', 1_000), custom('icp:private ef', 1_047_570 + more)),
      'size 1048577 bytes, allowed 1048576 bytes',
    ],
    [
      'methods',
      (more: number) => withNames(methods(1_000 + more)),
      '`canister_composite_query <name>` is 1001 which exceeds 1000.',
    ],
    [
      'bytes of the names of methods',
      (more: number) => withNames([...methods(999), `canister_update ${'m'.repeat(20 + more)}`]),
      'is 20001 which exceeds the allowed limit of 20000.',
    ],
  ])('as many %s as it allows are accepted, and no more', (_what, make, refusal) => {
    expect(() => compile(make(0))).not.toThrow();
    expect(() => compile(make(1))).toThrow(refusal);
  });
});

describe('rs/embedders/src/wasm_utils/validation.rs: limits', () => {
  test('WASM_FUNCTION_COMPLEXITY_LIMIT: a block weighs 50, an end and a nop 1', () => {
    const blocks = repeat(19_607, emptyBlock).flat();
    const make = (nops: number) => rawModule(...functions([[], [...blocks, ...repeat(nops, nop)]]));
    expect(() => compile(make(42))).not.toThrow();
    expect(() => compile(make(43))).toThrow(
      'Wasm module contains a function at index 1 with complexity 1000001 which exceeds the ' +
        'maximum complexity allowed 1000000.',
    );
  });

  test('MAX_CODE_SECTION_SIZE_IN_BYTES and WASM_MAX_SIZE apply before anything is parsed', () => {
    const code = section(sectionId.code, new Uint8Array(12 * 2 ** 20 + 1));
    expect(() => compile(rawModule(code))).toThrow(
      'Wasm module code section size of 12582913 exceeds the maximum allowed size of 12582912.',
    );
    expect(() => compile(new Uint8Array(100 * 2 ** 20 + 1))).toThrow(
      'Wasm module size of 104857601 exceeds the maximum allowed size of 104857600.',
    );
  });
});

describe('Interface specification, "WebAssembly module requirements": names and types', () => {
  test.each([
    [
      'two kinds of one method',
      '(func $f) (export "canister_update f" (func $f)) (export "canister_query f" (func $f))',
      "Duplicate function 'f' exported multiple times with different call types",
    ],
    [
      'a method with a parameter',
      '(func (export "canister_update f") (param i64))',
      "Expected input params [] for 'canister_update f', got [I64].",
    ],
    [
      'an entry point with a result',
      '(func (export "canister_on_low_wasm_memory") (result i32) (i32.const 0))',
      "Expected return type [] for 'canister_on_low_wasm_memory', got [I32].",
    ],
    [
      'another name that begins with canister_',
      '(func (export "canister_nonsense"))',
      'Exporting reserved function \'canister_nonsense\' with "canister_" prefix',
    ],
    [
      'a method without a name or a space',
      '(func (export "canister_query"))',
      'Exporting reserved function \'canister_query\' with "canister_" prefix',
    ],
    [
      'a name of the instrumentation, also for a global',
      '(global (export "canister counter_instructions") i32 (i32.const 1))',
      'Exporting reserved symbol canister counter_instructions not allowed.',
    ],
    [
      "a name of this replica's instrumentation",
      '(func (export "replica counter"))',
      "Names that begin with 'replica ' are reserved for the local replica.",
    ],
    [
      'a function that ic0 does not have',
      '(import "ic0" "nope" (func))',
      "Module imports function 'nope' from 'ic0' that is not exported by the runtime.",
    ],
    [
      'a function of ic0 from another module',
      '(import "env" "time" (func (result i64)))',
      'Module imports function "time" from "env", expected to be imported from one of ["ic0"]',
    ],
    [
      'a function of ic0 by a wrong type',
      '(import "ic0" "msg_caller_copy" (func (param i64 i64 i64)))',
      "Expected input params [I32, I32, I32] for 'msg_caller_copy', got [I64, I64, I64].",
    ],
    ['a global of another module', '(import "env" "g" (global i32))', 'Importing globals is not'],
    [
      'a memory of another module',
      '(import "env" "m" (memory 1))',
      'unknown import: `env::m` has not been defined',
    ],
  ])('%s is refused', (_what, text, refusal) => {
    expect(() => compileText(text)).toThrow(refusal);
  });

  test.each([
    ['icp:public', "'icp:' section names must have a space after the public/private scope"],
    ['icp:private', "'icp:' section names must have a space after the public/private scope"],
    ['icp:dummy name', "Custom section 'icp:dummy name' has no public/private scope defined."],
  ])('a custom section with the name "%s" is refused', (name, refusal) => {
    expect(() => compile(rawModule(custom(name)))).toThrow(refusal);
  });

  it('a custom section may be public or private, but its name may occur only once', () => {
    const named = rawModule(custom('icp:public a', 2), custom('icp:private b'), custom('icp'));
    expect([...compile(named).metadata]).toEqual([
      ['a', { isPublic: true, content: new Uint8Array(2) }],
      ['b', { isPublic: false, content: new Uint8Array() }],
    ]);
    const twice = rawModule(custom('icp:public a'), custom('icp:private a'));
    expect(() => compile(twice)).toThrow('Invalid custom section: name a already exists');
  });

  it('names of methods may have spaces, and a memory may have the name of one', () => {
    const text = `(func $f) (export "canister_query my f" (func $f))
      (export "canister_update my g" (func $f)) (memory (export "canister_query my h") 1)`;
    expect([...compileText(text).exports]).toEqual(
      expect.arrayContaining(['canister_query my f', 'canister_update my g']),
    );
    expect(compileText(text).exports).not.toContain('canister_query my h');
  });
});

describe('rs/embedders/src/wasm_utils/validation.rs: what code may not do', () => {
  const table = '(table 2 funcref) (func $f) (elem declare func $f) (elem $e func $f)';
  const entry = '(i32.const 0) (ref.func $f)';
  test.each([
    ['table.set', `(table.set 0 ${entry})`],
    ['table.grow', '(drop (table.grow 0 (ref.func $f) (i32.const 1)))'],
    ['table.fill', `(table.fill 0 ${entry} (i32.const 1))`],
    ['table.copy', '(table.copy 0 0 (i32.const 0) (i32.const 0) (i32.const 0))'],
    ['table.init', '(table.init 0 $e (i32.const 0) (i32.const 0) (i32.const 0))'],
  ])('%s is refused, since tables are created again for each message', (name, body) => {
    expect(() => compileText(`${table} (func ${body})`)).toThrow(
      `Wasm module contains a function at index 1 with unsupported instruction ${name}.`,
    );
  });

  test.each([
    [
      'a global that holds a function',
      '(global funcref (ref.null func))',
      'Unsupported global type: funcref',
    ],
    [
      'a data segment whose offset is not constant',
      '(memory 1) (global $g i32 (i32.const 1)) (data (global.get $g) "abc")',
      'Invalid offset expression in data segment for 32bit memory',
    ],
  ])('%s is refused', (_what, text, refusal) => {
    expect(() => compileText(text)).toThrow(refusal);
  });
});

describe('wasmtime_validation_config: unsupported proposals', () => {
  const type = vector(sectionId.type, [[0x60, 0, 0]]);
  const memory = (...limits: number[]) => rawModule(vector(sectionId.memory, [limits]));
  const relaxed = [...repeat(3, [0xfd, 0x0c, ...repeat(16, 0)]).flat(), 0xfd, 0x87, 0x02, 0x1a];
  const extendedConstant = [0x7f, 0, 0x41, 1, 0x41, 1, 0x6a, 0x0b];
  test.each([
    ['threads', memory(3, 1, 1), 'threads must be enabled'],
    ['custom page sizes', memory(9, 1, 1, 0), 'custom page sizes'],
    [
      'multiple memories',
      rawModule(
        vector(sectionId.memory, [
          [0, 1],
          [0, 1],
        ]),
      ),
      'multiple memories',
    ],
    [
      'extended constant expressions',
      rawModule(vector(sectionId.global, [extendedConstant])),
      'constant expression required',
    ],
    ['relaxed SIMD', rawModule(...functions([relaxed])), '0xfd 263 is not supported'],
    ['exceptions', rawModule(...functions([[0x06, 0x40, 0x0b]])), '0x6 is not supported'],
    ['atomics', rawModule(...functions([[0xfe, 0x03, 0x00]])), '0xfe is not supported'],
    [
      'function references',
      rawModule(vector(sectionId.type, [[0x60, 1, 0x64, 0x70, 0]])),
      'value type 0x64',
    ],
    [
      'a start function that takes an argument',
      rawModule(
        vector(sectionId.type, [[0x60, 1, 0x7f, 0]]),
        vector(sectionId.function, [[0]]),
        section(sectionId.start, [0]),
        vector(sectionId.code, [[2, 0, 0x0b]]),
      ),
      'invalid start function type',
    ],
    ['sections in another order', rawModule(section(sectionId.start, [0]), type), 'out of order'],
  ])('%s', (_name, module, refusal) => {
    expect(() => compile(module)).toThrow(refusal);
  });

  it('tail calls, SIMD, multiple results, saturating truncation and bulk memory are accepted', () => {
    const tail = rawModule(...functions([[0x12, 0]]));
    expect(() => compile(tail)).not.toThrow();
    const others = `(memory 1) (func (result i32 v128) (i32.trunc_sat_f32_s (f32.const 1))
      (v128.const i64x2 1 1)) (func (memory.copy (i32.const 0) (i32.const 8) (i32.const 4)))`;
    expect(() => compileText(others)).not.toThrow();
  });
});

describe('the codes of refusals', () => {
  const twoTables = rawModule(
    vector(sectionId.table, [
      [0x70, 0, 1],
      [0x70, 0, 1],
    ]),
  );
  const largeTable = rawModule(vector(sectionId.table, [[0x70, 0, 0xc1, 0x84, 0x3d]]));
  test.each([
    ['CanisterInvalidWasm', rawModule(custom('icp:x')), /^IC0505.*Wasm module is not valid: /],
    [
      'CanisterInvalidWasm: a data segment beyond the memory',
      assemble('(module (memory 1) (data (i32.const 65535) "ab"))'),
      /^IC0505.*Wasm module is not valid: .*data segment/,
    ],
    [
      'CanisterWasmEngineError: an element segment beyond the table',
      assemble('(module (table 1 funcref) (func $f) (elem (i32.const 1) $f))'),
      /^IC0521.*Failed to instantiate module: /,
    ],
    ['CanisterWasmEngineError: MAX_STORE_TABLES', twoTables, /^IC0521.*table count too high at 2/],
    [
      'CanisterWasmEngineError: MAX_STORE_TABLE_ELEMENTS',
      largeTable,
      /^IC0521.*of 1000001 elements exceeds table limits of 1000000/,
    ],
  ])('%s', async (_name, module, expected) => {
    const { engine } = startTestReplica();
    const canisterId = engine.create({ controllers: [anybody], cycles: plenty });
    if ('status' in canisterId) throw new Error(canisterId.message);
    const mode = 'install';
    const arg = new Uint8Array();
    const refused = await engine.install({ canisterId, module, mode, arg, sender: anybody });
    expect(`${refused?.errorCode} ${refused?.message}`).toMatch(expected);
  });
});
