// Searches bytes with the native kernel (kernel/byte-search.ts): one turn of a loop in JavaScript
// costs as much as searching a thousand bytes there.

import { createCommand, kernelCall, kernelOperations, kernelWords } from './kernel.ts';

const needleBytesMax = 128;
const findCommand = createCommand(kernelOperations.findAll, 3);
const shapeCommand = createCommand(kernelOperations.jsonShape, 1);

const tooClose = 0xffff_ffff;

/**
 * Returns the offsets of the needle (1 to 128 bytes), in order and without overlaps, at most
 * `limit` of them. `undefined` if so many bytes almost match the needle that a closer look would
 * cost too much.
 */
export function findAll(
  bytes: Uint8Array,
  needle: Uint8Array,
  limit: number,
): Uint32Array | undefined {
  if (needle.length === 0 || needle.length > needleBytesMax) {
    throw new Error(
      `Cannot search for ${needle.length} bytes: the length must be 1 to ${needleBytesMax}`,
    );
  }
  const places = new Uint32Array(limit);
  const placesBytes = new Uint8Array(places.buffer);
  kernelCall(findCommand.bytes);
  kernelCall(bytes);
  kernelCall(needle);
  kernelCall(placesBytes);
  const found = findCommand.words[kernelWords.result] ?? 0;
  return found === tooClose ? undefined : places.subarray(0, found);
}

export interface JsonShape {
  /** Number of objects and lists. */
  readonly containers: number;
  /** Number of separators: each object or list has one less than its items. */
  readonly commas: number;
}

/** Counts the containers and commas of a JSON text, well-formed or not, outside its strings. */
export function jsonShape(json: Uint8Array): JsonShape {
  kernelCall(shapeCommand.bytes);
  kernelCall(json);
  const { words } = shapeCommand;
  const containers = words[kernelWords.longResult] ?? 0;
  return { containers, commas: words[kernelWords.longResult + 1] ?? 0 };
}
