// A start on stable memory that another version, or another canister, wrote: the service does not
// use it, and does not change it.

import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { assemble } from '../support/wasm-canisters/text-module.ts';

let replica: Replica;

beforeEach(async () => {
  replica = await startReplica({ server: false });
});

afterEach(() => replica.stop());

/** Returns a module that writes one page of stable memory, which begins with the text. */
function writerOf(text: string): Uint8Array {
  return assemble(`(module
    (import "ic0" "stable64_grow" (func $grow (param i64) (result i64)))
    (import "ic0" "stable64_write" (func $write (param i64 i64 i64)))
    (memory 1)
    (data (i32.const 0) "${text}")
    (func (export "canister_init")
      (drop (call $grow (i64.const 1)))
      (call $write (i64.const 0) (i64.const 0) (i64.const ${text.replace(/\\../g, '.').length}))))`);
}

test.each([
  ['of the version before encryption', 'EFSSTBL1\\01\\00\\00\\00\\02\\00\\00\\00'],
  ['of another canister', 'MGR\\01'],
])('an upgrade over the memory %s is refused with a reason', async (_, start) => {
  const { wasmPath } = await buildCanister({ force: false });
  const canisterId = await replica.createCanister();
  await replica.install(canisterId, writerOf(start));
  const before = replica.stableMemory(canisterId.toText());
  const image = before.read(0, before.bytes);
  const wasm = new Uint8Array(await readFile(wasmPath));
  await expect(replica.upgrade(canisterId, wasm)).rejects.toThrow(
    /cannot read the stable memory: install a version that can/,
  );
  const after = replica.stableMemory(canisterId.toText());
  expect(Buffer.compare(after.read(0, after.bytes), image)).toBe(0);
});
