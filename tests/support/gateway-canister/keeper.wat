;; A canister that keeps bytes in stable memory and counts its timer and its upgrades there.
;; Stable memory: 0 length of the bytes (u32), 8 timers fired (u32), 16 upgrades (u32), 64 the bytes.
(module
  (import "ic0" "msg_arg_data_size" (func $arg_size (result i32)))
  (import "ic0" "msg_arg_data_copy" (func $arg_copy (param i32 i32 i32)))
  (import "ic0" "msg_caller_size" (func $caller_size (result i32)))
  (import "ic0" "msg_caller_copy" (func $caller_copy (param i32 i32 i32)))
  (import "ic0" "msg_method_name_size" (func $method_size (result i32)))
  (import "ic0" "accept_message" (func $accept))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (import "ic0" "msg_reject" (func $reject (param i32 i32)))
  (import "ic0" "global_timer_set" (func $timer_set (param i64) (result i64)))
  (import "ic0" "debug_print" (func $print (param i32 i32)))
  (import "ic0" "stable64_grow" (func $grow (param i64) (result i64)))
  (import "ic0" "stable64_read" (func $read (param i64 i64 i64)))
  (import "ic0" "stable64_write" (func $write (param i64 i64 i64)))
  (memory (export "memory") 2)
  (data (i32.const 16) "not for you")
  (data (i32.const 32) "tick")

  (func $count (param $place i64)
    (call $read (i64.const 0) (local.get $place) (i64.const 4))
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (call $write (local.get $place) (i64.const 0) (i64.const 4)))

  (func $answer_count (param $place i64)
    (call $read (i64.const 0) (local.get $place) (i64.const 4))
    (call $append (i32.const 0) (i32.const 4))
    (call $reply))

  (func (export "canister_init") (drop (call $grow (i64.const 1))))
  (func (export "canister_post_upgrade") (call $count (i64.const 16)))

  ;; A method whose name has nine letters is refused.
  (func (export "canister_inspect_message")
    (if (i32.ne (call $method_size) (i32.const 9)) (then (call $accept))))
  (func (export "canister_update forbidden") (call $reply))

  (func (export "canister_global_timer")
    (call $print (i32.const 32) (i32.const 4))
    (call $count (i64.const 8)))

  ;; Argument: ns since 1970 as u64, little-endian.
  (func (export "canister_update wake_at")
    (call $arg_copy (i32.const 0) (i32.const 0) (i32.const 8))
    (drop (call $timer_set (i64.load (i32.const 0))))
    (call $reply))

  (func (export "canister_update put")
    (i32.store (i32.const 0) (call $arg_size))
    (call $arg_copy (i32.const 64) (i32.const 0) (call $arg_size))
    (call $write (i64.const 0) (i64.const 0) (i64.const 4))
    (call $write (i64.const 64) (i64.const 64) (i64.extend_i32_u (call $arg_size)))
    (call $reply))

  (func (export "canister_query get")
    (call $read (i64.const 0) (i64.const 0) (i64.const 4))
    (call $read (i64.const 64) (i64.const 64) (i64.load32_u (i32.const 0)))
    (call $append (i32.const 64) (i32.load (i32.const 0)))
    (call $reply))

  (func (export "canister_query fired") (call $answer_count (i64.const 8)))
  (func (export "canister_query upgrades") (call $answer_count (i64.const 16)))

  (func (export "canister_query whoami")
    (call $caller_copy (i32.const 64) (i32.const 0) (call $caller_size))
    (call $append (i32.const 64) (call $caller_size))
    (call $reply))

  (func (export "canister_query refuse") (call $reject (i32.const 16) (i32.const 11)))
)
