// Work that no message starts: global timers, heartbeats, the hook for low memory, deadlines.
// `tick` checks once; the driver calls it when something is due. IC spec, "Global timer",
// "Heartbeat".

import type { CallContext, Canister, OutgoingCall } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { chargeIdle } from './idle.ts';
import { executeTask, isTimerDue, type SystemTask, timerExport } from './messages.ts';
import { expireCalls, sendCall } from './routing.ts';
import { expireStopRequests, finishStopping } from './stopping.ts';

const nanosecondsPerMillisecond = 1_000_000n;
const longestWaitMs = 60_000;
/** Interval of checking deadlines and of repeating failed tasks. */
const checkMs = 1_000;

function runTask(state: EngineState, canister: Canister, kind: SystemTask): void {
  const send = (from: CallContext, call: OutgoingCall) => sendCall(state, from, call);
  // If the replica itself fails here, the task counts as held.
  canister.isTaskHeld = true;
  canister.isTaskHeld = !executeTask(state, { canister, kind, send });
  if (canister.isTaskHeld) state.onTimer();
}

/** IC spec, "Message execution": while the hook is due, no other message of its canister begins. */
export function enqueueLowMemoryHook(state: EngineState, canister: Canister): void {
  if (canister.isHookQueued) return;
  canister.isHookQueued = true;
  state.scheduler.pushFirst(() => {
    canister.isHookQueued = false;
    runTask(state, canister, 'lowMemory');
  });
}

function enqueueTimer(state: EngineState, canister: Canister): void {
  if (canister.isTimerQueued) return;
  canister.isTimerQueued = true;
  state.scheduler.push(() => {
    canister.isTimerQueued = false;
    runTask(state, canister, 'timer');
  });
}

/** Queues every due task; `heartbeats` are always due. */
export function tickOnce(state: EngineState, heartbeats: boolean): void {
  const now = state.world.now();
  expireCalls(state);
  for (const callback of state.unstored.splice(0)) state.scheduler.push(callback);
  for (const canister of state.canisters.values()) {
    expireStopRequests(state, canister);
    finishStopping(state, canister);
    chargeIdle(state, canister);
    if (canister.sandbox === undefined || canister.record.status !== 'running') continue;
    if (canister.record.lowMemoryHook === 'ready') enqueueLowMemoryHook(state, canister);
    if (isTimerDue(canister, now)) enqueueTimer(state, canister);
    if (heartbeats && canister.module?.exports.has('canister_heartbeat')) {
      state.scheduler.push(() => runTask(state, canister, 'heartbeat'));
    }
  }
}

function waitMs(state: EngineState): number {
  const now = state.world.now();
  let wait = longestWaitMs;
  for (const canister of state.canisters.values()) {
    const { record, module, sandbox, stopping, isTaskHeld, isTimerQueued } = canister;
    if (sandbox && record.status === 'running') {
      const hasTimer = record.globalTimer > 0n && module?.exports.has(timerExport) === true;
      if (hasTimer && !isTimerQueued && !isTaskHeld) {
        const due = Number((record.globalTimer - now) / nanosecondsPerMillisecond) + 1;
        wait = Math.min(wait, Math.max(0, due));
      }
      if (isTaskHeld) wait = Math.min(wait, checkMs);
    }
    if (module?.exports.has('canister_heartbeat')) {
      wait = Math.min(wait, state.world.limits.heartbeatIntervalMs);
    }
    if (stopping.length > 0) wait = Math.min(wait, checkMs);
  }
  const isWaitedFor = state.bestEffort.size > 0 || state.unstored.length > 0;
  return isWaitedFor ? Math.min(wait, checkMs) : wait;
}

export interface Clock {
  start(): void;
  stop(): void;
  /** Computes the waiting time again, because a timer may have been set. */
  wake(): void;
}

export function createClock(state: () => EngineState): Clock {
  let timeout: NodeJS.Timeout | undefined;
  let isRunning = false;
  let lastHeartbeat = 0;

  function arm(wait = waitMs(state())): void {
    if (!isRunning) return;
    clearTimeout(timeout);
    timeout = setTimeout(fire, wait);
    timeout.unref();
  }

  function fire(): void {
    const interval = state().world.limits.heartbeatIntervalMs;
    const isHeartbeat = performance.now() - lastHeartbeat >= interval;
    if (isHeartbeat) lastHeartbeat = performance.now();
    state().scheduler.push(() => {
      // A failed tick, for example with a full disk, is repeated later.
      arm(checkMs);
      tickOnce(state(), isHeartbeat);
      arm();
    });
  }

  return {
    start() {
      isRunning = true;
      arm();
    },
    stop() {
      isRunning = false;
      clearTimeout(timeout);
    },
    wake: () => arm(),
  };
}
