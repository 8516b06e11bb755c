// Cycles by the price list of a 13-node application subnet (Internet Computer, "Cycles costs").

const ingressBaseCycles = 1_200_000n;
const ingressCyclesPerByte = 2_000n;
export const updateBaseCycles = 5_000_000n;
const callBaseCycles = 260_000n;
const callCyclesPerByte = 1_000n;
export const canisterCreationCycles = 500_000_000_000n;
const storageCyclesPerGibSecond = 127_000n;
const gib = 2n ** 30n;

/** What memory of every kind costs for that long. */
export function storageCycles(bytes: bigint, seconds: bigint): bigint {
  return (bytes * storageCyclesPerGibSecond * seconds) / gib;
}

export function ingressCycles(bytes: number): bigint {
  return ingressBaseCycles + ingressCyclesPerByte * BigInt(bytes);
}

/** One instruction is one cycle on 13 nodes. */
export function executionCycles(instructions: bigint): bigint {
  return updateBaseCycles + instructions;
}

export function callCycles(bytes: number): bigint {
  return callBaseCycles + callCyclesPerByte * BigInt(bytes);
}

const responseBytesMax = 2 * 1024 * 1024;
const callbackInstructionsMax = 40_000_000_000n;

/** What `ic0.cost_call` answers: the call, the largest response and the dearest callback. */
export function callReserveCycles(requestBytes: bigint): bigint {
  const transmission =
    callBaseCycles + callCyclesPerByte * (requestBytes + BigInt(responseBytesMax));
  return transmission + executionCycles(callbackInstructionsMax);
}

/** Outcalls over HTTPS, of `nodes` = 13 nodes. */
export function httpRequestCycles(requestBytes: bigint, responseBytes: bigint): bigint {
  const nodes = 13n;
  const base = (3_000_000n + 60_000n * nodes) * nodes;
  return base + (400n * requestBytes + 800n * responseBytes) * nodes;
}

const smallSubnetKeyCycles = 10_000_000_000n;
const largeSubnetKeyCycles = 26_153_846_153n;

/** Signing and key derivation by the name of the master key; `undefined` for a key there is not. */
export function thresholdKeyCycles(name: string): bigint | undefined {
  if (name === 'key_1') return largeSubnetKeyCycles;
  return name === 'test_key_1' || name === 'dfx_test_key' ? smallSubnetKeyCycles : undefined;
}
