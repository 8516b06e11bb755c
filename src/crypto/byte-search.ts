// Looking through bytes by the native kernel (kernel/byte-search.ts): a turn of a loop in
// JavaScript costs as much as a thousand bytes do there.

import { createCommand, kernelGate, kernelOperations, kernelWords } from './kernel.ts';

const needleBytesMax = 128;
const findCommand = createCommand(kernelOperations.findAll, 3);
const shapeCommand = createCommand(kernelOperations.jsonShape, 1);

const tooClose = 0xffff_ffff;

/**
 * Where the needle (1 to 128 bytes) stands in the bytes, in order and without overlaps; of more
 * than `limit` places the first ones. `undefined` when so much of the bytes is almost the needle
 * that to look closer would cost too much.
 */
export function findAll(
  bytes: Uint8Array,
  needle: Uint8Array,
  limit: number,
): Uint32Array | undefined {
  if (needle.length === 0 || needle.length > needleBytesMax) {
    throw new Error(`Cannot look for ${needle.length} bytes: 1 to ${needleBytesMax} are sought`);
  }
  const places = new Uint32Array(limit);
  const placesBytes = new Uint8Array(places.buffer);
  kernelGate(findCommand.bytes);
  kernelGate(bytes);
  kernelGate(needle);
  kernelGate(placesBytes);
  const found = findCommand.words[kernelWords.result] ?? 0;
  return found === tooClose ? undefined : places.subarray(0, found);
}

export interface JsonShape {
  /** Objects and lists that are opened. */
  readonly containers: number;
  /** One less than what they list, in each. */
  readonly commas: number;
}

/** Of a text of JSON, well-formed or not; what is within strings does not count. */
export function jsonShape(json: Uint8Array): JsonShape {
  kernelGate(shapeCommand.bytes);
  kernelGate(json);
  const { words } = shapeCommand;
  const containers = words[kernelWords.longResult] ?? 0;
  return { containers, commas: words[kernelWords.longResult + 1] ?? 0 };
}
