// Looking through bytes by the native kernel (kernel/byte-search.ts): a turn of a loop in
// JavaScript costs as much as a thousand bytes do there.

import { createCommand, kernelGate, kernelOperations, kernelWords } from './kernel.ts';

const needleBytesMax = 128;
const findCommand = createCommand(kernelOperations.findAll, 3);
const countCommand = createCommand(kernelOperations.countContainers, 1);

/**
 * Where the needle (1 to 128 bytes) stands in the bytes, in order and without overlaps; of more
 * than `limit` places the first ones.
 */
export function findAll(bytes: Uint8Array, needle: Uint8Array, limit: number): Uint32Array {
  if (needle.length === 0 || needle.length > needleBytesMax) {
    throw new Error(`Cannot look for ${needle.length} bytes: 1 to ${needleBytesMax} are sought`);
  }
  const places = new Uint32Array(limit);
  const placesBytes = new Uint8Array(places.buffer);
  kernelGate(findCommand.bytes);
  kernelGate(bytes);
  kernelGate(needle);
  kernelGate(placesBytes);
  return places.subarray(0, findCommand.words[kernelWords.result]);
}

/**
 * Objects and lists that a text of JSON opens, well-formed or not; brackets within strings do not
 * count.
 */
export function countJsonContainers(json: Uint8Array): number {
  kernelGate(countCommand.bytes);
  kernelGate(json);
  return countCommand.words[kernelWords.result] ?? 0;
}
