// A canister of a few instructions for end-to-end tests, as WebAssembly with a custom section.

import binaryen from 'binaryen';

const source = `(module
  (import "ic0" "msg_arg_data_size" (func $arg_size (result i32)))
  (import "ic0" "msg_arg_data_copy" (func $arg_copy (param i32 i32 i32)))
  (import "ic0" "msg_caller_size" (func $caller_size (result i32)))
  (import "ic0" "msg_caller_copy" (func $caller_copy (param i32 i32 i32)))
  (import "ic0" "msg_method_name_size" (func $name_size (result i32)))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (import "ic0" "trap" (func $trap (param i32 i32)))
  (import "ic0" "accept_message" (func $accept))
  (import "ic0" "certified_data_set" (func $certify (param i32 i32)))
  (import "ic0" "data_certificate_size" (func $certificate_size (result i32)))
  (import "ic0" "data_certificate_copy" (func $certificate_copy (param i32 i32 i32)))
  (memory (export "memory") 64)
  (data (i32.const 0) "it trapped")
  (func $answer (param $length i32)
    (call $append (i32.const 1024) (local.get $length))
    (call $reply))
  (func (export "canister_query echo")
    (call $arg_copy (i32.const 1024) (i32.const 0) (call $arg_size))
    (call $answer (call $arg_size)))
  (func (export "canister_query caller")
    (call $caller_copy (i32.const 1024) (i32.const 0) (call $caller_size))
    (call $answer (call $caller_size)))
  (func (export "canister_query trap")
    (call $trap (i32.const 0) (i32.const 10)))
  (func (export "canister_update refused")
    (call $reply))
  (func (export "canister_update certify")
    (call $arg_copy (i32.const 1024) (i32.const 0) (call $arg_size))
    (call $certify (i32.const 1024) (call $arg_size))
    (call $reply))
  (func (export "canister_query certificate")
    (call $certificate_copy (i32.const 1024) (i32.const 0) (call $certificate_size))
    (call $answer (call $certificate_size)))
  (func (export "canister_inspect_message")
    ;; Refuses only "refused": "certify" also has seven letters, but an argument of 32 bytes.
    (if (i32.or
          (i32.ne (call $name_size) (i32.const 7))
          (i32.eq (call $arg_size) (i32.const 32)))
      (then (call $accept)))))`;

/** A custom section of fewer than 128 bytes. */
function customSection(name: string, content: string): Uint8Array {
  const body = [name.length, ...Buffer.from(name), ...Buffer.from(content)];
  return Uint8Array.of(0, body.length, ...body);
}

export function testCanister(): Uint8Array {
  const module = binaryen.parseText(source);
  const sections = [
    customSection('icp:public candid:service', 'service : {}'),
    customSection('icp:private secret', 'for controllers only'),
  ];
  return Buffer.concat([module.emitBinary(), ...sections]);
}
