// Notes which operations of the kernel some work calls: its cost, whatever the machine's speed.

import { installKernelCall, kernelCall } from '../../src/crypto/kernel.ts';

const commandBytes = 64;
const operationAt = 16;
const magic = 0x9d27e846;

/** Returns the numbers of the operations that `work` calls, in their order. */
export function operationsOf(work: () => unknown): number[] {
  const call = kernelCall;
  const operations: number[] = [];
  installKernelCall((bytes) => {
    if (bytes.length === commandBytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      if (view.getUint32(0, true) === magic) operations.push(view.getUint32(operationAt, true));
    }
    call(bytes);
  });
  try {
    work();
  } finally {
    installKernelCall(call);
  }
  return operations;
}
