// The replica's time: the system's, a given clock's, or either moved forward by hand.

export interface ReplicaClock {
  /** ns since 1970. */
  now(): bigint;
  /** Throws a RangeError for a negative step: time never runs backwards. */
  advance(nanoseconds: bigint): void;
}

export function createReplicaClock(source: () => bigint = systemTime): ReplicaClock {
  let offset = 0n;
  return {
    now: () => source() + offset,
    advance: (nanoseconds) => {
      if (nanoseconds < 0n) throw new RangeError(`Cannot advance time by ${nanoseconds} ns`);
      offset += nanoseconds;
    },
  };
}

function systemTime(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
