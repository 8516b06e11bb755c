;; A canister that hands bytes on to a method of another canister, and answers with what came back.
;; Argument of `forward`: length of the canister's id (u8), id, length of the method's name (u8), name,
;; the bytes. Answer: 0 and the reply, or 1 and the reject's message.
(module
  (import "ic0" "msg_arg_data_size" (func $arg_size (result i32)))
  (import "ic0" "msg_arg_data_copy" (func $arg_copy (param i32 i32 i32)))
  (import "ic0" "msg_reject_msg_size" (func $message_size (result i32)))
  (import "ic0" "msg_reject_msg_copy" (func $message_copy (param i32 i32 i32)))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (import "ic0" "call_new" (func $call_new (param i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "ic0" "call_data_append" (func $call_data (param i32 i32)))
  (import "ic0" "call_perform" (func $call_perform (result i32)))
  (memory (export "memory") 64)
  (table 2 funcref)
  (elem (i32.const 0) $replied $rejected)

  (func $replied (param i32)
    (i32.store8 (i32.const 0) (i32.const 0))
    (call $arg_copy (i32.const 1) (i32.const 0) (call $arg_size))
    (call $append (i32.const 0) (i32.add (i32.const 1) (call $arg_size)))
    (call $reply))

  (func $rejected (param i32)
    (i32.store8 (i32.const 0) (i32.const 1))
    (call $message_copy (i32.const 1) (i32.const 0) (call $message_size))
    (call $append (i32.const 0) (i32.add (i32.const 1) (call $message_size)))
    (call $reply))

  (func (export "canister_update forward") (local $name i32) (local $bytes i32)
    (call $arg_copy (i32.const 0) (i32.const 0) (call $arg_size))
    (local.set $name (i32.add (i32.const 1) (i32.load8_u (i32.const 0))))
    (local.set $bytes
      (i32.add (i32.add (local.get $name) (i32.const 1)) (i32.load8_u (local.get $name))))
    (call $call_new
      (i32.const 1) (i32.load8_u (i32.const 0))
      (i32.add (local.get $name) (i32.const 1)) (i32.load8_u (local.get $name))
      (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
    (call $call_data (local.get $bytes) (i32.sub (call $arg_size) (local.get $bytes)))
    (if (call $call_perform) (then (unreachable))))
)
