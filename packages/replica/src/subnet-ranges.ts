// The ranges of canister ids of the subnets. As on the network, a range has 2^20 ids, and the first
// one belongs to the root subnet; subnet N has the range N. All other ids are the root subnet's, so
// each id has a subnet, and the number of subnets may differ at each start.

import type { Principal } from '@dfinity/principal';

/** As many as a service has volumes. */
export const subnetCountMax = 16;

const rangeBits = 20n;
const lastIndex = 2n ** 64n - 1n;

/** First and last id, each of ten bytes. */
export type CanisterRange = readonly [first: Uint8Array, last: Uint8Array];

/** Ten bytes: a big-endian index of eight, then 01 01, in the network's form. */
export function canisterIdBytes(index: bigint): Uint8Array {
  const bytes = Buffer.alloc(10);
  bytes.writeBigUInt64BE(index);
  bytes[8] = 1;
  bytes[9] = 1;
  return Uint8Array.from(bytes);
}

/** Returns the subnet of an id: 0 for the root subnet, which also has all other principals. */
export function subnetOf(canisterId: Principal, subnetCount: number): number {
  const bytes = Buffer.from(canisterId.toUint8Array());
  if (bytes.length !== 10 || bytes[8] !== 1 || bytes[9] !== 1) return 0;
  const range = bytes.readBigUInt64BE() >> rangeBits;
  return range <= BigInt(subnetCount) ? Number(range) : 0;
}

/** Returns the first id that a subnet gives to a canister. */
export function firstIndexOf(subnet: number): bigint {
  return BigInt(subnet) << rangeBits;
}

export function rangesOf(subnet: number, subnetCount: number): readonly CanisterRange[] {
  const range = (first: bigint, last: bigint): CanisterRange => [
    canisterIdBytes(first),
    canisterIdBytes(last),
  ];
  if (subnetCount === 0) return [range(0n, lastIndex)];
  const own = range(firstIndexOf(subnet), firstIndexOf(subnet + 1) - 1n);
  return subnet > 0 ? [own] : [own, range(firstIndexOf(subnetCount + 1), lastIndex)];
}

/** Returns whether one of the ranges contains the id. IC spec, "Delegation". */
export function includesId(ranges: readonly CanisterRange[], canisterId: Uint8Array): boolean {
  return ranges.some(
    ([first, last]) =>
      Buffer.compare(first, canisterId) <= 0 && Buffer.compare(canisterId, last) <= 0,
  );
}

/** Throws an Error for a number of subnets that is not possible. */
export function checkedSubnetCount(count = 0): number {
  if (Number.isInteger(count) && count >= 0 && count <= subnetCountMax) return count;
  throw new Error(`The number of subnets must be 0 to ${subnetCountMax}; got ${count}.`);
}
