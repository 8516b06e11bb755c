// The replica's time: the system's or a given clock's, moved forward manually or because the clock
// fell behind. Canisters never see time run backwards, and their timers use this clock. If it
// followed a clock that was set back, no timer would fire until that clock caught up.

const nsPerSecond = 1_000_000_000n;
/** The replica waits for a clock that was set back by less than this. */
const waitedForNs = nsPerSecond;

export interface ReplicaClock {
  /** ns since 1970. */
  now(): bigint;
  /** Throws a RangeError for a negative step: time never runs backwards. */
  advance(nanoseconds: bigint): void;
  /** Makes time continue from `timeNs` if the clock is behind. */
  continueFrom(timeNs: bigint): void;
}

export interface ReplicaClockOptions {
  /** ns since 1970; by default the system's clock. */
  readonly source?: (() => bigint) | undefined;
  /** Called with a sentence if the source falls behind. */
  readonly onNote?: ((sentence: string) => void) | undefined;
}

export function createReplicaClock(options: ReplicaClockOptions = {}): ReplicaClock {
  const { source = systemTime, onNote = () => undefined } = options;
  let offset = 0n;
  let latest = 0n;

  function now(): bigint {
    const time = source() + offset;
    const behind = latest - time;
    if (behind >= waitedForNs) {
      offset += behind;
      onNote(noteOf(behind, offset));
    }
    if (behind < 0n) latest = time;
    return latest;
  }

  return {
    now,
    advance(nanoseconds) {
      if (nanoseconds < 0n) throw new RangeError(`Cannot advance time by ${nanoseconds} ns`);
      offset += nanoseconds;
    },
    continueFrom(timeNs) {
      if (timeNs > latest) latest = timeNs;
      now();
    },
  };
}

function noteOf(behindNs: bigint, offsetNs: bigint): string {
  return (
    `The system clock is ${behindNs / nsPerSecond} s behind the newest message of the replica. ` +
    'Time in the replica never runs backwards: it continues, and is now ' +
    `${offsetNs / nsPerSecond} s ahead of the system clock. Agents refuse certificates that are ` +
    'more than 5 minutes ahead of their own clock; start with --clean to use the system clock again.'
  );
}

function systemTime(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
