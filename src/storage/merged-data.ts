// Reads the data that the build put into the Wasm beside the kernel (kernel/merged-data.ts).

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../crypto/kernel.ts';

const sizeCommand = createCommand(kernelOperations.mergedDataSize, 0);
const readCommand = createCommand(kernelOperations.mergedDataRead, 1);

/** Returns the number of bytes; 0 if the build added no data. */
export function mergedDataSize(): number {
  kernelCall(sizeCommand.bytes);
  return sizeCommand.words[kernelWords.result] ?? 0;
}

/** Returns a copy of those bytes; traps beyond the end. */
export function readMergedData(offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  if (length === 0) return bytes;
  readCommand.words[kernelWords.offset] = offset;
  kernelCall(readCommand.bytes);
  kernelCall(bytes);
  return bytes;
}
