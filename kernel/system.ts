// The System API functions that the kernel replaces, and those that it only calls. Their module is
// `sys` here, because merging connects imports from `ic0` to the kernel's exports of the same
// names; then the build renames it to `ic0`. IC spec, "System API".

@external("sys", "certified_data_set")
export declare function systemCertifiedDataSet(pointer: usize, length: usize): void;

@external("sys", "stable64_size")
export declare function systemStableSize(): u64;

@external("sys", "stable64_grow")
export declare function systemStableGrow(pages: u64): u64;

@external("sys", "stable64_read")
export declare function systemStableRead(target: u64, offset: u64, size: u64): void;

@external("sys", "stable64_write")
export declare function systemStableWrite(offset: u64, source: u64, size: u64): void;

@external("sys", "trap")
export declare function systemTrap(message: usize, length: usize): void;

@external("sys", "debug_print")
export declare function systemDebugPrint(text: usize, length: usize): void;

@external("sys", "msg_reject_msg_size")
export declare function systemRejectMessageSize(): usize;

@external("sys", "msg_reject_msg_copy")
export declare function systemRejectMessageCopy(target: usize, offset: usize, length: usize): void;

@external("sys", "msg_reply_data_append")
export declare function systemReplyAppend(bytes: usize, length: usize): void;

@external("sys", "msg_reply")
export declare function systemReply(): void;

@external("sys", "call_new")
export declare function systemCallNew(
  callee: usize, calleeLength: usize, method: usize, methodLength: usize,
  replyFunction: u32, replyEnvironment: u32, rejectFunction: u32, rejectEnvironment: u32,
): void;

@external("sys", "call_on_cleanup")
export declare function systemCallOnCleanup(cleanupFunction: u32, environment: u32): void;

@external("sys", "call_with_best_effort_response")
export declare function systemCallWithBestEffortResponse(timeoutSeconds: u32): void;

@external("sys", "call_perform")
export declare function systemCallPerform(): u32;

@external("sys", "canister_liquid_cycle_balance128")
export declare function systemLiquidCycles(target: usize): void;

@external("sys", "cost_create_canister")
export declare function systemCreationCost(target: usize): void;

@external("sys", "cost_vetkd_derive_key")
export declare function systemDerivationCost(
  name: usize, nameLength: usize, curve: u32, target: usize,
): u32;

@external("sys", "global_timer_set")
export declare function systemGlobalTimerSet(timeNs: u64): u64;

@external("sys", "canister_version")
export declare function systemCanisterVersion(): u64;

@external("sys", "canister_self_size")
export declare function systemSelfSize(): usize;

@external("sys", "canister_self_copy")
export declare function systemSelfCopy(target: usize, offset: usize, length: usize): void;

@external("sys", "env_var_name_exists")
export declare function systemVariableExists(name: usize, length: usize): u32;

@external("sys", "env_var_value_size")
export declare function systemVariableSize(name: usize, length: usize): usize;

@external("sys", "env_var_value_copy")
export declare function systemVariableCopy(
  name: usize, nameLength: usize, target: usize, offset: usize, length: usize,
): void;

@external("sys", "msg_caller_size")
export declare function systemCallerSize(): usize;

@external("sys", "msg_caller_copy")
export declare function systemCallerCopy(target: usize, offset: usize, length: usize): void;

@external("sys", "msg_reject")
export declare function systemReject(message: usize, length: usize): void;
