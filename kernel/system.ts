// The System API functions that the kernel stands in front of. The link step gives them the
// module name `ic0`; here they have another one, so that the kernel's own exports can take it.
// IC spec, System API (certified_data_set, stable64_*). And trap, which it only calls.

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
