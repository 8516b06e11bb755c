// What happens by itself: global timers, heartbeats, the hook for low
// memory, deadlines. `tick` looks once; the driver looks
// when something is due. IC spec, "Global timer", "Heartbeat".

import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { chargeIdle } from './idle.ts';
import { executeTask, type SystemTask } from './messages.ts';
import { expireCalls, sendCall } from './routing.ts';
import { expireStopRequests } from './stopping.ts';

const nanosecondsPerMillisecond = 1_000_000n;
const longestWaitMs = 60_000;
const deadlineCheckMs = 1_000;

function enqueueTask(state: EngineState, canister: Canister, kind: 'timer' | 'heartbeat'): void {
  state.scheduler.push(() => runTask(state, canister, kind));
}

function runTask(state: EngineState, canister: Canister, kind: SystemTask): void {
  executeTask(state, { canister, kind, send: (from, call) => sendCall(state, from, call) });
}

/** IC spec, "Message execution": while the hook is due nothing else of its canister begins. */
export function enqueueLowMemoryHook(state: EngineState, canister: Canister): void {
  if (canister.isHookQueued) return;
  canister.isHookQueued = true;
  state.scheduler.pushFirst(() => {
    canister.isHookQueued = false;
    runTask(state, canister, 'lowMemory');
  });
}

function isTimerDue(canister: Canister, now: bigint): boolean {
  const { globalTimer, status } = canister.record;
  return globalTimer > 0n && globalTimer <= now && status === 'running';
}

function fireTimer(state: EngineState, canister: Canister): void {
  // IC spec: the timer is off before its task runs, even when that traps. It is stored so with the
  // task's own commit.
  const { globalTimer } = canister.record;
  canister.record = { ...canister.record, globalTimer: 0n };
  if (!canister.module?.exports.has('canister_global_timer')) return;
  canister.firingTimer = globalTimer;
  enqueueTask(state, canister, 'timer');
}

/** Queues every task that is due; `heartbeats` are due always. */
export function tickOnce(state: EngineState, heartbeats: boolean): void {
  const now = state.world.now();
  expireCalls(state);
  for (const canister of state.canisters.values()) {
    expireStopRequests(state, canister);
    chargeIdle(state, canister);
    if (canister.sandbox === undefined) continue;
    if (isTimerDue(canister, now)) fireTimer(state, canister);
    const isRunning = canister.record.status === 'running';
    if (heartbeats && isRunning && canister.module?.exports.has('canister_heartbeat')) {
      enqueueTask(state, canister, 'heartbeat');
    }
  }
}

function waitMs(state: EngineState): number {
  const now = state.world.now();
  let wait = longestWaitMs;
  for (const { record, module, sandbox, stopping } of state.canisters.values()) {
    if (sandbox && record.globalTimer > 0n && record.status === 'running') {
      const due = Number((record.globalTimer - now) / nanosecondsPerMillisecond) + 1;
      wait = Math.min(wait, Math.max(0, due));
    }
    if (module?.exports.has('canister_heartbeat')) {
      wait = Math.min(wait, state.world.limits.heartbeatIntervalMs);
    }
    if (stopping.length > 0) wait = Math.min(wait, deadlineCheckMs);
  }
  return state.bestEffort.size > 0 ? Math.min(wait, deadlineCheckMs) : wait;
}

export interface Clock {
  start(): void;
  stop(): void;
  /** A timer may have been set: the wait is computed anew. */
  wake(): void;
}

/** The driver of a running replica. */
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
      // Should this tick fail, for want of disk space say, it is tried again later.
      arm(deadlineCheckMs);
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
