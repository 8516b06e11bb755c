// Limits of calls. A call occupies a place in the queue between its two canisters, and a callback
// of the subnet, until its answer has been executed. IC spec, "Inter-canister method calls":
// `call_perform` fails beyond the limits.

import type { CallCount, Execution, OpenCall, World } from './canister.ts';

function keyOf(callee: Uint8Array): string {
  return Buffer.from(callee).toString('latin1');
}

function change(count: CallCount, callee: Uint8Array, by: 1 | -1): void {
  const key = keyOf(callee);
  const left = (count.byCallee.get(key) ?? 0) + by;
  count.total += by;
  if (left > 0) count.byCallee.set(key, left);
  else count.byCallee.delete(key);
}

/** Returns whether a running message may perform one more call to this callee. */
export function mayCall({ canister, effects, world }: Execution, callee: Uint8Array): boolean {
  const { waiting } = canister;
  const { performed } = effects;
  const { callsPerPairMax, guaranteedCalls, subnetCallsMax } = world.limits;
  const key = keyOf(callee);
  const pair = (waiting.byCallee.get(key) ?? 0) + (performed?.byCallee.get(key) ?? 0);
  if (pair >= callsPerPairMax) return false;
  const own = performed?.total ?? 0;
  if (waiting.total + own < guaranteedCalls) return true;
  return world.waitingCalls.count + own < subnetCallsMax;
}

export function countPerformed({ effects }: Execution, callee: Uint8Array): void {
  effects.performed ??= { total: 0, byCallee: new Map() };
  change(effects.performed, callee, 1);
}

export function addOpenCall(world: World, open: OpenCall): void {
  open.context.canister.openCalls.add(open);
  countOpenCall(world, open, 1);
}

export function removeOpenCall(world: World, open: OpenCall): void {
  open.context.canister.openCalls.delete(open);
  countOpenCall(world, open, -1);
}

function countOpenCall(world: World, { context, call }: OpenCall, by: 1 | -1): void {
  context.openCalls += by;
  change(context.canister.waiting, call.callee, by);
  world.waitingCalls.count += by;
}
