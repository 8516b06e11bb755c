// The data that the build puts beside the kernel: the console's files. They are part of the module,
// so they use neither heap nor stable memory; scripts/linked-data.ts builds the module.

@external("data", "linked_data_size")
export declare function linkedDataSize(): u32;

/** Copies bytes to `target`; traps beyond the end. */
@external("data", "linked_data_read")
export declare function linkedDataRead(target: usize, offset: u32, length: u32): void;
