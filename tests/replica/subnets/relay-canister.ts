// A canister that calls any method of any canister and replies with the answer, or with its reject
// code and message.

import type { Principal } from '@dfinity/principal';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = [
  ...['msg_arg_data_size', 'msg_arg_data_copy', 'msg_reject_code', 'msg_reject_msg_size'],
  ...['msg_reject_msg_copy', 'call_new', 'call_data_append', 'call_cycles_add', 'call_perform'],
  ...['msg_cycles_accept', 'msg_cycles_available', 'call_with_best_effort_response'],
];

/**
 * The argument of `relay`, and of `relayBounded`, which waits at most a minute: length and bytes of
 * callee and method, cycles (8 bytes), argument.
 */
export const relayCanister = (): Uint8Array =>
  canister(
    imports,
    `(memory 1)
    (table 2 funcref) (elem (i32.const 0) $reply $reject)
    (func $answer (param $length i32)
      (call $msg_reply_data_append (i32.const 1024) (local.get $length))
      (call $msg_reply))
    (func $reply (param i32)
      (call $msg_arg_data_copy (i32.const 1024) (i32.const 0) (call $msg_arg_data_size))
      (call $answer (call $msg_arg_data_size)))
    (func $reject (param i32)
      (i32.store8 (i32.const 1024) (i32.add (i32.const 48) (call $msg_reject_code)))
      (call $msg_reject_msg_copy (i32.const 1025) (i32.const 0) (call $msg_reject_msg_size))
      (call $answer (i32.add (i32.const 1) (call $msg_reject_msg_size))))
    (func (export "canister_update echo") (call $reply (i32.const 0)))
    (func (export "canister_update accept")
      (call $reply64 (call $msg_cycles_accept (call $msg_cycles_available))))
    (func (export "canister_update relay") (call $relay (i32.const 0)))
    (func (export "canister_update relayBounded") (call $relay (i32.const 1)))
    (func $relay (param $isBounded i32)
      (local $callee i32) (local $method i32) (local $rest i32)
      (call $msg_arg_data_copy (i32.const 1024) (i32.const 0) (call $msg_arg_data_size))
      (local.set $callee (i32.load8_u (i32.const 1024)))
      (local.set $method (i32.load8_u (i32.add (i32.const 1025) (local.get $callee))))
      (local.set $rest
        (i32.add (i32.const 1026) (i32.add (local.get $callee) (local.get $method))))
      (call $call_new (i32.const 1025) (local.get $callee)
        (i32.add (i32.const 1026) (local.get $callee)) (local.get $method)
        (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
      (if (local.get $isBounded)
        (then (call $call_with_best_effort_response (i32.const 60))))
      (call $call_cycles_add (i64.load (local.get $rest)))
      (call $call_data_append (i32.add (local.get $rest) (i32.const 8))
        (i32.sub (i32.add (i32.const 1016) (call $msg_arg_data_size)) (local.get $rest)))
      (if (call $call_perform) (then unreachable)))`,
  );

/** Returns the argument of `relay`. */
export function relayed(
  callee: Principal,
  method: string,
  { arg = new Uint8Array(0), cycles = 0n }: { arg?: Uint8Array; cycles?: bigint } = {},
): Uint8Array {
  const id = callee.toUint8Array();
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(cycles);
  const name = Buffer.from(method);
  return Buffer.concat([[id.length], id, [name.length], name, amount, arg].map(bytesOf));
}

function bytesOf(part: Uint8Array | number[]): Uint8Array {
  return Uint8Array.from(part);
}
