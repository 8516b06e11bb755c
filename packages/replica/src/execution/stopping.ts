// Stops a canister once its call contexts are closed. IC spec, "IC method stop_canister".

import type { Reject } from '../core.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord } from './core-state.ts';
import { stopTimeout } from './errors.ts';

export function setStatus(
  state: EngineState,
  canister: Canister,
  status: Canister['record']['status'],
): void {
  const version = canister.record.version + 1n;
  commitRecord(state, { canister, record: { ...canister.record, status, version } });
}

/** Called when a context closes and by each tick, which repeats a commit that the disk refused. */
export function finishStopping(state: EngineState, canister: Canister): void {
  if (canister.record.status !== 'stopping' || canister.contexts.size > 0) return;
  try {
    setStatus(state, canister, 'stopped');
  } catch {
    return;
  }
  for (const { finish } of canister.stopping.splice(0)) finish(undefined);
}

/** Resolves when the canister is stopped, or with the reason why it is not. */
export function stopCanister(state: EngineState, canister: Canister): Promise<Reject | undefined> {
  if (canister.record.status === 'stopped') return Promise.resolve(undefined);
  if (canister.record.status === 'running') setStatus(state, canister, 'stopping');
  const deadline = state.world.now() + state.world.limits.stopTimeoutNs;
  const stopped = new Promise<Reject | undefined>((finish) => {
    canister.stopping.push({ finish, deadline });
  });
  finishStopping(state, canister);
  return stopped;
}

/** Ends stop requests that waited too long; the canister stays stopping. */
export function expireStopRequests(state: EngineState, canister: Canister): void {
  const now = state.world.now();
  const isDue = (request: { readonly deadline: bigint }) => request.deadline <= now;
  for (const { finish } of canister.stopping.filter(isDue)) finish(stopTimeout(canister.idText));
  canister.stopping = canister.stopping.filter((request) => !isDue(request));
}

export function cancelStopping(canister: Canister, answer: Reject): void {
  for (const { finish } of canister.stopping.splice(0)) finish(answer);
}
