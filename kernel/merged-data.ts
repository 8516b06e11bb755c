// The data that the build puts beside the kernel: the console's files. They are part of the module,
// so they use neither heap nor stable memory; scripts/merged-data.ts builds the module.

@external("data", "merged_data_size")
export declare function mergedDataSize(): u32;

/** Copies bytes to `target`; traps beyond the end. */
@external("data", "merged_data_read")
export declare function mergedDataRead(target: usize, offset: u32, length: u32): void;
