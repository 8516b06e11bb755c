// The room of a canister, as far as it is known: the network's limit, or that of a volume; and the
// time for which its cycles last.

/** The limit of ordinary subnets for a canister. */
const stableBytesMax = 500 * 2 ** 30;
/** The limit of a volume that nobody has set; on an engine, less may fit. */
const defaultLimitBytes = 400 * 2 ** 30;
/** On a cloud engine, a node's memory is the limit, and no call of the network returns it. */
export const engineLimit = "the limit is the engine's own, which the network does not report";

export interface Prices {
  readonly chargesCycles?: boolean | undefined;
}

/** Returns undefined where the network does not report the limit. */
export function limitOf(
  { chargesCycles }: Prices,
  volume?: { readonly limitBytes: number },
): number | undefined {
  const isOnEngine = chargesCycles === false;
  if (volume === undefined) return isOnEngine ? undefined : stableBytesMax;
  const { limitBytes } = volume;
  return isOnEngine && limitBytes === defaultLimitBytes ? undefined : limitBytes;
}

/** Cycles per GiB and second on a subnet of 13 nodes; calls cost extra. */
const storagePrice = 127_000;
const gib = 2 ** 30;
const daySeconds = 86_400;

interface Stored extends Prices {
  readonly cycles?: number | undefined;
  readonly stableBytes: number;
  readonly heapBytes: number;
}

/**
 * Returns the days for which the cycles pay for storage; undefined if they are not reported, or if
 * the subnet charges nothing.
 */
export function daysLeft(status: Stored): number | undefined {
  const { cycles, chargesCycles, stableBytes, heapBytes } = status;
  if (cycles === undefined || chargesCycles === false) return undefined;
  const perDay = ((stableBytes + heapBytes) / gib) * storagePrice * daySeconds;
  return Math.floor(cycles / perDay);
}
