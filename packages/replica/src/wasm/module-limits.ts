// The network's limits of a module, each with the name of its constant in `dfinity/ic`.

const mebibyte = 1024 * 1024;

/** `rs/config/src/embedders.rs`: WASM_MAX_SIZE, also for the decompressed module. */
export const moduleBytesMax = 100 * mebibyte;
/** `rs/embedders/src/wasm_utils/validation.rs`: MAX_CODE_SECTION_SIZE_IN_BYTES. */
export const codeBytesMax = 12 * mebibyte;
/**
 * Same file: WASM_FUNCTION_COMPLEXITY_LIMIT. A function with more instructions than
 * WASM_FUNCTION_SIZE_LIMIT is always more complex, so the network never applies that limit.
 */
export const functionComplexityMax = 1_000_000;
/** `rs/config/src/embedders.rs`: MAX_FUNCTIONS, without imported ones. */
export const functionsMax = 50_000;
/** Same file: MAX_GLOBALS. */
export const globalsMax = 1_000;
/** Same file: MAX_CUSTOM_SECTIONS, for names that begin with `icp:`. */
export const customSectionsMax = 16;
/** Same file: MAX_CUSTOM_SECTIONS_SIZE, for their names and contents. */
export const customBytesMax = mebibyte;
/** Same file: MAX_NUMBER_EXPORTED_FUNCTIONS, for methods. */
export const methodsMax = 1_000;
/** Same file: MAX_SUM_EXPORTED_FUNCTION_NAME_LENGTHS, in bytes. */
export const methodNameBytesMax = 20_000;
/** `rs/embedders/src/wasmtime_embedder.rs`: MAX_STORE_TABLES. */
export const tablesMax = 1;
/** Same file: MAX_STORE_TABLE_ELEMENTS. */
export const tableEntriesMax = 1_000_000;
/** `rs/types/types/src/lib.rs`: MAX_WASM64_MEMORY_IN_BYTES, 6 GiB, in pages of 64 KiB. */
export const heapPages64Max = 98_304;
