// Data that is put into the canister's Wasm beside the kernel (kernel/merged-data.ts): a module
// with one passive segment. Requested parts are copied out of it; the rest takes no memory.

/** Returns a module with `merged_data_size` and `merged_data_read(target, offset, length)`. */
export async function mergedDataModule(data: Uint8Array): Promise<Uint8Array> {
  // Imported on demand, because it takes a second to load and most starts build nothing
  const { default: binaryen } = await import('binaryen');
  const module = new binaryen.Module();
  try {
    module.setFeatures(binaryen.Features.BulkMemory | binaryen.Features.BulkMemoryOpt);
    const segment = { offset: module.i32.const(0), data, passive: true };
    module.setMemory(0, -1, null, [segment], false, false, '0');
    module.addMemoryImport('0', 'env', 'memory');
    const { i32, none } = binaryen;
    module.addFunction('size', none, i32, [], module.i32.const(data.length));
    const [target, offset, length] = [0, 1, 2].map((index) => module.local.get(index, i32));
    const copy = module.memory.init('0', target ?? 0, offset ?? 0, length ?? 0);
    module.addFunction('read', binaryen.createType([i32, i32, i32]), none, [], copy);
    module.addFunctionExport('size', 'merged_data_size');
    module.addFunctionExport('read', 'merged_data_read');
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}
