import binaryen from 'binaryen';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildKernel } from '../../scripts/kernel.ts';
import { callbacksStart, mergeKernel } from '../../scripts/merge-wasm.ts';
import { readExports, readImports, readSections } from '../../scripts/wasm-sections.ts';
import { open, seal } from '../../src/crypto/aead.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { installKernelCall, kernelSelfTest } from '../../src/crypto/kernel.ts';
import { mergedDataSize, readMergedData } from '../../src/storage/merged-data.ts';
import { spaceGrow, spaceRead, spaceWrite } from '../../src/storage/stable-space.ts';
import {
  createKernelCall,
  FakeSystem,
  systemFunctions,
  type WasmMemory,
  WebAssembly,
} from '../support/kernel-host.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

/**
 * The smallest canister that uses the functions that the kernel replaces, and `time`, which it
 * keeps.
 */
const canisterText = `(module
  (import "ic0" "certified_data_set" (func $certify (param i32 i32)))
  (import "ic0" "time" (func $time (result i64)))
  (import "ic0" "stable64_size" (func $size (result i64)))
  (import "ic0" "stable64_grow" (func $grow (param i64) (result i64)))
  (import "ic0" "call_new" (func $new (param i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "ic0" "call_on_cleanup" (func $on_cleanup (param i32 i32)))
  (import "ic0" "call_perform" (func $perform (result i32)))
  (memory 256)
  (table 3 3 funcref)
  (elem (i32.const 1) $time $size)
  (export "memory" (memory 0))
  (func (export "certify") (param i32 i32) (call $certify (local.get 0) (local.get 1)))
  (func (export "time") (result i64) (call $time))
  (func (export "size") (result i64) (call $size))
  (func (export "grow") (param i64) (result i64) (call $grow (local.get 0))))`;

interface CanisterExports {
  readonly memory: WasmMemory;
  certify(pointer: number, length: number): void;
  time(): bigint;
  size(): bigint;
  grow(pages: bigint): bigint;
}

let merged: Uint8Array;

function assemble(text: string): Uint8Array {
  return binaryen.parseText(text).emitBinary();
}

/** Longer than a page of memory, because merged data must not enlarge the memory. */
const data = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);

async function merge(text: string): Promise<Uint8Array> {
  return mergeKernel({ canister: assemble(text), kernel: await buildKernel(), data });
}

beforeAll(async () => {
  merged = await merge(canisterText);
});

describe('mergeKernel(): the merged module', () => {
  test('imports only from ic0, and only what the canister and the kernel need', () => {
    const imports = readImports(readSections(merged));
    expect(new Set(imports.map(({ module }) => module))).toEqual(new Set(['ic0']));
    expect(imports.map(({ name }) => name).sort()).toEqual([
      'call_new',
      'call_on_cleanup',
      'call_perform',
      'call_with_best_effort_response',
      'canister_liquid_cycle_balance128',
      'canister_self_copy',
      'canister_self_size',
      'canister_version',
      'certified_data_set',
      'cost_create_canister',
      'cost_vetkd_derive_key',
      'debug_print',
      'env_var_name_exists',
      'env_var_value_copy',
      'env_var_value_size',
      'global_timer_set',
      'msg_caller_copy',
      'msg_caller_size',
      'msg_reject',
      'msg_reject_msg_copy',
      'msg_reject_msg_size',
      'msg_reply',
      'msg_reply_data_append',
      'stable64_grow',
      'stable64_read',
      'stable64_size',
      'stable64_write',
      'time',
      'trap',
    ]);
  });

  test('exports what the canister exported and no more', () => {
    const names = readExports(readSections(merged)).map(({ name }) => name);
    expect(names.sort()).toEqual(['certify', 'grow', 'memory', 'size', 'time']);
  });

  test("has the kernel's callbacks at the same table indexes as every earlier version", () => {
    const module = binaryen.readBinary(merged);
    expect(module.emitText()).toMatch(/\(table \S+ 16387 16387 funcref\)/);
    const segments = Array.from({ length: module.getNumElementSegments() }, (_, index) => {
      const { offset, data } = binaryen.getElementSegmentInfo(
        module.getElementSegmentByIndex(index),
      );
      const start = binaryen.getExpressionInfo(offset) as { value?: number };
      return [start.value, data.length];
    });
    module.dispose();
    expect(segments).toEqual([
      [1, 2],
      [16_384, 3],
    ]);
    expect(callbacksStart).toBe(16_384);
  });

  test('has the same bytes each time', async () => {
    expect(Buffer.compare(await merge(canisterText), merged)).toBe(0);
  });
});

describe('mergeKernel() refuses', () => {
  test.each([
    ['a canister without memory', '(memory 256)', '(memory $m 1)', 'exports no memory'],
    ['an uncertified canister', '"certified_data_set"', '"data_certificate_copy"', 'certified'],
    ['a canister with 32-bit stable memory', '"stable64_size"', '"stable_size"', 'would bypass it'],
    ['a canister with a kernel export', '"grow") (param', '"stable64_grow") (param', 'same'],
    ['a canister without call_new', '"call_new"', '"call_other"', 'does not import call_new'],
    ['a canister without cleanups', '"call_on_cleanup"', '"call_other"', 'import call_on_cleanup'],
    ['a canister without call_perform', '"call_perform"', '"call_other"', 'import call_perform'],
    ['a canister with too large a table', '(table 3 3', '(table 3 20000', 'has 20000 places'],
    ['a canister with two tables', '(table 3 3', '(table $b 1 1 funcref) (table 3 3', '2 tables'],
  ])('%s', async (what, from, to, message) => {
    let text = canisterText.replace(`(export ${from}`, `(export ${to}`).replace(from, to);
    if (what === 'a canister without memory')
      text = text.replace('(export "memory" (memory 0))', '');
    await expect(merge(text)).rejects.toThrow(message);
  });

  test('bytes that are not Wasm', async () => {
    const input = { canister: Uint8Array.of(1, 2, 3), kernel: await buildKernel() };
    await expect(mergeKernel(input)).rejects.toThrow('not Wasm');
  });
});

describe('mergeKernel(): the kernel inside a canister', () => {
  let canister: CanisterExports;
  let system: FakeSystem;

  beforeAll(async () => {
    system = new FakeSystem();
    // The host's functions need the memory before the module exists
    const memory = { buffer: new ArrayBuffer(0) };
    const ic0 = { ...systemFunctions(system, memory), time: () => 42n };
    const { instance } = await WebAssembly.instantiate(merged, { ic0 });
    canister = instance.exports as CanisterExports;
    Object.defineProperty(memory, 'buffer', { get: () => canister.memory.buffer });
    const exports = { certified_data_set: canister.certify };
    installKernelCall(createKernelCall({ exports, memory: canister.memory, misalignment: 0 }));
  });

  test('answers the self-test and leaves other system functions unchanged', () => {
    expect(() => kernelSelfTest()).not.toThrow();
    expect(canister.time()).toBe(42n);
  });

  test('passes certified data on', () => {
    new Uint8Array(canister.memory.buffer).set([7, 8, 9], 5000);
    canister.certify(5000, 3);
    expect(system.certifiedData).toEqual(Uint8Array.of(7, 8, 9));
  });

  test('computes the published digests and ciphertexts', () => {
    const hashes = readVectors<{ cases: { message: string; times: number; digest: string }[] }>(
      'sha256.json',
    );
    for (const { message, times, digest } of hashes.cases) {
      expect(sha256(fromHex(message.repeat(times)))).toEqual(fromHex(digest));
    }
    const { aead } = readVectors<{ aead: Record<string, string>[] }>('rfc8439.json');
    for (const vector of aead) {
      const part = (name: string) => fromHex(vector[name] ?? '');
      const context = {
        key: part('key'),
        nonce: part('nonce'),
        associatedData: part('associatedData'),
      };
      const sealed = seal({ ...context, plaintext: part('plaintext') });
      expect(sealed).toEqual(fromHex(`${vector.ciphertext}${vector.tag}`));
      expect(open({ ...context, sealed })).toEqual(part('plaintext'));
    }
  });

  test('returns the data that was merged into the module, and nothing beyond it', () => {
    expect(mergedDataSize()).toBe(data.length);
    expect(readMergedData(69_000, 1_000)).toEqual(data.subarray(69_000));
    expect(readMergedData(0, 0)).toEqual(new Uint8Array());
    expect(() => readMergedData(69_000, 1_001)).toThrow('out of bounds');
  });

  test("keeps its spaces apart from the canister's stable memory", () => {
    expect(canister.grow(3n)).toBe(0n);
    expect(spaceGrow(1, 2)).toBe(0);
    expect(canister.size()).toBe(3n);
    spaceWrite({ space: 1, offset: 65_530 }, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    const found = new Uint8Array(10);
    spaceRead({ space: 1, offset: 65_529 }, found);
    expect(found).toEqual(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 0));
  });
});
