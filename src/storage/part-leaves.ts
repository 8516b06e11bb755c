// Hashes of the certified answers for each part of a file, by the native kernel
// (kernel/part-leaves.ts). It knows how hashes are combined, but nothing of files.

import {
  createCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';

export interface PartLeavesInput {
  /**
   * Name hash and value hash, 32 bytes each, of all headers of the response except Content-Range,
   * including the status and the expression. Any order, at most 1,000.
   */
  readonly pairs: Uint8Array;
  /** 32 bytes: SHA-256 of `content-range`. */
  readonly contentRangeName: Uint8Array;
  /** Name hash and value hash of `:ic-cert-method`, then the name hash of `range`. */
  readonly requestPairs: Uint8Array;
  /** SHA-256 of each part, 32 bytes. */
  readonly digests: Uint8Array;
  /** Bytes of every part except the last. */
  readonly partSize: number;
  readonly totalSize: number;
}

const command = createCommand(kernelOperations.partLeaves, 5);
const two32 = 0x1_0000_0000;

/**
 * Returns for each part its request hash, and the hash of the tree node that has the response hash
 * as its label and an empty leaf below.
 */
export function partLeaves(input: PartLeavesInput): Uint8Array {
  const { pairs, contentRangeName, requestPairs, digests, partSize, totalSize } = input;
  if (pairs.length % 64 !== 0 || pairs.length > 64_000) refuseOperand('header pairs', pairs);
  if (contentRangeName.length !== 32) refuseOperand('name hash', contentRangeName);
  if (requestPairs.length !== 96) refuseOperand('request pairs', requestPairs);
  const parts = Math.ceil(totalSize / partSize);
  if (digests.length !== 32 * parts) refuseOperand('digests', digests);
  const leaves = new Uint8Array(64 * parts);
  const { words } = command;
  words[kernelWords.offset] = partSize;
  words[kernelWords.offset + 1] = partSize / two32;
  words[kernelWords.length] = totalSize;
  words[kernelWords.length + 1] = totalSize / two32;
  kernelCall(command.bytes);
  kernelCall(pairs);
  kernelCall(contentRangeName);
  kernelCall(requestPairs);
  kernelCall(digests);
  kernelCall(leaves);
  return leaves;
}
