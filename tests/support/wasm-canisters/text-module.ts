// Small canisters for tests, written in WebAssembly's text format and assembled by binaryen.

import binaryen from 'binaryen';

const { Features } = binaryen;
/** Features that the network accepts; more would produce encodings unknown to older engines. */
const features =
  Features.ReferenceTypes |
  Features.BulkMemory |
  Features.SIMD128 |
  Features.MutableGlobals |
  Features.SignExt |
  Features.NontrappingFPToInt |
  Features.Multivalue;

/** Returns the bytes of a module exactly as written, without optimization. */
export function assemble(text: string): Uint8Array {
  const module = binaryen.parseText(text);
  module.setFeatures(features);
  try {
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

const signatures: Readonly<Record<string, string>> = {
  msg_arg_data_size: '(result i32)',
  msg_arg_data_copy: '(param i32 i32 i32)',
  msg_caller_size: '(result i32)',
  msg_caller_info_data_size: '(result i32)',
  msg_caller_info_data_copy: '(param i32 i32 i32)',
  msg_caller_info_signer_size: '(result i32)',
  msg_caller_info_signer_copy: '(param i32 i32 i32)',
  msg_reject_code: '(result i32)',
  msg_reject_msg_size: '(result i32)',
  msg_reject_msg_copy: '(param i32 i32 i32)',
  msg_reply_data_append: '(param i32 i32)',
  msg_reply: '',
  msg_reject: '(param i32 i32)',
  msg_cycles_available: '(result i64)',
  msg_cycles_accept: '(param i64) (result i64)',
  msg_cycles_refunded: '(result i64)',
  msg_method_name_size: '(result i32)',
  accept_message: '',
  canister_self_copy: '(param i32 i32 i32)',
  canister_version: '(result i64)',
  canister_status: '(result i32)',
  canister_cycle_balance: '(result i64)',
  cost_call: '(param i64 i64 i32)',
  cost_create_canister: '(param i32)',
  cost_http_request: '(param i64 i64 i32)',
  cost_vetkd_derive_key: '(param i32 i32 i32 i32) (result i32)',
  canister_liquid_cycle_balance128: '(param i32)',
  call_new: '(param i32 i32 i32 i32 i32 i32 i32 i32)',
  call_on_cleanup: '(param i32 i32)',
  call_data_append: '(param i32 i32)',
  call_cycles_add: '(param i64)',
  call_with_best_effort_response: '(param i32)',
  call_perform: '(result i32)',
  stable64_size: '(result i64)',
  stable64_grow: '(param i64) (result i64)',
  stable64_write: '(param i64 i64 i64)',
  stable64_read: '(param i64 i64 i64)',
  certified_data_set: '(param i32 i32)',
  data_certificate_present: '(result i32)',
  global_timer_set: '(param i64) (result i64)',
  performance_counter: '(param i32) (result i64)',
  env_var_count: '(result i32)',
  env_var_name_size: '(param i32) (result i32)',
  env_var_name_copy: '(param i32 i32 i32 i32)',
  env_var_name_exists: '(param i32 i32) (result i32)',
  env_var_value_size: '(param i32 i32) (result i32)',
  env_var_value_copy: '(param i32 i32 i32 i32 i32)',
  debug_print: '(param i32 i32)',
  time: '(result i64)',
  trap: '(param i32 i32)',
};

/**
 * Returns a canister: the named `ic0` functions imported as `$name`, one page of memory unless
 * `body` declares its own, and helpers `$reply32` and `$reply64` that reply with a number, little
 * endian, through the memory at 0.
 */
export function canister(imports: readonly string[], body: string): Uint8Array {
  const all = new Set([...imports, 'msg_reply', 'msg_reply_data_append']);
  const lines = [...all].map((name) => {
    const signature = signatures[name];
    if (signature === undefined) throw new Error(`no signature for ic0.${name}`);
    return `(import "ic0" "${name}" (func $${name} ${signature}))`;
  });
  const memory = body.includes('(memory') ? '' : '(memory 1)';
  return assemble(`(module
    ${lines.join('\n')}
    ${memory}
    (func $reply32 (param i32)
      (i32.store (i32.const 0) (local.get 0))
      (call $msg_reply_data_append (i32.const 0) (i32.const 4))
      (call $msg_reply))
    (func $reply64 (param i64)
      (i64.store (i32.const 0) (local.get 0))
      (call $msg_reply_data_append (i32.const 0) (i32.const 8))
      (call $msg_reply))
    ${body})`);
}
