// Raw bytes in stable memory besides the stable maps: spaces 1 to 10 of the native kernel
// (kernel/stable-space.ts). Offsets and lengths are bytes, sizes are Wasm pages of 64 KiB. An
// access beyond the end of a space traps. New pages read as zeros; a space never shrinks.

import {
  createCommand,
  type KernelCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';
import { encodeUtf8 } from '../lib/text.ts';

/** Space 0 is the stable memory of the rest of the canister, which is only read here. */
export type StableSpace = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

export const stablePageBytes = 65_536;

/** A place in a space. */
export interface StablePlace {
  readonly space: StableSpace;
  /** A byte offset, an integer from 0 */
  readonly offset: number;
}

const sizeCommand = createCommand(kernelOperations.spaceSize, 0);
const growCommand = createCommand(kernelOperations.spaceGrow, 0);
const readCommand = createCommand(kernelOperations.spaceRead, 1);
const writeCommand = createCommand(kernelOperations.spaceWrite, 1);
const eraseCommand = createCommand(kernelOperations.spaceErase, 0);

// Used in place of a space number: kernel/sizes.ts
const creationSelector = 251;
const spendableSelector = 252;
const cyclesSelector = 253;
const heapSelector = 254;
const stableSelector = 255;

const two32 = 0x1_0000_0000;

/** Returns the size in pages. */
export function spaceSize(space: StableSpace): number {
  return pages(space);
}

/** Returns the pages of the canister's Wasm memory. */
export function heapSize(): number {
  return pages(heapSelector);
}

/** Returns the pages of stable memory in all spaces. */
export function stableSize(): number {
  return pages(stableSelector);
}

/** Returns the cycles that can be spent before the canister freezes, at most 2^53 - 1. */
export function liquidCycles(): number {
  return Math.min(pages(cyclesSelector), Number.MAX_SAFE_INTEGER);
}

/** Whether the subnet charges cycles. Where it charges nothing, a balance of 0 is normal. */
export function chargesCycles(): boolean {
  return pages(creationSelector) !== 0;
}

/** Returns the same as `liquidCycles()`, but 2^53 - 1 where the subnet charges nothing. */
export function spendableCycles(): number {
  return Math.min(pages(spendableSelector), Number.MAX_SAFE_INTEGER);
}

const derivationCommand = createCommand(kernelOperations.derivationCost, 1);

/**
 * Returns the cycles that a derivation with the network's named vetKD key costs here; 0 if the
 * network has no such key, because it then rejects the call.
 */
export function derivationCycles(keyName: string): number {
  const name = encodeUtf8(keyName);
  kernelCall(derivationCommand.bytes);
  kernelCall(name);
  return longResult(derivationCommand.words);
}

function pages(selector: number): number {
  sizeCommand.words[kernelWords.selector] = selector;
  kernelCall(sizeCommand.bytes);
  return longResult(sizeCommand.words);
}

/** Returns the former size in pages; -1, without a change, if the canister gets no more memory. */
export function spaceGrow(space: StableSpace, pages: number): number {
  setPlace(growCommand, { space, offset: pages });
  kernelCall(growCommand.bytes);
  return longResult(growCommand.words);
}

/** Fills `target` with the bytes at the place. */
export function spaceRead(place: StablePlace, target: Uint8Array): void {
  if (!(target instanceof Uint8Array)) refuseOperand('target', target);
  setPlace(readCommand, place);
  kernelCall(readCommand.bytes);
  kernelCall(target);
}

/** Writes the whole `source` to the place. */
export function spaceWrite(place: StablePlace, source: Uint8Array): void {
  if (!(source instanceof Uint8Array)) refuseOperand('source', source);
  setPlace(writeCommand, place);
  kernelCall(writeCommand.bytes);
  kernelCall(source);
}

/** Overwrites `length` bytes at the place with zeros. */
export function spaceErase(place: StablePlace, length: number): void {
  checkWhole(length);
  setPlace(eraseCommand, place);
  eraseCommand.words[kernelWords.length] = length;
  eraseCommand.words[kernelWords.length + 1] = length / two32;
  kernelCall(eraseCommand.bytes);
}

function setPlace({ words }: KernelCommand, { space, offset }: StablePlace): void {
  checkWhole(offset);
  words[kernelWords.selector] = space;
  // A Uint32Array stores a number modulo 2^32, without its fraction
  words[kernelWords.offset] = offset;
  words[kernelWords.offset + 1] = offset / two32;
}

/** Reads the kernel's u64, which is below 2^53, or all ones after a failure. */
function longResult(words: Uint32Array): number {
  const low = words[kernelWords.longResult] ?? 0;
  const high = words[kernelWords.longResult + 1] ?? 0;
  return high === 0xffff_ffff ? -1 : high * two32 + low;
}

function checkWhole(value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new Error(`Cannot reach stable memory: ${value} is not a whole number of bytes or pages`);
}
