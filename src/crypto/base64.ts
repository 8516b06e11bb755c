// Base64 with padding (RFC 4648 §4) by the native kernel.

import { createCommand, kernelGate, kernelOperations, refuseOperand } from './kernel.ts';

const command = createCommand(kernelOperations.base64, 2).bytes;

/** The ASCII bytes of the text. */
export function base64Bytes(bytes: Uint8Array): Uint8Array {
  if (!(bytes instanceof Uint8Array)) refuseOperand('data', bytes);
  const text = new Uint8Array(4 * Math.ceil(bytes.length / 3));
  kernelGate(command);
  kernelGate(bytes);
  kernelGate(text);
  return text;
}
