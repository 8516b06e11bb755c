// Sizes: pages of a space or of all memory, and cycles.

import { heapBase, tablePartAt } from './heap';
import { spaceSize } from './stable-space';
import {
  systemCreationCost, systemDerivationCost, systemLiquidCycles, systemStableSize,
} from './system';

// Selectors besides spaces: pages of all memory, the cycles above the freezing reserve, the same
// without a limit where the subnet charges nothing, and the cost of creating a canister, which is 0
// there.
const creationSelector: u32 = 251;
const spendableSelector: u32 = 252;
const cyclesSelector: u32 = 253;
const heapSelector: u32 = 254;
const stableSelector: u32 = 255;

export function sizeOf(selector: u32): u64 {
  if (selector == heapSelector) return <u64>memory.size();
  if (selector == cyclesSelector) return liquidCycles();
  if (selector == spendableSelector) return creationCost() == 0 ? 1 << 63 : liquidCycles();
  if (selector == creationSelector) return creationCost();
  return selector == stableSelector ? systemStableSize() : spaceSize(selector);
}

function liquidCycles(): u64 {
  const amount = heapBase() + tablePartAt;
  systemLiquidCycles(amount);
  return bounded(amount);
}

function creationCost(): u64 {
  const amount = heapBase() + tablePartAt;
  systemCreationCost(amount);
  return bounded(amount);
}

/** BLS12-381 with public keys in G2. */
const derivationCurve: u32 = 0;

/** Returns what a derivation with the named key costs here; 0 if the network has no such key. */
export function derivationCost(name: usize, length: usize): u64 {
  const amount = heapBase() + tablePartAt;
  return systemDerivationCost(name, length, derivationCurve, amount) == 0 ? bounded(amount) : 0;
}

/** Returns the amount of 128 bits at the address, at most 2^63. */
function bounded(amount: usize): u64 {
  const isMore = load<u64>(amount, 8) != 0;
  return isMore ? 1 << 63 : min(load<u64>(amount), <u64>1 << 63);
}
