// Environment variables of the canister, which its controllers set. IC spec, "Environment
// variables". Tools that deploy several canisters set each one's id for the others.

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../crypto/kernel.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';

const sizeCommand = createCommand(kernelOperations.variableSize, 1);
const readCommand = createCommand(kernelOperations.variableRead, 2);
const absent = 0xffff_ffff;

/** Returns the variable's value; `undefined` if it is not set. */
export function readEnvironment(name: string): string | undefined {
  const nameBytes = encodeUtf8(name);
  kernelCall(sizeCommand.bytes);
  kernelCall(nameBytes);
  const size = sizeCommand.words[kernelWords.result] ?? absent;
  if (size === absent) return undefined;
  const value = new Uint8Array(size);
  kernelCall(readCommand.bytes);
  kernelCall(nameBytes);
  kernelCall(value);
  return decodeUtf8(value);
}
