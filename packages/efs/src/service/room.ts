// The room of a canister, as far as it is known: the network's limit, or that of a volume.

import type { ServiceStatus, ServiceVolume } from '../../../client/src/types/service.ts';

/** The limit of ordinary subnets for a canister. */
const stableBytesMax = 500 * 2 ** 30;
/** The limit of a volume that nobody has set; on an engine, less may fit. */
const defaultLimitBytes = 400 * 2 ** 30;
/** On a cloud engine, a node's memory is the limit, and no call of the network returns it. */
export const engineLimit = "the limit is the engine's own, which the network does not report";

export type Prices = Partial<Pick<ServiceStatus, 'chargesCycles'>>;

/** Returns undefined where the network does not report the limit. */
export function limitOf(
  { chargesCycles }: Prices,
  volume?: Pick<ServiceVolume, 'limitBytes'>,
): number | undefined {
  const isOnEngine = chargesCycles === false;
  if (volume === undefined) return isOnEngine ? undefined : stableBytesMax;
  const { limitBytes } = volume;
  return isOnEngine && limitBytes === defaultLimitBytes ? undefined : limitBytes;
}
