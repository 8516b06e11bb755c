// The types of subnets, and what each charges. An application subnet charges the price list. A
// system subnet, such as the NNS, and a cloud engine charge nothing (`dfinity/ic`
// rs/types/cycles, CanisterCyclesCostSchedule::Free). Canisters of a cloud engine hold no cycles.

export const subnetTypes = ['application', 'system', 'cloud-engine'] as const;

export type SubnetType = (typeof subnetTypes)[number];

/** Returns what a subnet charges for something with that price in the price list. */
export function chargeOn(type: SubnetType, price: bigint): bigint {
  return type === 'application' ? price : 0n;
}

/** Throws an Error for a text that is not a type. */
export function checkedSubnetType(text: string): SubnetType {
  const type = subnetTypes.find((one) => one === text);
  if (type !== undefined) return type;
  throw new Error(`The subnet type must be one of ${subnetTypes.join(', ')}; got ${text}.`);
}
