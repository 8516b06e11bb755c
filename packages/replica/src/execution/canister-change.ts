// An entry of a canister's history, to be committed together with the change.

import type { ChangeDetails, ChangeOrigin, ValueChange } from '../core.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { anonymousOrigin, historyWith } from './history.ts';

export function changeOf(
  state: EngineState,
  change: {
    readonly canister: Canister;
    readonly version: bigint;
    readonly origin: ChangeOrigin | undefined;
    readonly details: ChangeDetails;
  },
): ValueChange {
  const { canister, version: canisterVersion, origin = anonymousOrigin, details } = change;
  const timestamp = state.world.now();
  const entry = { timestamp, canisterVersion, origin, details };
  return historyWith(state.store, canister.idText, entry);
}
