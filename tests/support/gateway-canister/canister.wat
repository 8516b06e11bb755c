;; A canister that answers HTTP as it was told: a list of rules in its memory, each of which names the
;; method, a pattern to be found in the argument, and the reply. It parses no Candid: requests are
;; matched and replies given as raw bytes.
;;
;; Rule: method byte, action byte, pattern length (u32, little-endian), reply length (u32), pattern,
;; reply. Actions: 0 replies, 1 traps with the reply as message, 2 rejects with it. The first rule
;; that fits counts.
(module
  (import "ic0" "msg_arg_data_size" (func $arg_size (result i32)))
  (import "ic0" "msg_arg_data_copy" (func $arg_copy (param i32 i32 i32)))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (import "ic0" "msg_reject" (func $reject (param i32 i32)))
  (import "ic0" "trap" (func $trap (param i32 i32)))
  (import "ic0" "certified_data_set" (func $certified_data_set (param i32 i32)))
  (import "ic0" "data_certificate_size" (func $certificate_size (result i32)))
  (import "ic0" "data_certificate_copy" (func $certificate_copy (param i32 i32 i32)))

  ;; 0: number of updates; 16: messages; 1 MiB: the argument; 12 MiB: the rules.
  (memory (export "memory") 640)
  (data (i32.const 16) "no rule fits this request")
  (global $arg i32 (i32.const 1048576))
  (global $rules i32 (i32.const 12582912))
  (global $rules_end (mut i32) (i32.const 12582912))

  (func $take_arg (param $target i32) (result i32)
    (local $size i32)
    (local.set $size (call $arg_size))
    (call $arg_copy (local.get $target) (i32.const 0) (local.get $size))
    (local.get $size))

  (func $matches_at (param $text i32) (param $pattern i32) (param $length i32) (result i32)
    (local $index i32)
    (block $differs
      (loop $next
        (if (i32.ge_u (local.get $index) (local.get $length)) (then (return (i32.const 1))))
        (br_if $differs
          (i32.ne
            (i32.load8_u (i32.add (local.get $text) (local.get $index)))
            (i32.load8_u (i32.add (local.get $pattern) (local.get $index)))))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  (func $contains (param $size i32) (param $pattern i32) (param $length i32) (result i32)
    (local $text i32)
    (local $last i32)
    (local.set $text (global.get $arg))
    (local.set $last
      (i32.sub (i32.add (global.get $arg) (local.get $size)) (local.get $length)))
    (block $absent
      (loop $next
        (br_if $absent (i32.gt_s (local.get $text) (local.get $last)))
        (if (call $matches_at (local.get $text) (local.get $pattern) (local.get $length))
          (then (return (i32.const 1))))
        (local.set $text (i32.add (local.get $text) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  (func $act (param $action i32) (param $reply i32) (param $length i32)
    (if (i32.eq (local.get $action) (i32.const 1))
      (then (call $trap (local.get $reply) (local.get $length))))
    (if (i32.eq (local.get $action) (i32.const 2))
      (then (call $reject (local.get $reply) (local.get $length)) (return)))
    (call $append (local.get $reply) (local.get $length))
    (call $reply))

  (func $answer (param $method i32)
    (local $size i32)
    (local $rule i32)
    (local $pattern i32)
    (local $pattern_length i32)
    (local $reply_length i32)
    (local.set $size (call $take_arg (global.get $arg)))
    (local.set $rule (global.get $rules))
    (block $none
      (loop $next
        (br_if $none (i32.ge_u (local.get $rule) (global.get $rules_end)))
        (local.set $pattern (i32.add (local.get $rule) (i32.const 10)))
        (local.set $pattern_length (i32.load offset=2 (local.get $rule)))
        (local.set $reply_length (i32.load offset=6 (local.get $rule)))
        (if (i32.eq (i32.load8_u (local.get $rule)) (local.get $method))
          (then
            (if (call $contains (local.get $size) (local.get $pattern) (local.get $pattern_length))
              (then
                (call $act
                  (i32.load8_u offset=1 (local.get $rule))
                  (i32.add (local.get $pattern) (local.get $pattern_length))
                  (local.get $reply_length))
                (return)))))
        (local.set $rule
          (i32.add
            (i32.add (local.get $pattern) (local.get $pattern_length))
            (local.get $reply_length)))
        (br $next)))
    (call $trap (i32.const 16) (i32.const 25)))

  (func (export "canister_query http_request") (call $answer (i32.const 0)))

  (func (export "canister_update http_request_update")
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
    (call $answer (i32.const 1)))

  (func (export "canister_query stream") (call $answer (i32.const 2)))

  ;; Appends rules.
  (func (export "canister_update add_rules")
    (global.set $rules_end
      (i32.add (global.get $rules_end) (call $take_arg (global.get $rules_end))))
    (call $reply))

  (func (export "canister_update forget_rules")
    (global.set $rules_end (global.get $rules))
    (call $reply))

  (func (export "canister_update certify")
    (call $certified_data_set (global.get $arg) (call $take_arg (global.get $arg)))
    (call $reply))

  ;; The certificate of its certified data.
  (func (export "canister_query certificate")
    (call $certificate_copy (global.get $arg) (i32.const 0) (call $certificate_size))
    (call $append (global.get $arg) (call $certificate_size))
    (call $reply))

  ;; How many calls of http_request_update ended well, as 4 bytes, little-endian.
  (func (export "canister_query count_updates")
    (call $append (i32.const 0) (i32.const 4))
    (call $reply))
)
