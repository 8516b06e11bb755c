// Cycles by the price list of a 13-node application subnet (Internet Computer, "Cycles costs").

const ingressBaseCycles = 1_200_000n;
const ingressCyclesPerByte = 2_000n;
const updateBaseCycles = 5_000_000n;
const callBaseCycles = 260_000n;
const callCyclesPerByte = 1_000n;
export const canisterCreationCycles = 500_000_000_000n;
const storageCyclesPerGibSecond = 127_000n;
const computeCyclesPerPercentSecond = 10_000_000n;
const gib = 2n ** 30n;
const secondsPerDay = 86_400n;

/** Returns the price of memory of any kind for that time. */
function storageCycles(bytes: bigint, seconds: bigint): bigint {
  return (bytes * storageCyclesPerGibSecond * seconds) / gib;
}

/** The cost of a canister without messages, by the resource charged. */
export interface IdleCycles {
  readonly storage: bigint;
  readonly compute: bigint;
}

/** Returns the cost per day of `bytes`, used or allocated, and of `computePercent` of a core. */
export function idleCyclesPerDay(bytes: bigint, computePercent: bigint): IdleCycles {
  return {
    storage: storageCycles(bytes, secondsPerDay),
    compute: computeCyclesPerPercentSecond * computePercent * secondsPerDay,
  };
}

/** Returns the cycles for that time at a rate per day. */
export function cyclesOfRate(perDay: bigint, seconds: bigint): bigint {
  return (perDay * seconds) / secondsPerDay;
}

export function ingressCycles(bytes: number): bigint {
  return ingressBaseCycles + ingressCyclesPerByte * BigInt(bytes);
}

/** One instruction is one cycle on 13 nodes. */
export function executionCycles(instructions: bigint): bigint {
  return updateBaseCycles + instructions;
}

/** Maximum bytes of an answer to a call. */
const responseBytesMax = 2 * 1024 * 1024;

export function responseCycles(bytes: number): bigint {
  return callCyclesPerByte * BigInt(bytes);
}

/** The price of a call, paid when it leaves; the answer refunds unused cycles. */
export interface CallPrice {
  /** For the transmission of the request, which is not refunded. */
  readonly request: bigint;
  /** For the transmission of the largest answer. */
  readonly response: bigint;
  /** For the most expensive callback. */
  readonly callback: bigint;
}

/** Returns the price of a request with so many bytes of name and argument. */
export function callPrice(requestBytes: bigint, callbackInstructions: bigint): CallPrice {
  return {
    request: callBaseCycles + callCyclesPerByte * requestBytes,
    response: responseCycles(responseBytesMax),
    callback: executionCycles(callbackInstructions),
  };
}

/** Returns the result of `ic0.cost_call`. */
export function callReserveCycles({ request, response, callback }: CallPrice): bigint {
  return request + response + callback;
}

/** `dfinity/ic` rs/config/src/embedders.rs, DEFAULT_COST_TO_COMPILE_WASM_INSTRUCTION. */
const instructionsPerCompiledOne = 6_000n;

/** rs/execution_environment/src/execution_environment.rs, DESERIALIZATION_SPEED_UP_FACTOR. */
const knownModuleShare = 100n;

/**
 * Returns the instructions charged for compiling a module at its installation. `isKnown`: the
 * subnet has compiled it since its last checkpoint.
 */
export function compilationInstructions(moduleInstructions: number, isKnown: boolean): bigint {
  const instructions = BigInt(moduleInstructions) * instructionsPerCompiledOne;
  return isKnown ? instructions / knownModuleShare : instructions;
}

/** rs/config/src/subnet_config.rs, DEFAULT_CANISTERS_SNAPSHOT_BASELINE_INSTRUCTIONS. */
const snapshotInstructions = 2_000_000_000n;

/** Returns the price of copying a canister's state to a snapshot of so many bytes. */
export function snapshotCycles(bytes: bigint): bigint {
  return executionCycles(snapshotInstructions + bytes);
}

/** Returns the price of loading a snapshot whose module costs so many instructions to compile. */
export function loadingCycles(bytes: bigint, compilation: bigint): bigint {
  return executionCycles(snapshotInstructions) + executionCycles(compilation + bytes);
}

/** rs/config/src/subnet_config.rs, max_storage_reservation_period. */
const reservationSecondsMax = 300_000_000n;

/** The fill level of a subnet: reservations grow from the threshold to the capacity. */
export interface SubnetStorage {
  readonly bytes: bigint;
  readonly threshold: bigint;
  readonly capacity: bigint;
}

/** rs/cycles_account_manager, total_storage_reservation_cycles: the area under a rising line. */
function reservationUpTo({ bytes, threshold, capacity }: SubnetStorage): bigint {
  const above = bytes - threshold;
  if (above <= 0n) return 0n;
  const seconds = (reservationSecondsMax * above) / (capacity - threshold);
  return storageCycles(above, seconds / 2n);
}

/** Returns the cycles reserved for memory that is allocated on such a subnet. */
export function reservationCycles(subnet: SubnetStorage, allocatedBytes: bigint): bigint {
  const after = { ...subnet, bytes: subnet.bytes + allocatedBytes };
  return reservationUpTo(after) - reservationUpTo(subnet);
}

/** Returns the price of an HTTPS outcall on `nodes` = 13 nodes. */
export function httpRequestCycles(requestBytes: bigint, responseBytes: bigint): bigint {
  const nodes = 13n;
  const base = (3_000_000n + 60_000n * nodes) * nodes;
  return base + (400n * requestBytes + 800n * responseBytes) * nodes;
}

const smallSubnetKeyCycles = 10_000_000_000n;
const largeSubnetKeyCycles = 26_153_846_153n;

/** Returns the price of using the named master key, to sign or derive; `undefined` if unknown. */
export function thresholdKeyCycles(name: string): bigint | undefined {
  if (name === 'key_1') return largeSubnetKeyCycles;
  return name === 'test_key_1' || name === 'dfx_test_key' ? smallSubnetKeyCycles : undefined;
}
