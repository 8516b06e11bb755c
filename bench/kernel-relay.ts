// A minimal canister that the kernel is merged into. It passes each buffer of its argument to the
// kernel, and replies with the changed buffers and the number of instructions.

import binaryen from 'binaryen';
import type { Replica } from '../packages/replica/src/replica.ts';
import { buildKernel } from '../scripts/kernel.ts';
import { mergeKernel } from '../scripts/merge-wasm.ts';

// Argument: count u32, that many lengths u32, then the buffers, each at a multiple of 16.
const canisterText = `(module
  (import "ic0" "certified_data_set" (func $certify (param i32 i32)))
  (import "ic0" "msg_arg_data_size" (func $argument_size (result i32)))
  (import "ic0" "msg_arg_data_copy" (func $argument_copy (param i32 i32 i32)))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (import "ic0" "performance_counter" (func $instructions (param i32) (result i64)))
  (import "ic0" "call_new" (func $call_new (param i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "ic0" "call_on_cleanup" (func $call_on_cleanup (param i32 i32)))
  (import "ic0" "call_perform" (func $call_perform (result i32)))
  (memory 64)
  (table 1 funcref)
  (elem (i32.const 0) $append)
  (export "memory" (memory 0))
  (func (export "canister_update relay")
    (local $index i32) (local $buffer i32) (local $count i32) (local $before i64)
    (call $argument_copy (i32.const 0) (i32.const 0) (call $argument_size))
    (local.set $count (i32.load (i32.const 0)))
    (local.set $buffer (i32.and
      (i32.add (i32.mul (local.get $count) (i32.const 4)) (i32.const 19)) (i32.const -16)))
    (local.set $before (call $instructions (i32.const 0)))
    (loop $next
      (call $certify (local.get $buffer)
        (i32.load offset=4 (i32.mul (local.get $index) (i32.const 4))))
      (local.set $buffer (i32.and (i32.const -16) (i32.add (i32.const 15) (i32.add
        (local.get $buffer) (i32.load offset=4 (i32.mul (local.get $index) (i32.const 4)))))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (local.get $count))))
    (local.set $before (i64.sub (call $instructions (i32.const 0)) (local.get $before)))
    (call $append (i32.const 0) (call $argument_size))
    (i64.store (i32.const 0) (local.get $before))
    (call $append (i32.const 0) (i32.const 8))
    (call $reply)))`;

export interface RelayResult {
  /** The buffers after the kernel has changed them. */
  readonly buffers: Uint8Array[];
  /** Instructions of the loop that calls the kernel. */
  readonly instructions: number;
}

export interface Relay {
  send(buffers: readonly Uint8Array[]): Promise<RelayResult>;
}

export async function openRelay(replica: Replica): Promise<Relay> {
  const module = binaryen.parseText(canisterText);
  const kernel = await buildKernel();
  const wasm = await mergeKernel({ canister: module.emitBinary(), kernel });
  module.dispose();
  const canisterId = await replica.createCanister();
  await replica.install(canisterId, wasm);
  return {
    async send(buffers) {
      const { argument, starts } = pack(buffers);
      const reply = await replica.call(canisterId, 'relay', argument);
      return {
        buffers: buffers.map(({ length }, index) => {
          const start = starts[index] ?? 0;
          return reply.slice(start, start + length);
        }),
        instructions: Number(
          new DataView(reply.buffer, reply.byteOffset).getBigUint64(argument.length, true),
        ),
      };
    },
  };
}

function pack(buffers: readonly Uint8Array[]): { argument: Uint8Array; starts: number[] } {
  let end = 4 + 4 * buffers.length;
  const starts = buffers.map(({ length }) => {
    const start = Math.ceil(end / 16) * 16;
    end = start + length;
    return start;
  });
  const argument = new Uint8Array(end);
  const head = Uint32Array.of(buffers.length, ...buffers.map(({ length }) => length));
  argument.set(new Uint8Array(head.buffer));
  for (const [index, buffer] of buffers.entries()) {
    argument.set(buffer, starts[index]);
  }
  return { argument, starts };
}
