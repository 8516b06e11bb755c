// Compares secrets in a time that depends only on their length.

import {
  createCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from './kernel.ts';

const command = createCommand(kernelOperations.equal, 2);

export function areEqualSecrets(a: Uint8Array, b: Uint8Array): boolean {
  if (!(a instanceof Uint8Array)) refuseOperand('first secret', a);
  if (!(b instanceof Uint8Array)) refuseOperand('second secret', b);
  if (a.length !== b.length) return false;
  kernelCall(command.bytes);
  kernelCall(a);
  kernelCall(b);
  return command.words[kernelWords.result] === 1;
}
