// The operands of the running command: their addresses and lengths.

import { heapBase, operandsAt } from './heap';

export function setOperand(operand: usize, bytes: usize, length: usize): void {
  const slot = heapBase() + operandsAt + (operand << 3);
  store<usize>(slot, bytes);
  store<usize>(slot, length, 4);
}

export function at(operand: usize): usize {
  return load<usize>(heapBase() + operandsAt + (operand << 3));
}

export function lengthOf(operand: usize): usize {
  return load<usize>(heapBase() + operandsAt + (operand << 3), 4);
}

/** Returns the address of an operand that must have this length. */
export function sized(operand: usize, length: usize): usize {
  if (lengthOf(operand) != length) unreachable();
  return at(operand);
}
