// One-shot timers that can be armed again after a loss. The system runs a timer's task by a message
// of the canister to itself. The CDK drops a one-shot timer if that message traps, or is refused
// because the canister is stopping; the state here then still says that the timer is pending.

import { setTimer, time } from 'azle';

const nsPerSecond = 1_000_000_000n;
/** A timer that is overdue by more is lost. */
const lostAfterNs = 120n * nsPerSecond;

export interface OneShotTimer {
  /** Runs the task within that many seconds. A pending timer that is due earlier stays. */
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
        // Another timer has replaced this one.
        if (pendingNs !== dueNs) return;
        pendingNs = undefined;
        return task();
      });
    },
  };
}
