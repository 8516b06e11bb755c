// Sizes: pages of a space or of all memory, and cycles.

import { heapBase, tablePartAt } from './heap';
import { spaceSize } from './stable-space';
import { systemLiquidCycles, systemStableSize } from './system';

// Selectors besides spaces: pages of all memory, and the cycles above the freezing reserve.
const cyclesSelector: u32 = 253;
const heapSelector: u32 = 254;
const stableSelector: u32 = 255;

export function sizeOf(selector: u32): u64 {
  if (selector == heapSelector) return <u64>memory.size();
  if (selector == cyclesSelector) return liquidCycles();
  return selector == stableSelector ? systemStableSize() : spaceSize(selector);
}

/** Returns at most 2^63. */
function liquidCycles(): u64 {
  const balance = heapBase() + tablePartAt;
  systemLiquidCycles(balance);
  const isMore = load<u64>(balance, 8) != 0;
  return isMore ? 1 << 63 : min(load<u64>(balance), <u64>1 << 63);
}
