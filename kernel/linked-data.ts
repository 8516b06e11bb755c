// The data that the build links in beside the kernel: the console's files. They lie in the module
// itself, so that they take no heap and no stable memory; scripts/linked-data.ts has the module.

@external("data", "linked_data_size")
export declare function linkedDataSize(): u32;

/** Copies to `target`; traps beyond the end. */
@external("data", "linked_data_read")
export declare function linkedDataRead(target: usize, offset: u32, length: u32): void;
