// One-shot timers that are armed again after they were lost. The system calls a timer's task by a
// message of the canister to itself; the CDK drops a one-shot timer when that message is refused,
// because the canister is stopping, or traps. The state of the task then still says that it waits.

import { setTimer, time } from 'azle';

const nsPerSecond = 1_000_000_000n;
/** A timer that is overdue by more was lost. */
const lostAfterNs = 120n * nsPerSecond;

export interface OneShotTimer {
  /** Runs the task within so many seconds, unless a timer for it is pending already. */
  arm(delaySeconds?: number): void;
}

export function createOneShotTimer(task: () => void | Promise<void>): OneShotTimer {
  let pendingNs: bigint | undefined;
  return {
    arm(delaySeconds = 0) {
      const nowNs = time();
      const dueNs = nowNs + BigInt(delaySeconds) * nsPerSecond;
      const isLost = pendingNs !== undefined && nowNs - pendingNs > lostAfterNs;
      if (pendingNs !== undefined && pendingNs <= dueNs && !isLost) return;
      pendingNs = dueNs;
      setTimer(delaySeconds, () => {
        // Another one, armed since, has taken its place.
        if (pendingNs !== dueNs) return;
        pendingNs = undefined;
        return task();
      });
    },
  };
}
